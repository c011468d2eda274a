"""The best report of one's own: a global search over a report space, for any rule.

Over a menu every report is tried. Over intervals a grid is, and reports near the truth on several
scales, where a slightly wrong rule makes small lies pay; from the best of them a compass search
climbs on. Between grid points nothing is known of the rule: a gain that only exists on a stretch
narrower than the grid can be missed.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import TypeGuard

import numpy as np

from pigou.checks import FloatArray, is_number
from pigou.errors import require
from pigou.terms import Interval, Reports

GRID = 17  # reports over one interval
PAIR_GRID = 7  # over each interval of a pair
NEAR = (1e-5, 1e-3, 3e-2)  # distances from the truth, as shares of the interval's width
FAR = 4.0  # times the scale of reports: the grid's end where the interval is far wider
SHORTER = 2.0**8  # how far the compass's stride shrinks before it stops
MOVES = 60  # at most

Attempt = Callable[[FloatArray], tuple[FloatArray, FloatArray]]  # reports -> gains, noises


@dataclass(frozen=True, eq=False)
class Lie:
    """A report, the noise that goes with it, and what they gain together."""

    report: FloatArray
    sigma: float
    gain: float


def is_pair(space: Reports) -> TypeGuard[tuple[Interval, Interval]]:
    """Whether a report is (alpha, spread) rather than alpha."""
    return isinstance(space, tuple) and any(isinstance(part, Interval) for part in space)


def check_space(space: object) -> None:
    """Refuse what is neither an interval, nor a menu, nor a pair of intervals."""
    known = isinstance(space, Interval)
    if isinstance(space, tuple) and space:
        pair = len(space) == 2 and all(isinstance(part, Interval) for part in space)
        known = pair or all(is_number(part) for part in space)
    what = "must be an Interval, a tuple of numbers or a pair of Intervals"
    require(known, "report_space", what, space)


def check_truth(space: Reports, truth: FloatArray) -> None:
    """Refuse a space in which some client could not tell the truth: one row per client."""
    if isinstance(space, Interval) or is_pair(space):
        for axis, values in zip(_axes(space), truth.T, strict=True):
            outside = values[(values < axis.low) | (values > axis.high)]
            what = f"must contain the true reports, not only [{axis.low:g}, {axis.high:g}]"
            require(outside.size == 0, "report_space", what, outside[:3].tolist())
    else:
        outside = np.setdiff1d(truth, np.array(space))
        what = "must contain the true reports"
        require(outside.size == 0, "report_space", what, outside[:3].tolist())


def best_report(
    space: Reports, truth: FloatArray, scale: FloatArray, attempt: Attempt, worth: float
) -> Lie:
    """The report that gains most; ``scale`` is the size of reports, one value per coordinate.

    ``attempt`` takes one report per row. A gain under ``worth`` is not followed up.
    """
    if not (isinstance(space, Interval) or is_pair(space)):
        lies = [value for value in space if value != truth[0]]
        return _best_of(np.array([truth[0], *lies])[:, None], attempt)
    axes = [_Axis.of(part, size) for part, size in zip(_axes(space), scale, strict=True)]
    found = _best_of(_scan(axes, truth), attempt)
    return _climb(axes, truth, found, attempt) if found.gain > worth else found


@dataclass(frozen=True)
class _Axis:
    """One coordinate of the reports, and how it is scanned."""

    low: float
    high: float
    end: float  # of the grid: beyond it only ``high`` and one report between are tried

    @classmethod
    def of(cls, interval: Interval, scale: float) -> "_Axis":
        end = interval.low + FAR * scale if scale > 0 else interval.high
        return cls(interval.low, interval.high, min(end, interval.high))

    @property
    def width(self) -> float:
        return self.end - self.low

    def grid(self, points: int) -> FloatArray:
        """Evenly spaced up to the end, and two reports beyond it where there are any."""
        beyond = [math.sqrt(self.end * self.high), self.high] if self.end < self.high else []
        return np.array([*np.linspace(self.low, self.end, points), *beyond])


def _axes(space: Interval | tuple[Interval, Interval]) -> tuple[Interval, ...]:
    return (space,) if isinstance(space, Interval) else space


def _scan(axes: list[_Axis], truth: FloatArray) -> FloatArray:
    """The truth first, so that it wins among equals; reports near it; and the grid."""
    width = np.array([axis.width for axis in axes])
    directions = _directions(len(axes))
    near = [_inside(axes, truth + share * width * directions) for share in NEAR]
    grid = np.array(list(product(*(axis.grid(_points(axes)) for axis in axes))))
    others = np.concatenate([*near, grid])
    return np.concatenate([truth[None], others[(others != truth).any(axis=1)]])


def _climb(axes: list[_Axis], truth: FloatArray, start: Lie, attempt: Attempt) -> Lie:
    """Compass search: move to the best neighbour and stride wider, or halve the stride."""
    width = np.array([axis.width for axis in axes])
    away = max(float((np.abs(start.report - truth) / width).max()), NEAR[0])
    stride, best = 0.5 * min(away, 1.0 / (_points(axes) - 1)), start
    directions, shortest = width * _directions(len(axes)), stride / SHORTER
    for _ in range(MOVES):
        found = _best_of(_inside(axes, best.report + stride * directions), attempt)
        if found.gain > best.gain:
            best, stride = found, 2.0 * stride
        elif stride > shortest:
            stride = 0.5 * stride
        else:
            break
    return best


def _best_of(reports: FloatArray, attempt: Attempt) -> Lie:
    gain, sigma = attempt(reports)
    k = int(np.argmax(gain))
    return Lie(reports[k], float(sigma[k]), float(gain[k]))


def _points(axes: list[_Axis]) -> int:
    return GRID if len(axes) == 1 else PAIR_GRID


def _directions(dimensions: int) -> FloatArray:
    """All neighbours of the origin in a grid of step 1."""
    neighbours = product((-1.0, 0.0, 1.0), repeat=dimensions)
    return np.array([way for way in neighbours if any(way)])


def _inside(axes: list[_Axis], reports: FloatArray) -> FloatArray:
    low, high = [axis.low for axis in axes], [axis.high for axis in axes]
    return np.clip(reports, low, high)
