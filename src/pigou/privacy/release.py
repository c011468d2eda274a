"""What makes an upload private: clip the update to norm C, then add Gaussian noise (section 8).

A clipped update is never longer than C as stored, rounding included: the sensitivity is C exactly.
A model arrives as layers of any shapes, which are never stacked; simulations clip rows of a block.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pigou.checks import FloatArray, number
from pigou.errors import InvalidArgument, require

Layer = NDArray[np.floating[Any]]
Layers = Sequence[Layer]
Normals = Callable[[int], NDArray[np.float32]]  # so many standard normal numbers

BLOCK: Final = 1 << 16  # numbers squared at a time, in float64
ULP: Final = float(np.finfo(np.float64).eps)


def clip(update: Layers, norm: float) -> tuple[Layer, ...]:
    """The update, shortened to Euclidean norm ``norm`` over all its layers if it is longer."""
    longest = number("norm", norm, above_zero=True)
    _require_layers("update", update)
    length = np.float64(_length(update))
    full = [part.dtype for part in update if part.dtype != np.float16]  # that is rounded down
    precision = max((float(np.finfo(dtype).eps) for dtype in full), default=ULP)
    factor = float(_factor(length, longest, sum(part.size for part in update), precision))
    return tuple(_shortened(part, factor) if factor < 1.0 else part.copy() for part in update)


def clip_rows(updates: NDArray[np.float32], norm: float) -> NDArray[np.float32]:
    """Each vector along the last axis, shortened to norm ``norm`` if it is longer."""
    longest = number("norm", norm, above_zero=True)
    require(updates.dtype == np.float32, "updates", "must be float32", f"dtype {updates.dtype}")
    squares = np.einsum("...k,...k->...", updates, updates, dtype=np.float64)
    finite = bool(np.isfinite(squares).all())
    require(finite, "updates", "must be finite", "NaN or infinity")
    single = np.finfo(np.float32)
    factor = _factor(np.sqrt(squares), longest, updates.shape[-1], float(single.eps))
    rounded = np.where(factor < single.tiny, 0.0, factor).astype(np.float32)
    shortened: NDArray[np.float32] = updates * rounded[..., np.newaxis]
    return shortened


def add_noise(model: Layers, sigma: float, normals: Normals) -> tuple[Layer, ...]:
    """The model with N(0, sigma^2) added to every coordinate, layer by layer."""
    scale = number("sigma", sigma)
    _require_layers("model", model)
    if scale == 0.0:
        return tuple(part.copy() for part in model)
    return tuple(_noisy(part, scale, normals) for part in model)


def _shortened(part: Layer, factor: float) -> Layer:
    """The product; in half precision rounded towards zero, as its small numbers are so coarse."""
    shortened = np.empty(part.shape, part.dtype)
    numbers, products = part.reshape(-1), shortened.reshape(-1)
    for start in range(0, numbers.size, BLOCK):
        piece = slice(start, start + BLOCK)
        exact = numbers[piece].astype(np.float64) * factor
        products[piece] = exact
        if part.dtype == np.float16:
            beyond = np.abs(products[piece]) > np.abs(exact)
            nearer = np.nextafter(products[piece], np.float16(0))
            products[piece] = np.where(beyond, nearer, products[piece])
    return shortened


def _noisy(part: Layer, scale: float, normals: Normals) -> Layer:
    noise = np.float64(scale) * normals(part.size).astype(np.float64)
    return np.asarray(part + noise.reshape(part.shape)).astype(part.dtype)


def _factor(length: Any, longest: float, size: int, precision: float) -> FloatArray:
    """By how much to multiply, so that a product rounded to this precision is short enough."""
    summing = size * ULP  # bounds the relative rounding of a sum of so many squares
    slack = 1.0 - 4.0 * precision - 2.0 * summing
    with np.errstate(divide="ignore"):
        shorter = slack * longest / length
    return np.where(length * (1.0 + summing) <= longest, 1.0, shorter)


def _length(update: Layers) -> float:
    """The Euclidean norm over all layers, in units of the largest number: nothing overflows."""
    peaks = [float(np.abs(part).max()) for part in update if part.size]
    largest = float(np.max(peaks, initial=0.0))  # NaN wins here, unlike in max()
    require(math.isfinite(largest), "update", "must be finite", largest)
    if largest == 0.0:
        return 0.0
    squares = 0.0
    for part in update:  # by blocks, so that float64 copies stay in the cache
        numbers = part.reshape(-1)
        for start in range(0, numbers.size, BLOCK):
            piece = numbers[start : start + BLOCK].astype(np.float64) / largest
            squares += float(piece @ piece)
    return largest * math.sqrt(squares)


def _require_layers(argument: str, layers: Layers) -> None:
    for k, part in enumerate(layers):
        if not isinstance(part, np.ndarray) or part.dtype.kind != "f":
            received = f"dtype {part.dtype}" if isinstance(part, np.ndarray) else part
            raise InvalidArgument(f"{argument}[{k}]", "must be a floating-point array", received)
