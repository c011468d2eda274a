"""The axes of static pictures: where a value stands, and which values are marked."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from pigou.checks import FloatArray

TICKS: Final = 6  # about so many on a linear axis
ROOM: Final = 0.04  # of the range, beyond the values at either end
FEW_DECADES: Final = 4  # up to which 2 and 5 are marked too


@dataclass(frozen=True)
class Axis:
    """A range of values between two places of the picture."""

    low: float
    high: float
    start: float
    stop: float
    log: bool

    @classmethod
    def over(cls, parts: Iterable[FloatArray], start: float, stop: float, *, log: bool) -> Self:
        """Of all finite values, and some room on both sides; 1 to 10 where there are none."""
        values = np.concatenate(list(parts))
        values = values[np.isfinite(values) & ((values > 0) | (not log))]
        if values.size == 0:
            return cls(1.0, 10.0, start, stop, log)
        low, high = float(values.min()), float(values.max())
        if log:
            room = max((high / low) ** ROOM, 1.0 + ROOM)
            return cls(low / room, high * room, start, stop, log)
        room = ROOM * (high - low or abs(high) or 1.0)
        return cls(low - room, high + room, start, stop, log)

    def at(self, value: float) -> float:
        """Where the value stands."""
        low, high, here = self.low, self.high, value
        if self.log:
            low, high, here = math.log(low), math.log(high), math.log(value)
        return self.start + (here - low) / (high - low) * (self.stop - self.start)


def ticks(axis: Axis) -> list[float]:
    """Round numbers within the range."""
    low, high = axis.low, axis.high
    if not axis.log:
        raw = (high - low) / TICKS
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw)
        first, last = math.ceil(low / step), math.floor(high / step)
        return [float(f"{k * step:.12g}") for k in range(first, last + 1)]
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if len(decades) <= FEW_DECADES else (1,)
    return [m * 10.0**d for d in decades for m in steps if low <= m * 10.0**d <= high]
