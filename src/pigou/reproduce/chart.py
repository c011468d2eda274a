"""A chart as values: series with a middle and a band, before anybody draws them."""

from dataclasses import dataclass

import numpy as np

from pigou.checks import FloatArray
from pigou.errors import require

MIDDLE_SHARE = 0.8  # of the draws lie within the band of ``banded``


@dataclass(frozen=True, eq=False)
class Series:
    """One line of a chart, NaN where there is no value; ``low`` and ``high`` bound its band."""

    name: str
    x: FloatArray
    y: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None

    def __post_init__(self) -> None:
        parts = [part for part in (self.y, self.low, self.high) if part is not None]
        same = all(part.shape == self.x.shape for part in parts)
        sizes = [part.size for part in parts]
        require(same, "series", f"must hold {self.x.size} values each, like x", sizes)
        both = (self.low is None) == (self.high is None)
        require(both, "low and high", "must be given together", self.name)

    def at(self, x: float) -> float:
        """The value at one of its points."""
        (found,) = np.flatnonzero(np.isclose(self.x, x, rtol=1e-12, atol=1e-12))
        return float(self.y[found])


@dataclass(frozen=True)
class Note:
    """Words at a place of the x axis, or at a stretch of it: why there is a gap, for instance."""

    low: float
    high: float
    text: str


@dataclass(frozen=True, eq=False)
class Chart:
    """Series between two axes, and what to read in them."""

    name: str  # of its files; unique within a reproduction
    title: str
    caption: str
    x_title: str
    y_title: str
    series: tuple[Series, ...]
    notes: tuple[Note, ...] = ()
    log_x: bool = False
    log_y: bool = False

    def named(self, name: str) -> Series:
        """One series by its name."""
        (found,) = (series for series in self.series if series.name == name)
        return found


def banded(name: str, x: FloatArray, draws: FloatArray) -> Series:
    """Median of draws (points, draws), and the band that holds the middle 80 % of them."""
    tail = (1.0 - MIDDLE_SHARE) / 2.0
    low, middle, high = np.quantile(draws, [tail, 0.5, 1.0 - tail], axis=1)
    return Series(name, x, middle, low, high)


def averaged(name: str, x: FloatArray, draws: FloatArray) -> Series:
    """Mean of draws (points, seeds), and one standard error of it either way."""
    mean = draws.mean(axis=1)
    error = draws.std(axis=1, ddof=1) / np.sqrt(draws.shape[1])
    return Series(name, x, mean, mean - error, mean + error)
