"""One round's statements, against the mean of the uploads, which any server has to take."""

import tracemalloc
from collections.abc import Iterator

import numpy as np
from benchmarks.table import Ratio, medians
from numpy.typing import NDArray

from pigou import AccuracyLoss, Setting
from pigou.mechanisms import Pigouvian, billing
from pigou.terms import Terms

CLIENTS, COORDINATES = 1_000, 100_000
MEANS = 5.0


def ratios() -> Iterator[Ratio]:
    """Time, error and memory at a thousand uploads of a hundred thousand float32."""
    rng = np.random.default_rng(0)
    uploads = 0.3 * rng.standard_normal((CLIENTS, COORDINATES), dtype=np.float32)
    uploads += rng.standard_normal(COORDINATES, dtype=np.float32)
    setting = Setting(CLIENTS, AccuracyLoss.bound(16.0, 2.0), 0.5)
    terms = Pigouvian().terms(setting, rng.uniform(0.1, 0.9, CLIENTS))
    sizes = f"N = {CLIENTS:,}, d = {COORDINATES:,}, float32"
    mean, bills = medians(lambda: uploads.mean(axis=0), lambda: billing.statements(uploads, terms))
    note = f"{1e3 * bills:.3g} ms over {1e3 * mean:.3g} ms; {sizes}"
    yield Ratio("statements over updates.mean(axis=0)", bills / mean, at_most=MEANS, note=note)
    settled = billing.statements(uploads, terms)
    apart = float(np.abs(settled.deviation / in_float64(uploads) - 1.0).max())
    note = f"largest relative error of a deviation; {sizes}"
    yield Ratio("statements against float64 throughout", apart, note=note)
    share = memory(uploads, terms) / uploads.nbytes
    yield Ratio("statements: extra memory over the uploads'", share, note=sizes)


def in_float64(uploads: NDArray[np.float32]) -> NDArray[np.float64]:
    """Deviations with every sum in float64."""
    n = len(uploads)
    mean = uploads.sum(axis=0, dtype=np.float64) / n
    squares = [float(np.square(upload - mean).mean()) for upload in uploads]
    return (n / (n - 1)) ** 2 * np.array(squares)


def memory(uploads: NDArray[np.float32], terms: Terms) -> int:
    """Bytes allocated at the worst moment."""
    tracemalloc.start()
    try:
        billing.statements(uploads, terms)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
