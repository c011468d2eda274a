"""How far a run is, on a terminal; nothing anywhere else."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from pigou.cli.output import short

if TYPE_CHECKING:
    from pigou.runs import Step


def say(text: str) -> None:
    """One line on stderr, if that is a terminal."""
    console = _console()
    if console.is_terminal:
        console.print(text, markup=False, highlight=False)


@contextmanager
def watching() -> Iterator[Callable[["Step"], None]]:
    """A bar per treatment: round, loss, social cost, budget, time left."""
    console = _console()
    columns = (
        TextColumn("{task.description:>8}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn("{task.fields[facts]}", markup=False),
        TimeRemainingColumn(),
    )
    bars = Progress(*columns, console=console, disable=not console.is_terminal)
    tasks: dict[str, tuple[TaskID, float]] = {}

    def watch(step: "Step") -> None:
        bar, received = tasks.get(step.treatment) or _added(bars, step)
        received += step.reserve
        tasks[step.treatment] = bar, received
        facts = [f"loss {short(step.loss)}", f"budget {short(received)}"]
        if math.isfinite(step.social_cost):  # without noise, nobody's privacy is protected
            facts.insert(1, f"social cost {short(step.social_cost)}")
        bars.update(bar, completed=step.round, facts=" · ".join(facts))

    with bars:
        yield watch


def _added(bars: Progress, step: "Step") -> tuple[TaskID, float]:
    return bars.add_task(step.treatment, total=step.rounds, facts=""), 0.0


def _console() -> Console:
    return Console(stderr=True)
