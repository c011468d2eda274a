"""Replicas on a Flower grid, in the shape of the local engine.

What clients keep to themselves, a simulation must still show: their noise. The driver plays all
conducts along, as the local engine does; what it finds is not sent anywhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from flwr.app import Array, ArrayRecord
from flwr.serverapp import Grid
from flwr.serverapp.strategy import FedAvg

from pigou.federation.client import Plays
from pigou.federation.flower.keeping import Closing
from pigou.federation.flower.members import Simulated
from pigou.federation.flower.records import view
from pigou.federation.flower.strategy import PricedStrategy
from pigou.federation.local import Ended, Passed, Task, Watcher
from pigou.federation.replica import Replica, Running

MODEL = "model"


@dataclass(eq=False)
class OnGrid:
    """The engine, while a grid is there."""

    grid: Grid
    _strategies: dict[str, PricedStrategy] = field(default_factory=dict)

    def begin(self, task: Task, replica: Replica) -> Running:
        """Open the run and take reports."""
        strategy = self._strategy(replica)
        strategy.open(self.grid, _record(task.initial()))
        return Running(replica, strategy.coordinator, replica.cohorts, task.initial())

    def go_on(self, running: Running) -> None:
        """Meet the nodes of a run that has begun before."""
        strategy = self._strategy(running.replica)
        strategy.go_on(self.grid, _record(running.model), running.coordinator)

    def simulate(self, task: Task, running: Sequence[Running], watch: Watcher) -> list[Ended]:
        """Run every replica to its end, one after the other."""
        for number, run in enumerate(running):
            strategy = self._strategies[run.replica.plan.run]
            strategy.watch(_Shown(number, task, run, watch))
            strategy.rounds(self.grid)
            strategy.close(self.grid)
        models = np.stack([run.model for run in running])
        losses, accuracy = task.loss(models), task.accuracy(models)
        return [
            Ended(run.model, float(loss), float(right), run.coordinator.stopped, run.cohorts)
            for run, loss, right in zip(running, losses, accuracy, strict=True)
        ]

    def _strategy(self, replica: Replica) -> PricedStrategy:
        plan = replica.plan
        inner = FedAvg(fraction_evaluate=0.0, min_train_nodes=1, min_available_nodes=1)
        strategy = PricedStrategy.of(plan, inner, Simulated(plan.clients))
        self._strategies[plan.run] = strategy
        return strategy


@dataclass(frozen=True, eq=False)
class _Shown:
    """One replica's rounds, for whoever watches."""

    number: int
    task: Task
    run: Running
    watch: Watcher

    def __call__(self, closing: Closing) -> None:
        run, said = self.run, closing.announcement
        chosen = [cohort.decide(said) for cohort in run.cohorts]
        judgement = closing.closed.judgement
        settled = None if judgement is None else judgement.settlement
        before = run.model[np.newaxis]
        loss, accuracy = self.task.loss(before)[0], self.task.accuracy(before)[0]
        plays = Plays.gather(self.task.n, run.cohorts, chosen)
        pairs = zip(run.cohorts, chosen, strict=True)
        run.cohorts = tuple(cohort.after(said, play, settled) for cohort, play in pairs)
        run.model = np.array(view(closing.model[MODEL]))
        self.watch(Passed(self.number, said, closing.closed, plays, float(loss), float(accuracy)))


def _record(model: np.typing.NDArray[np.float32]) -> ArrayRecord:
    return ArrayRecord({MODEL: Array(model)})
