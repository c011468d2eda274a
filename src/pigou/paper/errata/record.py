"""What the evidence for one erratum looks like, and how its numbers are written."""

import math
from dataclasses import dataclass

import numpy as np

Cell = str | int | float
DIGITS = 4  # significant: few enough to be the same on every machine


@dataclass(frozen=True)
class Table:
    """A small named table of numbers."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def column(self, name: str) -> tuple[Cell, ...]:
        """One column, by its name."""
        k = self.columns.index(name)
        return tuple(row[k] for row in self.rows)


@dataclass(frozen=True)
class Erratum:
    """What the paper says, where, what is found instead, and the numbers that show it."""

    number: str
    title: str
    where: str
    claim: str
    finding: str
    evidence: tuple[Table, ...]
    fairness: str


def shown(value: Cell) -> str:
    """A cell as text: numbers to four significant digits."""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(value)
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0 or 1e-3 <= abs(value) < 1e6:
        return np.format_float_positional(
            value, precision=DIGITS, unique=False, fractional=False, trim="-"
        )
    return f"{value:.{DIGITS - 1}e}"


def percent(share: float) -> str:
    """A share as a percentage with three significant digits."""
    digits = np.format_float_positional(
        100.0 * share, precision=3, unique=False, fractional=False, trim="-"
    )
    return f"{digits} %"
