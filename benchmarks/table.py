"""Ratios of running times measured in one run, and the table that shows them.

A file of this folder takes part by having a function ``ratios() -> Iterable[Ratio]``.
"""

import gc
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Ratio:
    """One measured number, and the bound that it is meant to keep."""

    what: str
    value: float
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""  # the two times behind a ratio, an error that was checked

    @property
    def bound(self) -> str:
        """The bound in words."""
        if self.at_most is not None:
            return f"at most {self.at_most:,g}"
        return "" if self.at_least is None else f"at least {self.at_least:,g}"

    @property
    def kept(self) -> bool:
        """Whether the measured number keeps its bound."""
        low = self.at_least is None or self.value >= self.at_least
        return low and (self.at_most is None or self.value <= self.at_most)


def seconds(call: Callable[[], object], repeats: int = 5) -> float:
    """The shortest of several times: what the machine needs when nothing else disturbs it."""
    times = []
    collecting = gc.isenabled()
    gc.disable()
    try:
        for _ in range(repeats):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
    finally:
        if collecting:
            gc.enable()
    return min(times)


def medians(*calls: Callable[[], object], repeats: int = 5) -> list[float]:
    """The median time of each call, taken in turns: what else the machine does meets them alike."""
    times = [[seconds(call, 1) for call in calls] for _ in range(repeats)]
    return [statistics.median(column) for column in zip(*times, strict=True)]


def markdown(rows: Iterable[Ratio]) -> str:
    """The table for benchmarks/README.md."""
    lines = ["| what | measured | bound | kept | note |", "|---|---|---|---|---|"]
    for row in rows:
        kept = "" if not row.bound else "yes" if row.kept else "NO"
        value = f"{row.value:,.0f}" if row.value >= 1000 else f"{row.value:.3g}"
        lines.append(f"| {row.what} | {value} | {row.bound} | {kept} | {row.note} |")
    return "\n".join(lines)
