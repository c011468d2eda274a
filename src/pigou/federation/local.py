"""The in-process engine: all clients of all replicas at once, as batched matrix products.

A replica is one run: its own plan, conducts, noise and bills. Replicas share the task (data,
learner and first model), so that one pass over the data trains all of them. Compute is float32,
billing accumulates in float64. Each replica drives its own coordinator, as any engine does.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pigou.checks import FloatArray
from pigou.errors import require
from pigou.federation.client import Cohort, Indices, Plays, Rows, uploads
from pigou.federation.coordinator import Coordinator, Phase
from pigou.federation.protocol import Announcement
from pigou.federation.randomness import fill_with_noise
from pigou.federation.replica import Replica, Running
from pigou.federation.rounds import ClosedRound


class Task(Protocol):
    """What is trained, on whose data; models are rows, one per replica."""

    @property
    def n(self) -> int:
        """How many clients there are."""

    @property
    def dim(self) -> int:
        """How many numbers a model has."""

    @property
    def clip(self) -> float:
        """The norm that an update is clipped to."""

    def initial(self) -> Rows:
        """The first model, (d,)."""

    def train(self, models: Rows) -> tuple[Rows, FloatArray]:
        """(R, d) models to (R, N, d) trained ones, and the loss of each model as given."""

    def loss(self, models: Rows) -> FloatArray:
        """Training loss of each model."""

    def accuracy(self, models: Rows) -> FloatArray:
        """Test accuracy of each model."""


@dataclass(frozen=True, eq=False)
class Passed:
    """One closed round of one replica, for whoever watches."""

    replica: int
    announcement: Announcement
    closed: ClosedRound
    plays: Plays
    loss: float  # of the model the round started from
    accuracy: float


Watcher = Callable[[Passed], None]


@dataclass(frozen=True, eq=False)
class Ended:
    """A finished replica: its last model and how good it is."""

    model: Rows
    loss: float
    accuracy: float
    stopped: str  # why it ended early; empty if it did not
    cohorts: tuple[Cohort, ...]


def begin(task: Task, replica: Replica) -> Running:
    """Open the run, take reports, make the terms."""
    n = replica.plan.setting.n
    require(n == task.n, "task", f"must hold data for {n} clients", task.n)
    members = np.concatenate([cohort.members for cohort in replica.cohorts])
    whole = bool((np.sort(members) == np.arange(n)).all()) if members.size == n else False
    require(whole, "cohorts", f"must hold each of {n} clients once", members.size)
    coordinator = Coordinator(replica.plan, ((task.dim,),))
    announcement = coordinator.open()
    for cohort in replica.cohorts:
        for report in cohort.reports(announcement):
            coordinator.report(report)
    coordinator.close_reports()
    return Running(replica, coordinator, replica.cohorts, task.initial())


def simulate(task: Task, running: Sequence[Running], watch: Watcher) -> list[Ended]:
    """Run every replica to its end; ``watch`` sees each round, and an error there ends it all."""
    while live := [k for k, run in enumerate(running) if run.coordinator.phase is Phase.ROUND]:
        models = np.stack([running[k].model for k in live])
        trained, losses = task.train(models)
        accuracy = task.accuracy(models)
        for row, k in enumerate(live):
            announcement = running[k].coordinator.announcement()
            plays, closed, settled_cohorts = _round(task, running[k], trained[row])
            running[k].cohorts = settled_cohorts
            watch(Passed(k, announcement, closed, plays, float(losses[row]), float(accuracy[row])))
    models = np.stack([run.model for run in running])
    losses, accuracy = task.loss(models), task.accuracy(models)
    return [
        Ended(run.model, float(loss), float(right), run.coordinator.stopped, run.cohorts)
        for run, loss, right in zip(running, losses, accuracy, strict=True)
    ]


def release_key(round_: int, attempt: int) -> int:
    """The noise's round number: a repeated round is another release, with fresh noise."""
    return round_ + ((attempt - 1) << 32)


def _round(
    task: Task, run: Running, trained: Rows
) -> tuple[Plays, ClosedRound, tuple[Cohort, ...]]:
    """One round of one replica: decide, upload, bill, aggregate, learn."""
    coordinator = run.coordinator
    announcement = coordinator.announcement()
    chosen = [cohort.decide(announcement) for cohort in run.cohorts]
    plays = Plays.gather(task.n, run.cohorts, chosen)
    key = release_key(announcement.round, announcement.attempt)

    def draw(out: Rows, clients: Indices) -> None:
        fill_with_noise(out, run.replica.seed, clients.tolist(), key)

    coordinator.receive_block(uploads(run.model, trained, plays, draw, task.clip), ~plays.absent)
    closed = coordinator.close_round()
    if not closed.void:
        run.model = closed.aggregate()[0].astype(np.float32)
    settled = None if closed.judgement is None else closed.judgement.settlement
    pairs = zip(run.cohorts, chosen, strict=True)
    return plays, closed, tuple(c.after(announcement, play, settled) for c, play in pairs)
