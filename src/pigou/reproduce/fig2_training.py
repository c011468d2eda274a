"""Fig. 2 from training: social cost, its excess loss measured, against the share eta.

Exactly eta N clients have the lower type, so that what moves along the axis is eta alone; which
clients they are is drawn per seed. One run at a time is timed as well, on a few of the same runs.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from pigou.checks import FloatArray
from pigou.game import Game, Setting
from pigou.mechanisms import Menu
from pigou.paper.errata.cases import HIGH, LOW
from pigou.paper.two_types import PaperTwoTypes
from pigou.population import two_point
from pigou.reproduce.part import Request
from pigou.reproduce.training import Trial, seconds_alone, trial
from pigou.reproduce.training_grid import Grid, Plan, run, told
from pigou.reproduce.training_task import ROUNDS, N
from pigou.reproduce.treatments import (
    CORRECTED,
    GROVES,
    MEAN_UNPRICED,
    MENU,
    POSTED,
    UNPRICED,
)
from pigou.runs import Ready

NAME: Final = "fig2-training"
ETAS: Final = tuple(round(0.1 * k, 1) for k in range(1, 10))
TREATMENTS: Final = (UNPRICED, CORRECTED, MEAN_UNPRICED, GROVES, POSTED, MENU)
SEEDS, QUICK_SEEDS = 10, 2
TIMED: Final = 5  # runs that are also made one at a time


@dataclass(frozen=True, eq=False)
class Trained:
    """The grid, and how long its runs take alone."""

    grid: Grid
    alone: float  # seconds per run, one at a time

    @property
    def faster(self) -> float:
        """Time of a run alone over that of a run in the batch."""
        return self.alone / self.grid.batch.per_trial()


def types(request: Request, seeds: int, etas: tuple[float, ...] = ETAS) -> FloatArray:
    """alpha of every eta, seed and client: the same ranks of clients at every eta."""
    ranks = [request.generator(f"{NAME} {seed}").permutation(N) for seed in range(seeds)]
    return np.array([np.where(np.array(ranks) < round(eta * N), LOW, HIGH) for eta in etas])


def two_types_trial(
    treatment: str, ready: Ready, eta: float, alpha: FloatArray, seed: int
) -> Trial:
    """The trial of any treatment at eta; those for private types know eta, not the types."""
    here = ready.setting
    plain = Setting(here.n, here.loss, here.privacy_scale)
    population = two_point(LOW, HIGH, eta)
    if treatment == CORRECTED:  # rewards do not move the noise, and do not exist at 1/2 (E8)
        theirs = PaperTwoTypes.for_setting(plain, population, rewards=False, rounds=ROUNDS)
        return Trial(Game(plain, alpha), theirs, seed)
    if treatment == MENU:  # for equal clients: everybody has the mean spread and divergence
        means = [float(each.mean()) for each in (here.spread, here.divergence)]
        alike = Setting(here.n, here.loss, here.privacy_scale, "mean", *means)
        return Trial(Game(alike, alpha), Menu(population, rounds=ROUNDS), seed)
    return trial(treatment, Game(here, alpha), ROUNDS, seed)


def plan(ready: Ready, alpha: FloatArray, etas: tuple[float, ...], names: tuple[str, ...]) -> Plan:
    """These treatments of all these types."""

    def at(treatment: str, point: int, seed: int) -> Trial:
        return two_types_trial(treatment, ready, etas[point], alpha[point, seed], seed)

    return Plan(names, len(etas), alpha.shape[1], at)


def trained(ready: Ready, alpha: FloatArray, request: Request) -> Trained:
    """All treatments in one batch, and a few of the runs alone."""
    here = plan(ready, alpha, ETAS, TREATMENTS)
    grid = run(ready.task, here, told(request, NAME, f"{here.runs} runs at once"))
    trials = here.trials()
    some = trials[:: len(trials) // TIMED][:TIMED]
    return Trained(grid, seconds_alone(ready.task, some))


@dataclass(frozen=True)
class Peak:
    """The top of a parabola through log social cost against eta, and its standard error."""

    eta: float
    error: float


def peak(etas: tuple[float, ...], cost: FloatArray) -> Peak:
    """Of the mean over seeds of log cost (points, seeds); the error is the jackknife's.

    Seeds scale the whole curve, by which directions the noise takes: logarithms take that out.
    """
    logs = np.log(cost)
    seeds = logs.shape[1]
    without = [_top(etas, np.delete(logs, k, axis=1).mean(axis=1)) for k in range(seeds)]
    spread = float(np.std(without) * np.sqrt(seeds - 1))
    return Peak(_top(etas, logs.mean(axis=1)), spread)


def _top(etas: tuple[float, ...], logs: FloatArray) -> float:
    """Where the parabola is highest between the first eta and the last."""
    bend, slope, _ = np.polyfit(etas, logs, 2)
    if bend < 0:
        return float(np.clip(-slope / (2.0 * bend), etas[0], etas[-1]))
    return etas[int(np.argmax(logs))]
