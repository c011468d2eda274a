"""A prepared run, executed: treatments side by side in one simulation, and their records."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pigou.certificate import certify
from pigou.errors import require
from pigou.federation import bills
from pigou.federation.coordinator import Coordinator
from pigou.federation.local import Passed
from pigou.federation.replica import Replica, Running, resumed, saved
from pigou.federation.wire import Codec
from pigou.runs.arms import Arm
from pigou.runs.engines import Engine, EngineName, with_engine
from pigou.runs.history import SEEN_CLASSES, Opening, Seen, seen, treatment
from pigou.runs.preparing import Ready
from pigou.runs.record import CertificateRecord, TreatmentName, TreatmentRecord, exact_sum
from pigou.solve import equilibrium, optimum
from pigou.terms import MICRO, Round, Terms

Bytes = NDArray[np.uint8]
Keep = Callable[[Round, bytes, bytes], None]  # the state after the round, and what is new
PRICED: Final = "priced"  # the treatment whose bills are owed; the others are what-ifs


@dataclass(frozen=True)
class Step:
    """One closed round of one treatment, for whoever watches."""

    treatment: TreatmentName
    round: int
    rounds: int
    loss: float  # of the model that the round started from
    accuracy: float
    social_cost: float
    reserve: float  # what this round's bills leave in the reserve, in currency


Watch = Callable[[Step], None]


@dataclass(frozen=True)
class Kept:
    """What ``keep`` was given: the last state, and what was new with each round up to there."""

    state: bytes
    history: tuple[bytes, ...]


@dataclass(frozen=True, eq=False)
class Progress:
    """All that it takes to go on but the record so far, which grows with the run and is kept apart:
    each treatment's state and opening, and how many attempts its record holds."""

    treatments: tuple[str, ...]
    states: tuple[Bytes, ...]
    attempts: tuple[int, ...]
    openings: tuple[Opening, ...]


CODEC = Codec([Progress, Opening, CertificateRecord, *SEEN_CLASSES])


def execute(
    ready: Ready,
    chosen: Sequence[Arm],
    watch: Watch | None = None,
    keep: Keep | None = None,
    kept: Kept | None = None,
    engine: EngineName = "local",
) -> tuple[TreatmentRecord, ...]:
    """Run these treatments to their ends, or on from what ``keep`` was given.

    ``keep`` gets each settled round of the priced treatment, the state to go on from, and what its
    last call did not have of the record, before anybody is told of the round.
    """
    under_way = _UnderWay(ready, tuple(chosen), watch, keep)
    if kept is not None:
        under_way.resume(kept)
    anew = [arm.replica for arm in chosen]
    started: Sequence[Replica | Running] = under_way.running or anew
    return with_engine(engine, ready.task, started, under_way.run)


