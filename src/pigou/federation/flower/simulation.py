"""Flower's simulation engine: every client is a node, played by worker processes of Ray.

The clients' data lie in files that all workers map into memory; a worker reads its client's rows.
"""

import logging
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from flwr.app import Context
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.simulation import run_simulation

from pigou.errors import PigouError
from pigou.federation.flower.engine import OnGrid
from pigou.federation.flower.grid import Interrupted, Stoppable
from pigou.federation.flower.records import Model
from pigou.federation.flower.simulated import World, simulated_app
from pigou.federation.learners import Learner
from pigou.federation.shards import Shards
from pigou.federation.task import Supervised

FEATURES: Final = "x.npy"
TARGETS: Final = "y.npy"

Answer = TypeVar("Answer")
Work = Callable[[OnGrid], Answer]


class SimulationFailed(PigouError):  # noqa: N818
    """The simulation engine could not start, or broke off."""


@dataclass(frozen=True, eq=False)
class Stored:
    """A task whose data are in files: one client's training, in whatever process."""

    folder: Path
    starts: tuple[int, ...]
    learner: Learner
    steps: int
    step_size: float

    @classmethod
    def of(cls, task: Supervised, folder: Path) -> "Stored":
        """The task's data, written there."""
        np.save(folder / FEATURES, task.shards.x)
        np.save(folder / TARGETS, task.shards.y)
        starts = tuple(task.shards.starts.tolist())
        return cls(folder, starts, task.learner, task.steps, task.step_size)

    def __call__(self, place: int, model: Model) -> Model:
        """The client's model after its local steps."""
        rows = slice(self.starts[place], self.starts[place + 1])
        x, y = self._rows(FEATURES, rows), self._rows(TARGETS, rows)
        shards = Shards(x, y, np.array([0, len(x)]))
        start = model[0][np.newaxis]
        trained = self.learner.train(start, shards, self.steps, self.step_size)
        return (trained.models[0, 0],)

    def _rows(self, name: str, rows: slice) -> Any:
        return np.asarray(np.load(self.folder / name, mmap_mode="r")[rows])


def on_ray(task: Supervised, worlds: Mapping[str, World], work: "Work[Answer]") -> Answer:
    """Do some work with an engine whose grid is a simulation of these clients."""
    with tempfile.TemporaryDirectory(prefix="pigou-") as folder:
        train = Stored.of(task, Path(folder))
        return simulated(task.n, simulated_app(worlds, train), work)


def simulated(nodes: int, client: ClientApp, work: "Work[Answer]") -> Answer:
    """Do some work with an engine whose grid is a simulation of so many nodes with this app."""
    server, stop = ServerApp(), threading.Event()
    answers, failures = list[Answer](), list[Exception]()

    @server.main()
    def main(grid: Grid, context: Context) -> None:
        try:
            answers.append(work(OnGrid(Stoppable(grid, stop))))
        except Interrupted:
            return
        except Exception as error:
            failures.append(error)
            raise

    try:
        with _quiet():
            _run(server, client, nodes)
    except BaseException as error:
        stop.set()
        if failures:
            raise failures[0] from None
        if isinstance(error, RuntimeError):
            raise SimulationFailed(f"Flower's simulation engine failed: {error}") from error
        raise
    return answers[0]


def _run(server: ServerApp, client: ClientApp, nodes: int) -> None:
    """The server's app in a thread of this process, the clients' in workers, one per core."""
    run_simulation(
        server_app=server,
        client_app=client,
        num_supernodes=nodes,
        backend_config={
            "client_resources": {"num_cpus": 1, "num_gpus": 0.0},
            "init_args": {
                "num_cpus": os.cpu_count() or 1,
                "include_dashboard": False,
                "logging_level": logging.ERROR,
                "log_to_driver": False,
            },
        },
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Flower's own log says nothing below an error."""
    log = logging.getLogger("flwr")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)
