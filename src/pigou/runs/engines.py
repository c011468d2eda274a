"""What plays a run's rounds: this process, or the nodes of Flower's simulation engine."""

from collections.abc import Callable, Sequence
from typing import Final, Literal, Protocol, TypeVar

from pigou.errors import InvalidArgument
from pigou.federation import local
from pigou.federation.local import Ended, Task, Watcher
from pigou.federation.replica import Replica, Running
from pigou.federation.task import Supervised

EngineName = Literal["local", "flower"]
ENGINES: Final[tuple[EngineName, ...]] = ("local", "flower")

Answer = TypeVar("Answer")


class Engine(Protocol):
    """How replicas are run, wherever their clients are."""

    def begin(self, task: Task, replica: Replica) -> Running:
        """Open the run and take reports."""

    def go_on(self, running: Running) -> None:
        """Take up a run that has begun before."""

    def simulate(self, task: Task, running: Sequence[Running], watch: Watcher) -> list[Ended]:
        """Run every replica to its end."""


class Local:
    """All clients in this process."""

    def begin(self, task: Task, replica: Replica) -> Running:
        """As in ``Engine``."""
        return local.begin(task, replica)

    def go_on(self, running: Running) -> None:
        """Nothing to take up: all of it is in the state."""

    def simulate(self, task: Task, running: Sequence[Running], watch: Watcher) -> list[Ended]:
        """As in ``Engine``."""
        return local.simulate(task, running, watch)


def require_engine(name: str) -> EngineName:
    """The engine, if there is one of that name and its packages are installed."""
    for known in ENGINES:
        if name == known:
            if name == "flower":
                from pigou.federation.flower import require_flower

                require_flower()
            return known
    raise InvalidArgument("engine", f"must be one of {', '.join(ENGINES)}", name)


def with_engine(
    name: EngineName,
    task: Supervised,
    started: Sequence[Replica | Running],
    work: Callable[[Engine], Answer],
) -> Answer:
    """Do some work with an engine: for these replicas, as they are now."""
    if name == "local":
        return work(Local())
    from pigou.federation.flower.simulated import World
    from pigou.federation.flower.simulation import on_ray

    worlds = {}
    for each in started:
        replica = each if isinstance(each, Replica) else each.replica
        worlds[replica.plan.run] = World.of(replica, each.cohorts, task.clip)
    return on_ray(task, worlds, work)
