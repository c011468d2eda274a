"""How far a run is, on a terminal; nothing anywhere else."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars

from pigou.cli.output import short

if TYPE_CHECKING:
    from pigou.reproduce.part import Progress
    from pigou.runs import Step


def say(text: str) -> None:
    """One line on stderr, if that is a terminal."""
    console = _console()
    if console.is_terminal:
        console.print(text, markup=False, highlight=False)


@contextmanager
def watching() -> Iterator[Callable[["Step"], None]]:
    """A bar per treatment: round, loss, social cost, budget, time left."""
    bars = _bars(8)
    tasks: dict[str, tuple[TaskID, float]] = {}

    def watch(step: "Step") -> None:
        bar, received = tasks.get(step.treatment) or _added(bars, step)
        received += step.reserve
        tasks[step.treatment] = bar, received
        facts = (
            f"loss {short(step.loss)} · social cost {short(step.social_cost)} "
            f"· budget {short(received)}"
        )
        bars.update(bar, completed=step.round, facts=facts)

    with bars:
        yield watch


@contextmanager
def counting() -> Iterator[Callable[["Progress"], None]]:
    """A bar per part: steps done, what the last one was about, time left."""
    bars = _bars(14)
    tasks: dict[str, TaskID] = {}

    def watch(step: "Progress") -> None:
        if step.part not in tasks:
            tasks[step.part] = bars.add_task(step.part, total=step.total, facts="")
        bars.update(tasks[step.part], completed=step.done, facts=step.facts)

    with bars:
        yield watch


def _bars(width: int) -> Bars:
    """Names in so many characters; nothing where there is no terminal."""
    console = _console()
    columns = (
        TextColumn(f"{{task.description:>{width}}}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn("{task.fields[facts]}", markup=False),
        TimeRemainingColumn(),
    )
    return Bars(*columns, console=console, disable=not console.is_terminal)


def _added(bars: Bars, step: "Step") -> tuple[TaskID, float]:
    return bars.add_task(step.treatment, total=step.rounds, facts=""), 0.0


def _console() -> Console:
    return Console(stderr=True)
