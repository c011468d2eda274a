"""What user input must satisfy: numbers, vectors and client sets, checked once at the door."""

import math
from typing import TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pigou.errors import InvalidArgument, require

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


def is_number(value: object) -> TypeGuard[float]:
    """A finite real number, and not a boolean."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    return math.isfinite(value)


def number(argument: str, value: object, *, above_zero: bool = False) -> float:
    """A finite number >= 0, or > 0."""
    constraint = f"must be a finite number {'>' if above_zero else '>='} 0"
    if not is_number(value) or value < 0 or (above_zero and value == 0):
        raise InvalidArgument(argument, constraint, value)
    return float(value)


def count(argument: str, value: object, least: int = 1) -> int:
    """A whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InvalidArgument(argument, f"must be a whole number >= {least}", value)
    return int(value)


def vector(argument: str, values: ArrayLike) -> FloatArray:
    """A read-only float64 copy of one-dimensional finite numbers."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidArgument(argument, "must be a list of numbers", values) from error
    require(array.ndim == 1, argument, "must be one-dimensional", f"shape {array.shape}")
    require(array.size > 0, argument, "must not be empty", values)
    if not np.isfinite(array.sum()):  # an infinite sum may be an overflow of finite terms
        bad = array[~np.isfinite(array)]
        require(bad.size == 0, argument, "must be finite", bad[:3].tolist())
    array.flags.writeable = False
    return array


def non_negative(argument: str, values: ArrayLike, n: int) -> FloatArray:
    """n finite numbers >= 0; one number stands for n equal ones, without n copies of it."""
    given = np.asarray(values)
    if given.ndim == 0 or (given.strides == (0,) and given.shape == (n,)):
        shared = given.item() if given.ndim == 0 else given[0]
        return np.broadcast_to(np.float64(number(argument, shared)), (n,))
    array = vector(argument, values)
    require(array.size == n, argument, f"must hold {n} values, one per client", array.size)
    require(array.min() >= 0, argument, "must not be negative", float(array.min()))
    return array


def sensitivities(argument: str, alpha: ArrayLike, n: int) -> FloatArray:
    """Types as a read-only vector of length n within [0, 1]."""
    values = vector(argument, alpha)
    require(values.size == n, argument, f"must hold {n} values, one per client", values.size)
    low, high = float(values.min()), float(values.max())
    outside = low if not low >= 0 else high
    require(low >= 0 and high <= 1, argument, "must lie in [0, 1]", outside)
    return values


def presence(present: ArrayLike, n: int) -> BoolArray:
    """Which clients are there: n booleans, or the indices of those present."""
    given = np.asarray(present)
    if given.dtype == np.bool_:
        require(given.shape == (n,), "present", f"must hold {n} booleans", f"shape {given.shape}")
        return given.copy()
    whole = given.ndim == 1 and (given.size == 0 or np.issubdtype(given.dtype, np.integer))
    require(whole, "present", "must be booleans or client indices", present)
    inside = given.size == 0 or (given.min() >= 0 and given.max() < n)
    require(inside, "present", f"must hold indices in [0, {n - 1}]", present)
    mask = np.zeros(n, dtype=np.bool_)
    mask[given.astype(np.intp)] = True
    return mask