@dataclass(eq=False)
class _UnderWay:
    """The run between its rounds."""

    ready: Ready
    arms: tuple[Arm, ...]
    watch: Watch | None
    keep: Keep | None
    running: list[Running] = field(default_factory=list)
    openings: list[Opening] = field(default_factory=list)
    attempts: list[list[Seen]] = field(default_factory=list)
    told: list[int] = field(default_factory=list)  # how many attempts ``keep`` was given

    def run(self, engine: Engine) -> tuple[TreatmentRecord, ...]:
        """Begin, or go on, and run every treatment to its end."""
        if self.running:
            for run in self.running:
                engine.go_on(run)
        else:
            self._begin(engine)
        ended = engine.simulate(self.ready.task, self.running, self._passed)
        parts = zip(self.arms, self.openings, self.attempts, ended, strict=True)
        return tuple(treatment(self.ready, *each) for each in parts)

    def _begin(self, engine: Engine) -> None:
        """Open every treatment, and keep the report transfers of the priced one."""
        self.running = [engine.begin(self.ready.task, arm.replica) for arm in self.arms]
        self.attempts, self.told = [[] for _ in self.arms], [0 for _ in self.arms]
        pairs = zip(self.arms, self.running, strict=True)
        self.openings = [_opening(arm, run.coordinator) for arm, run in pairs]
        for arm, run in zip(self.arms, self.running, strict=True):
            terms, here = run.coordinator.terms, run.coordinator.eligible
            if arm.name == PRICED and terms is not None:
                self._keep(bills.transfers(arm.replica.plan, terms, here))

    def resume(self, kept: Kept) -> None:
        """Go on from what was kept with a round."""
        last: Progress = CODEC.decode(kept.state)
        names = tuple(arm.name for arm in self.arms)
        same = last.treatments == names
        require(same, "only", f"must be as when the run began: {', '.join(last.treatments)}", names)
        pairs = zip(self.arms, last.states, strict=True)
        self.running = [resumed(arm.replica, plain.tobytes()) for arm, plain in pairs]
        self.attempts = [[] for _ in self.arms]
        for part in map(CODEC.decode, kept.history):
            for name, attempts in zip(names, self.attempts, strict=True):
                attempts.extend(part.get(name, ()))
        self.told = [len(attempts) for attempts in self.attempts]
        whole = tuple(self.told) == last.attempts
        require(whole, "history", f"must hold {last.attempts} attempts", tuple(self.told))
        self.openings = list(last.openings)

    def _passed(self, passed: Passed) -> None:
        """Record, keep, and only then tell."""
        arm, before = self.arms[passed.replica], self.attempts[passed.replica]
        cap = np.inf if arm.name == "no noise" else self.ready.cap
        now = seen(arm.game, passed, cap, before)
        before.append(now)
        if now.void:
            return
        if arm.name == PRICED:
            self._keep(bills.bill(passed.closed))
        if self.watch is not None:
            self.watch(_step(arm, now))

    def _keep(self, settled: Round | None) -> None:
        if self.keep is None or settled is None:
            return
        states = [np.frombuffer(saved(run), dtype=np.uint8) for run in self.running]
        progress = Progress(
            treatments=tuple(arm.name for arm in self.arms),
            states=tuple(states),
            attempts=tuple(len(attempts) for attempts in self.attempts),
            openings=tuple(self.openings),
        )
        parts = zip(progress.treatments, self.attempts, self.told, strict=True)
        new = {name: tuple(attempts[known:]) for name, attempts, known in parts}
        self.keep(settled, CODEC.encode(progress), CODEC.encode(new))
        self.told = list(progress.attempts)


def _opening(arm: Arm, coordinator: Coordinator) -> Opening:
    terms, certificate = coordinator.terms, None
    if terms is not None and arm.name == PRICED:
        certificate = _certificate(arm, terms)
    owed = np.zeros(arm.game.setting.n)
    if terms is not None:
        amounts = np.where(coordinator.eligible, terms.transfers, 0.0)
        owed = np.rint(amounts * MICRO) / MICRO
    return Opening(
        optimum=optimum(arm.game).social_cost,
        transfers=owed,
        refusals=coordinator.refusals,
        certificate=certificate,
    )


def _certificate(arm: Arm, terms: Terms) -> CertificateRecord:
    """Of the terms of round 1, at their target or, where they name none, at their equilibrium."""
    game = arm.game
    noise = None if terms.sigma is not None else equilibrium(game, terms.unit_price).sigma
    found = certify(game, terms, sigma=noise)
    return CertificateRecord(
        ok=found.ok,
        max_gain=found.max_gain,
        worst_client=arm.replica.plan.clients[found.worst.client],
        ratio_to_optimum=found.ratio_to_optimum,
        ratio_to_best_weights=found.ratio_to_best_weights,
        budget_residual=found.budget.residual,
        better_off=found.better_off,
        text=found.explain(),
    )


def _step(arm: Arm, now: Seen) -> Step:
    received = exact_sum(np.nan_to_num(np.stack([now.charge, -now.refund])), axis=0).sum()
    return Step(
        treatment=arm.name,
        round=now.round,
        rounds=arm.replica.plan.mechanism.rounds,
        loss=now.loss,
        accuracy=now.accuracy,
        social_cost=now.social_cost,
        reserve=float(round(received, 6)),
    )
