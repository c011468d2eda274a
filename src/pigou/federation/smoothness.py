"""How curved a linear model's loss can be: second moments of the data, exactly."""

from collections.abc import Iterator
from typing import Final

import numpy as np
from scipy.linalg import eigvalsh

from pigou.checks import FloatArray, non_negative
from pigou.federation.datasets import Features

ROWS: Final = 1024  # samples converted to float64 at a time
ROUND_UP: Final = 1.0 + 1e-12  # over the rounding of an eigenvalue, at any size that fits memory


def parts_of(n: int) -> Iterator[slice]:
    """Consecutive slices that cover n samples."""
    return (slice(start, start + ROWS) for start in range(0, n, ROWS))


def sample_weights(n: int, weights: FloatArray | None) -> FloatArray:
    """The given weights, or 1 / n for each."""
    return non_negative("weights", 1.0 / n if weights is None else weights, n)


def second_moment(x: Features, weights: FloatArray | None = None) -> FloatArray:
    """sum_j weights_j x_j x_j^T in float64; weights default to 1 / n."""
    roots = np.sqrt(sample_weights(len(x), weights))
    total = np.zeros((x.shape[1], x.shape[1]))
    for part in parts_of(len(x)):
        rows = x[part] * roots[part, np.newaxis]
        total += rows.T @ rows
    return total


def largest_eigenvalue(x: Features, weights: FloatArray | None = None) -> float:
    """Of the second moment, rounded up; from the smaller of its two Gram matrices."""
    n, d = x.shape
    if n < d:
        rows = x * np.sqrt(sample_weights(n, weights))[:, np.newaxis]
        gram = rows @ rows.T
    else:
        gram = second_moment(x, weights)
    last = len(gram) - 1
    return float(eigvalsh(gram, subset_by_index=[last, last])[0]) * ROUND_UP
