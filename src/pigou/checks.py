"""What user input must satisfy: numbers, vectors and client sets, checked once at the door."""

import math
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pigou.errors import InvalidArgument, Shown, require

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

SIMPLEX_TOLERANCE = 1e-9


def is_number(value: object) -> TypeGuard[float]:
    """A finite real number, and not a boolean."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond the largest float
        return False


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
    array = _copy(argument, values)
    with np.errstate(over="ignore", invalid="ignore"):
        total = array.sum()
    if not np.isfinite(total):  # an infinite sum may be an overflow of finite terms
        _require_finite(argument, array)
    return array


def non_negative(argument: str, values: ArrayLike, n: int) -> FloatArray:
    """n finite numbers >= 0; one number stands for n equal ones, without n copies of it."""
    given = _real(argument, values)
    if given.ndim == 0 or (given.strides == (0,) and given.shape == (n,)):
        shared = given.item() if given.ndim == 0 else given[0]
        return np.broadcast_to(np.float64(number(argument, shared)), (n,))
    array = vector(argument, given)
    _require_one_each(argument, array, n)
    require(array.min() >= 0, argument, "must not be negative", array.min())
    return array


def simplex(argument: str, values: ArrayLike, n: int) -> FloatArray:
    """n shares >= 0 that sum to 1."""
    shares = non_negative(argument, np.atleast_1d(_real(argument, values)), n)
    with np.errstate(over="ignore"):
        total = float(shares.sum())
    constraint = f"must sum to 1 within {SIMPLEX_TOLERANCE:g}"
    require(abs(total - 1.0) <= SIMPLEX_TOLERANCE, argument, constraint, Shown(f"sum {total!r}"))
    return shares


def sensitivities(argument: str, alpha: ArrayLike, n: int) -> FloatArray:
    """Types as a read-only vector of length n within [0, 1]."""
    values = _copy(argument, alpha)
    _require_one_each(argument, values, n)
    low, high = float(values.min()), float(values.max())  # NaN where any is
    if not (low >= 0 and high <= 1):
        _require_finite(argument, values)
        raise InvalidArgument(argument, "must lie in [0, 1]", low if low < 0 else high)
    return values


def noise_levels(argument: str, sigma: ArrayLike, n: int) -> FloatArray:
    """n standard deviations >= 0, of which some may be infinite; not copied where not needed."""
    given = _real(argument, sigma).astype(np.float64, copy=False)
    shape = Shown(f"shape {given.shape}")
    require(given.shape == (n,), argument, f"must hold {n} values, one per client", shape)
    low = given.min()  # NaN where any is
    require(low >= 0, argument, "must be >= 0, and not NaN", low)
    return given


def presence(argument: str, clients: ArrayLike, n: int) -> BoolArray:
    """A set of clients: n booleans, or the indices of its members."""
    given = _array(argument, clients)
    if given.dtype == np.bool_:
        shape = Shown(f"shape {given.shape}")
        require(given.shape == (n,), argument, f"must hold {n} booleans", shape)
        return given.copy()
    whole = given.ndim == 1 and (given.size == 0 or np.issubdtype(given.dtype, np.integer))
    require(whole, argument, "must be booleans or client indices", clients)
    inside = given.size == 0 or (given.min() >= 0 and given.max() < n)
    require(inside, argument, f"must hold indices in [0, {n - 1}]", clients)
    mask = np.zeros(n, dtype=np.bool_)
    mask[given.astype(np.intp)] = True
    return mask


def _require_one_each(argument: str, values: FloatArray, n: int) -> None:
    require(values.size == n, argument, f"must hold {n} values, one per client", values.size)


def _require_finite(argument: str, values: FloatArray) -> None:
    bad = values[~np.isfinite(values)]
    require(bad.size == 0, argument, "must be finite", bad[:3].tolist())


def _copy(argument: str, values: ArrayLike) -> FloatArray:
    """A read-only float64 copy of a list of numbers, finite or not."""
    given = _real(argument, values)
    require(given.ndim == 1, argument, "must be one-dimensional", Shown(f"shape {given.shape}"))
    require(given.size > 0, argument, "must not be empty", given)
    array = np.array(given, dtype=np.float64)
    array.flags.writeable = False
    return array


def _real(argument: str, values: ArrayLike) -> NDArray[Any]:
    """Real numbers in an array, as they came; text, booleans and complex numbers are none."""
    given = _array(argument, values)
    large = given.dtype == object and all(map(is_number, given.flat))  # integers beyond 64 bits
    require(given.dtype.kind in "iuf" or large, argument, "must hold real numbers", values)
    return given


def _array(argument: str, values: ArrayLike) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except (TypeError, ValueError) as error:
        raise InvalidArgument(argument, "must be a list of numbers", values) from error
