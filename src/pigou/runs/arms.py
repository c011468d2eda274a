"""The treatments of a run: the same clients, data and noise, under different rules."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pigou.errors import InvalidArgument, require
from pigou.federation.client import Cohort
from pigou.federation.conduct import Conduct, Silent
from pigou.federation.plan import Plan
from pigou.federation.replica import Replica
from pigou.game import Game
from pigou.mechanisms import Mechanism, Unpriced
from pigou.runs.preparing import Ready
from pigou.runs.record import TREATMENTS, TreatmentName


@dataclass(frozen=True, eq=False)
class Arm:
    """One treatment: what the engine runs, and the game, which only a simulation knows."""

    name: TreatmentName
    game: Game
    replica: Replica
    conducts: tuple[str, ...]  # one per client


def arms(ready: Ready, only: Sequence[str] = ()) -> tuple[Arm, ...]:
    """The run's treatments, or only those named; the priced one comes last.

    A scenario whose mechanism is no pricing has no priced treatment.
    """
    require_treatments(only)
    chosen = [name for name in TREATMENTS if not only or name in only]
    if ready.scenario.mechanism.name == Unpriced.name:
        chosen = [name for name in chosen if name != "priced"]
    if not chosen:
        raise InvalidArgument("only", "must leave a treatment: this mechanism prices nothing", only)
    return tuple(_arm(ready, name) for name in chosen)


def require_treatments(names: Sequence[str]) -> None:
    """An error unless all of these are treatments."""
    for name in names:
        require(name in TREATMENTS, "only", f"must be one of {', '.join(TREATMENTS)}", name)


def _arm(ready: Ready, name: TreatmentName) -> Arm:
    scenario, game = ready.scenario, ready.game
    mechanism = scenario.build_mechanism(None if name == "priced" else Unpriced.name)
    behaviours: list[tuple[Conduct, list[int]]] = scenario.conducts()
    if name == "no noise":
        behaviours = [(Silent(), list(range(scenario.n)))]
    words = np.empty(scenario.n, dtype=object)
    for conduct, places in behaviours:
        words[places] = conduct.name
    cap = np.inf if name == "no noise" else ready.cap  # a benchmark, not what anybody would do
    replica = Replica(
        plan=_plan(ready, name, mechanism),
        cohorts=tuple(_cohort(ready, game, cap, *each) for each in behaviours),
        seed=scenario.seed,
    )
    return Arm(name, game, replica, tuple(words))


def _plan(ready: Ready, name: TreatmentName, mechanism: Mechanism) -> Plan:
    scenario = ready.scenario
    return Plan(
        consortium=scenario.name,
        run=ready.run if name == "priced" else f"{ready.run} {name}",
        clients=scenario.clients,
        setting=ready.setting,
        mechanism=mechanism,
        currency=scenario.mechanism.currency,
        limits=scenario.limits.build(),
        audit=scenario.audit.build(),
    )


def _cohort(ready: Ready, game: Game, cap: float, conduct: Conduct, places: list[int]) -> Cohort:
    members = np.array(places, dtype=np.intp)
    return Cohort.of(members, game.alpha[members], conduct, cap=cap, seed=ready.scenario.seed)
