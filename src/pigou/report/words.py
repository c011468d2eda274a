"""Numbers and amounts as people read them; nothing here fails on NaN or infinity."""

import math
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from pigou.checks import FloatArray

DIGITS: Final = 4
LARGE, SMALL = 1e7, 1e-4  # beyond these, powers of ten
MOST_DECIMALS: Final = 6  # money is counted in millionths
LISTED: Final = 5
UNKNOWN: Final = "unknown"
SIGMA, MINUS = "\N{GREEK SMALL LETTER SIGMA}", "\N{MINUS SIGN}"  # which linters mistake


def number(value: float) -> str:
    """Four significant digits."""
    if math.isnan(value):
        return UNKNOWN
    if math.isinf(value):
        return "infinite" if value > 0 else "minus infinite"
    size = abs(value)
    if value != 0 and not SMALL <= size < LARGE:
        return f"{value:.{DIGITS - 1}e}"
    decimals = 0 if value == 0 else max(0, DIGITS - 1 - math.floor(math.log10(size)))
    written = f"{value:,.{decimals}f}"
    return written.rstrip("0").rstrip(".") if "." in written else written


def over_least(ratio: float) -> str:
    """A social cost over the optimum; clients that copy or share noise can get below it."""
    if number(ratio) == "1":
        return "the least possible"
    whose = "the least that honest clients can reach" if ratio < 1.0 else "the least possible"
    return f"{number(ratio)} times {whose}"


def percent(share: float) -> str:
    """A share of 1 in percent."""
    return f"{100.0 * share:.1f} %" if math.isfinite(share) else UNKNOWN


def counted(many: int, noun: str) -> str:
    """1 client, 3 clients."""
    return f"{many:,} {noun}{'' if many == 1 else 's'}"


def listed(names: Sequence[str], most: int = LISTED) -> str:
    """a, b and c; or the first few of them and how many more."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def places(amounts: Iterable[float]) -> int:
    """Decimals that show the largest of these amounts with four digits, and cents at least."""
    sizes = [abs(a) for a in amounts if math.isfinite(a) and a != 0]
    if not sizes:
        return 2
    return min(MOST_DECIMALS, max(2, DIGITS - 1 - math.floor(math.log10(max(sizes)))))


def amount(value: float, decimals: int) -> str:
    """Money without its currency."""
    return f"{value + 0.0:,.{decimals}f}" if math.isfinite(value) else "—"


def money(value: float, currency: str) -> str:
    """Money: nothing, or an amount of four digits or more."""
    if not math.isfinite(value):
        return UNKNOWN
    value = round(value, MOST_DECIMALS)
    return f"{amount(value, places([value]))} {currency}" if value else f"0 {currency}"


def net(value: float, decimals: int, currency: str) -> str:
    """What a client owes after all, in words."""
    if not math.isfinite(value):
        return "not billed"
    if value == 0:
        return "neither owes nor is owed"
    return f"{'owes' if value > 0 else 'is owed'} {amount(abs(value), decimals)} {currency}"


def span(values: FloatArray, shown: int = DIGITS) -> str:
    """Least, median and most of the finite ones; one number where they are all the same."""
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return number(math.inf) if np.isposinf(values).any() else UNKNOWN
    low, middle, high = (float(f"{q:.{shown}g}") for q in np.quantile(finite, [0.0, 0.5, 1.0]))
    if low == high:
        return number(middle)
    return f"{number(middle)} (median; {number(low)} to {number(high)})"
