"""Three clients or ten thousand: who is drawn by name, who as a point, and who in a group."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pigou.checks import FloatArray

NAMED: Final = 40  # up to here every client has a row of its own, with its name
EACH: Final = 300  # up to here every client is a point; beyond, groups of clients are
GROUPS: Final = 50
MIDDLE: Final = (0.05, 0.5, 0.95)  # the quantiles that stand for many

Members = NDArray[np.intp]


def quantiles(values: FloatArray, levels: Sequence[float] = MIDDLE) -> FloatArray:
    """(levels, rows): quantiles of each row's finite values; NaN where it has none."""
    found = np.full((len(levels), len(values)), np.nan)
    for t, row in enumerate(values):
        finite = row[np.isfinite(row)]
        if finite.size:
            found[:, t] = np.quantile(finite, levels)
    return found


def groups(key: FloatArray) -> tuple[Members, ...]:
    """Clients in rising order of the key, one by one or, where they are many, in like groups."""
    order = np.argsort(key, kind="stable")
    parts = order.size if order.size <= EACH else GROUPS
    return tuple(np.array_split(order, parts)) if parts else ()


def ranks(parts: Sequence[Members]) -> FloatArray:
    """The mean place of each group's clients in that order, counted from 1."""
    sizes = np.array([part.size for part in parts], dtype=np.float64)
    return np.asarray(np.cumsum(sizes) - (sizes - 1.0) / 2.0)


def of_groups(values: FloatArray, parts: Sequence[Members]) -> FloatArray:
    """(3, groups): the quantiles in ``MIDDLE`` of each group's values."""
    return quantiles_of([values[part] for part in parts])


def quantiles_of(rows: Sequence[FloatArray]) -> FloatArray:
    """Quantiles of rows of different lengths."""
    each = [quantiles(row[None])[:, 0] for row in rows]
    return np.array(each).reshape(-1, len(MIDDLE)).T


def wide(values: FloatArray, ratio: float = 30.0) -> bool:
    """Whether the positive values span so much that only a log axis shows them all."""
    positive = values[np.isfinite(values) & (values > 0)]
    return bool(positive.size) and float(positive.max()) > ratio * float(positive.min())
