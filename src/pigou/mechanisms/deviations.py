"""How far each upload is from the mean of the others: two passes over blocks of columns.

Sums over clients and squares over columns are taken in short float32 runs (float64 for wider
types) and added up in float64. Uploads are never stacked: the extra memory is the mean and a block.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pigou.checks import BoolArray, FloatArray
from pigou.errors import InvalidArgument, TooFewClients, require

Array = NDArray[np.floating[Any] | np.integer[Any]]
Layers = Sequence[Array]
Updates = Array | Iterable[Layers | None]

BLOCK = 1 << 15  # columns of one block, and elements of one run: both stay in cache
RUN = 32  # clients summed in their own precision before they go into the float64 sum


@dataclass(frozen=True, eq=False)
class Layer:
    """One layer of all active clients, as bands: views of shape (some clients, size)."""

    shape: tuple[int, ...]
    bands: tuple[Array, ...]

    @property
    def size(self) -> int:
        return int(self.bands[0].shape[1])


@dataclass(frozen=True, eq=False)
class Comparison:
    """D_i of every client (0 where inactive), and the mean of the active uploads, by layer."""

    deviation: FloatArray
    mean: tuple[FloatArray, ...]


def compare(updates: Updates, active: BoolArray) -> Comparison:
    """D_i = ||w_i - mean_{j != i} w_j||^2 / d = (N/(N-1))^2 ||w_i - mean||^2 / d (section 3)."""
    clients = np.flatnonzero(active)
    n = clients.size
    if n < 2:
        raise TooFewClients("updates", "must come from 2 active clients or more", n)
    layers = _layers(updates, active, clients)
    squares = np.zeros(n)
    means = []
    for layer in layers:
        mean = np.empty(layer.size)
        for start in range(0, layer.size, BLOCK):
            columns = slice(start, start + BLOCK)
            mean[columns] = _total(layer, columns) / n
            squares += _squares(layer, columns, mean[columns])
        means.append(mean.reshape(layer.shape))
    size = sum(mean.size for mean in means)
    require(size > 0, "updates", "must hold at least one number", size)
    _require_finite(squares, layers, clients)
    deviation = np.zeros(active.size)
    deviation[clients] = (n / (n - 1)) ** 2 * squares / size
    return Comparison(deviation, tuple(means))


def _total(layer: Layer, columns: slice) -> FloatArray:
    """The sum over the clients: each band in its own precision, the bands in float64."""
    total = np.zeros(layer.bands[0][:, columns].shape[1])
    for band in layer.bands:
        total += band[:, columns].sum(axis=0, dtype=_precision(band))
    return total


def _squares(layer: Layer, columns: slice, mean: FloatArray) -> FloatArray:
    """Each client's squared distance to the mean, over these columns."""
    squares = []
    height = max(1, BLOCK // mean.size)
    for band in layer.bands:
        centre = mean.astype(_precision(band))
        for first in range(0, len(band), height):
            away = band[first : first + height, columns] - centre
            squares.append(np.einsum("ij,ij->i", away, away))
    return np.concatenate(squares, dtype=np.float64)


def _precision(band: Array) -> np.dtype[np.floating[Any]]:
    """float32 for types that it holds exactly, float64 for the others."""
    return np.result_type(np.float32, band.dtype)


def _layers(updates: Updates, active: BoolArray, clients: NDArray[np.intp]) -> list[Layer]:
    n = active.size
    if isinstance(updates, np.ndarray):
        require(updates.ndim == 2, "updates", "must have two dimensions", f"shape {updates.shape}")
        require(len(updates) == n, "updates", f"must hold {n} rows, one per client", len(updates))
        _require_real(updates.dtype, "updates")
        rows = updates if active.all() else updates[active]
        bands = tuple(rows[first : first + RUN] for first in range(0, len(rows), RUN))
        return [Layer((updates.shape[1],), bands)]
    uploads = list(updates)
    require(len(uploads) == n, "updates", f"must hold {n} uploads, one per client", len(uploads))
    chosen = [_upload(uploads[client], int(client)) for client in clients]
    shapes = [part.shape for part in chosen[0]]
    for client, upload in zip(clients, chosen, strict=True):
        theirs = [part.shape for part in upload]
        alike = f"must have the shapes of client {clients[0]}'s, {shapes}"
        require(theirs == shapes, f"updates[{client}]", alike, theirs)
    return [
        Layer(shape, tuple(part.reshape(1, -1) for part in parts))
        for shape, parts in zip(shapes, zip(*chosen, strict=True), strict=True)
    ]


def _upload(upload: Layers | None, client: int) -> list[Array]:
    if upload is None:
        raise InvalidArgument(f"updates[{client}]", "must be there: its weight is positive", None)
    parts = [np.asarray(part) for part in upload]
    for part in parts:
        _require_real(part.dtype, f"updates[{client}]")
    return parts


def _require_real(dtype: np.dtype[Any], argument: str) -> None:
    require(dtype.kind in "fiu", argument, "must hold real numbers", f"dtype {dtype}")


def _require_finite(squares: FloatArray, layers: list[Layer], clients: NDArray[np.intp]) -> None:
    if np.isfinite(squares).all():
        return
    for layer in layers:
        rows = (row for band in layer.bands for row in band)
        for client, row in zip(clients, rows, strict=True):
            finite = np.isfinite(row).all()
            require(finite, f"updates[{client}]", "must be finite", "NaN or infinity")
    raise InvalidArgument("updates", "must have finite squared distances", float(squares.max()))
