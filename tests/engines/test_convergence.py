"""docs/explanation/convergence.md: after how many rounds of training noise is where it leads."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.federations import DIGITS_LOSS, DIGITS_SCALE, digits_task, replica

from pigou import Game, Setting, equilibrium, optimum
from pigou.federation.conduct import Conduct, Learning, Selfish
from pigou.federation.local import Passed, begin, simulate
from pigou.mechanisms import Pigouvian, PostedPrice, Unpriced
from pigou.mechanisms.base import Mechanism

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "convergence.md"
SETTING = Setting(20, DIGITS_LOSS, DIGITS_SCALE, spread=2e-5, divergence=6e-6)
ALPHA = np.random.default_rng(3).uniform(0.1, 0.9, 20)
ROUNDS, LAST, WINDOW, SEEDS = 100, 50, 10, 3
WITHIN = 0.05
STARTS: list[tuple[str, Conduct]] = [
    ("selfish, others believed to be 0.1", Selfish(belief=0.1)),
    ("selfish, others believed to be 0.9", Selfish(belief=0.9)),
    ("learning, from a tenth", Learning(start=0.1)),
    ("learning, from the best response", Learning(start=1.0)),
    ("learning, from ten times", Learning(start=10.0)),
]
MECHANISMS: list[Mechanism] = [
    Pigouvian(rounds=ROUNDS),
    PostedPrice(rounds=ROUNDS),
    Unpriced(rounds=ROUNDS),
]


@cache
def paths() -> NDArray[np.float64]:
    """Social cost of the noise played over that of the point to reach: (case, seed, round)."""
    game = Game(SETTING, ALPHA)
    best, drifted = optimum(game).social_cost, equilibrium(game).social_cost
    cases = [(m, conduct) for m in MECHANISMS for _, conduct in STARTS for _ in range(SEEDS)]
    task = digits_task()
    replicas = [
        replica(SETTING, mechanism, conduct, ALPHA, seed)
        for seed, (mechanism, conduct) in enumerate(cases)
    ]
    costs = np.zeros((len(cases), ROUNDS))

    def watch(passed: Passed) -> None:
        reached = game.social_cost(passed.plays.sigma)
        costs[passed.replica, passed.announcement.round - 1] = reached

    simulate(task, [begin(task, each) for each in replicas], watch)
    targets = [drifted if m.name == "unpriced" else best for m, _ in cases]
    return np.reshape(costs / np.array(targets)[:, None], (-1, SEEDS, ROUNDS))


def settled(path: NDArray[np.float64]) -> int:
    """From which round on the mean over ten rounds, five pairs, stays within 5 % of the point."""
    means = np.convolve(path, np.ones(WINDOW) / WINDOW, "valid")
    outside = np.flatnonzero(np.abs(means - 1.0) > WITHIN)
    return 1 if outside.size == 0 else int(outside[-1]) + 2


def rows() -> list[list[str]]:
    """The page's table: rounds until settled, the slowest seed; then the mean at the end."""
    cases = paths().reshape(len(MECHANISMS), len(STARTS), SEEDS, ROUNDS)
    found = []
    for k, (name, _) in enumerate(STARTS):
        cells = [name]
        for mechanism in cases[:, k]:
            slowest = max(settled(path) for path in mechanism)
            cells += [str(slowest), f"{mechanism[:, -LAST:].mean():.3f}"]
        found.append(cells)
    return found


def test_every_start_leads_within_five_per_cent_and_stays_there() -> None:
    for case in paths():
        for path in case:
            assert settled(path) <= 30  # one run of the usual length
            assert path[-LAST:].mean() == pytest.approx(1.0, abs=WITHIN)


def test_selfish_clients_are_there_but_for_the_error_of_the_announced_error() -> None:
    """It is an estimate: of relative error 1/sqrt(2 N d) = 2 %, in which noise moves by a third."""
    for case in paths().reshape(len(MECHANISMS), len(STARTS), -1)[:, :2]:
        assert case[:, -LAST:].mean() == pytest.approx(1.0, abs=0.01)


def test_without_prices_it_is_another_point() -> None:
    game = Game(SETTING, ALPHA)
    assert equilibrium(game).social_cost > 3 * optimum(game).social_cost


def test_the_page() -> None:
    """If not, these are the rows of its table."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    table = [line for line in lines if line.startswith("| ")][1:]
    for line, cells in zip(table, rows(), strict=True):
        shown = [cell.strip() for cell in line.strip("|").split("|")]
        assert shown[0] == cells[0]
        for one, other in zip(shown[1::2], cells[1::2], strict=True):
            assert abs(int(one) - int(other)) <= 1, rows()  # a mean at the edge of 5 %
        for one, other in zip(shown[2::2], cells[2::2], strict=True):
            assert float(one) == pytest.approx(float(other), abs=0.0021), rows()
