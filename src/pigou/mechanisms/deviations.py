"""How far each upload is from the mean of the others: two passes over blocks of columns.

Sums over clients and squares over columns are taken in short runs, in float32 for the types that
it holds exactly and in float64 for the others, and added up in float64. Where uploads differ by a
fraction f of their size, float32 runs find deviations to some 1e-7 / f at worst: both passes are
made again in float64 where f is below ``CLOSE``. Uploads are never stacked or copied, and the mean
is not kept: the extra memory is a few blocks.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pigou.canonical import array_form, digest
from pigou.checks import BoolArray, FloatArray
from pigou.errors import InvalidArgument, Shown, TooFewClients, require

Array = NDArray[np.floating[Any] | np.integer[Any]]
Layers = Sequence[Array]
Updates = Array | Iterable[Layers | Array | None]

BLOCK = 1 << 16  # columns of one block, and elements of one run: both stay in cache
RUN = 32  # clients summed in their own precision before they go into the float64 sum
LEAST = 1e-30  # a sum of squares below it may have lost some that float32 cannot hold
CLOSE = 1e-2  # distance to the mean, as a share of its length, that float32 runs are good for


@dataclass(frozen=True, eq=False)
class Layer:
    """One layer of all active clients, as bands: views of shape (some clients, *of one)."""

    shape: tuple[int, ...]
    bands: tuple[Array, ...]

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def columns(self) -> Iterator[slice]:
        """All columns, by blocks."""
        return (slice(start, start + BLOCK) for start in range(0, self.size, BLOCK))

    def blocks(self, columns: slice) -> Iterator[Array]:
        """These columns of the bands; of memory that is not in order, a copy of them alone."""
        for band in self.bands:
            yield band[:, columns] if band.ndim == 2 else band.flat[columns][np.newaxis]


@dataclass(frozen=True, eq=False)
class Comparison:
    """D_i of every client (0 where inactive), and the uploads that were compared, by layer.

    Their mean is made when it is asked for: the uploads must stay as they are until then.
    """

    deviation: FloatArray
    layers: tuple[Layer, ...]
    clients: int  # that were compared
    least: DTypeLike  # precision of the runs

    @property
    def size(self) -> int:
        """d: numbers in one upload."""
        return sum(layer.size for layer in self.layers)

    @property
    def mean(self) -> tuple[FloatArray, ...]:
        """The mean of the uploads, by layer."""
        return tuple(
            np.concatenate([np.zeros(0), *self._means(layer)]).reshape(layer.shape)
            for layer in self.layers
        )

    def mean_digest(self) -> str:
        """What statements name the mean by: the digest of its layers, which are never whole."""
        kind = np.dtype(np.float64)
        return digest([array_form(kind, each.shape, self._means(each)) for each in self.layers])

    def _means(self, layer: Layer) -> Iterator[FloatArray]:
        return (_mean(layer, columns, self.clients, self.least) for columns in layer.columns())


def compare(updates: Updates, active: BoolArray) -> Comparison:
    """D_i = ||w_i - mean_{j != i} w_j||^2 / d = (N/(N-1))^2 ||w_i - mean||^2 / d (section 3)."""
    clients = np.flatnonzero(active)
    n = clients.size
    if n < 2:
        raise TooFewClients("updates", "must come from 2 active clients or more", n)
    layers = _layers(updates, active.size, clients)
    size = sum(layer.size for layer in layers)
    require(size > 0, "updates", "must hold at least one number", size)
    least: DTypeLike = np.float32
    squares, length = _two_passes(layers, n, least)
    if _in_single_precision(layers) and not _known(squares, length):
        least = np.float64
        squares, _ = _two_passes(layers, n, least)
    if not np.isfinite(squares).all():
        _refuse(layers, clients)
    deviation = np.zeros(active.size)
    deviation[clients] = (n / (n - 1)) ** 2 * squares / size
    return Comparison(deviation, tuple(layers), n, least)


def _two_passes(layers: list[Layer], n: int, least: DTypeLike) -> tuple[FloatArray, float]:
    """Squared distances to the mean, and the mean's squared length, with runs in ``least``
    precision or better."""
    squares, length = np.zeros(n), 0.0
    with np.errstate(over="ignore", invalid="ignore"):  # the caller looks at the result
        for layer in layers:
            for columns in layer.columns():
                mean = _mean(layer, columns, n, least)
                squares += _squares(layer, columns, mean, least)
                length += float(_lengths(mean[np.newaxis])[0])
    return squares, length


def _in_single_precision(layers: list[Layer]) -> bool:
    """Whether any runs are in float32, where they need not be in better."""
    kinds = {band.dtype for layer in layers for band in layer.bands}
    return any(np.result_type(np.float32, kind) == np.float32 for kind in kinds)


def _known(squares: FloatArray, length: float) -> bool:
    """Whether float32 runs could hold these distances, and tell them from the mean's rounding."""
    return bool((np.isfinite(squares) & (squares > max(LEAST, CLOSE**2 * length))).all())


def _mean(layer: Layer, columns: slice, n: int, least: DTypeLike) -> FloatArray:
    return np.asarray(_total(layer, columns, least) / n)


def _total(layer: Layer, columns: slice, least: DTypeLike) -> FloatArray:
    """The sum over the clients: each band in its own precision, the bands in float64."""
    total = np.zeros(len(range(layer.size)[columns]))
    for block in layer.blocks(columns):
        total += block.sum(axis=0, dtype=np.result_type(least, block.dtype))
    return total


def _squares(layer: Layer, columns: slice, mean: FloatArray, least: DTypeLike) -> FloatArray:
    """Each client's squared distance to the mean, over these columns."""
    squares = []
    height = max(1, BLOCK // mean.size)
    for block in layer.blocks(columns):
        centre = mean.astype(np.result_type(least, block.dtype))
        for first in range(0, len(block), height):
            away = block[first : first + height] - centre
            squares.append(_lengths(away))
    return np.concatenate(squares, dtype=np.float64)


def _lengths(rows: NDArray[Any]) -> NDArray[Any]:
    """Squares of the rows' lengths, without the threads that BLAS starts for long float64 rows."""
    if rows.dtype == np.float32:
        return np.asarray(np.vecdot(rows, rows))
    return np.asarray(np.einsum("ij,ij->i", rows, rows))


def _layers(updates: Updates, n: int, clients: NDArray[np.intp]) -> list[Layer]:
    if isinstance(updates, np.ndarray):
        rows = np.asarray(updates)
        require(rows.ndim == 2, "updates", "must have two dimensions", Shown(f"shape {rows.shape}"))
        require(len(rows) == n, "updates", f"must hold {n} rows, one per client", len(rows))
        _require_real(rows.dtype, "updates")
        return [Layer(rows.shape[1:], tuple(_bands(rows, clients)))]
    try:
        uploads = list(updates)
    except TypeError as error:
        raise InvalidArgument(
            "updates", "must be an array or a list of uploads", updates
        ) from error
    require(len(uploads) == n, "updates", f"must hold {n} uploads, one per client", len(uploads))
    chosen = [_upload(uploads[client], int(client)) for client in clients]
    shapes = [part.shape for part in chosen[0]]
    for client, upload in zip(clients, chosen, strict=True):
        theirs = [part.shape for part in upload]
        alike = f"must have the shapes of client {clients[0]}'s, {shapes}"
        require(theirs == shapes, f"updates[{client}]", alike, theirs)
    return [
        Layer(shape, tuple(map(_band, parts)))
        for shape, parts in zip(shapes, zip(*chosen, strict=True), strict=True)
    ]


def _bands(rows: Array, clients: NDArray[np.intp]) -> Iterator[Array]:
    """The clients' rows, in views of neighbours."""
    for run in np.split(clients, np.flatnonzero(np.diff(clients) != 1) + 1):
        end = run[-1] + 1
        for first in range(run[0], end, RUN):
            yield rows[first : min(first + RUN, end)]


def _band(part: Array) -> Array:
    """One client's layer as one row, or as it is where that would take a copy."""
    in_order = part.ndim < 2 or part.flags.c_contiguous
    return part.reshape(1, -1) if in_order else part[np.newaxis]


def _upload(upload: Layers | Array | None, client: int) -> list[Array]:
    argument = f"updates[{client}]"
    if upload is None:
        raise InvalidArgument(argument, "must be there: its weight is positive", None)
    layers = [upload] if isinstance(upload, np.ndarray) else upload
    try:
        parts = [np.asarray(part) for part in layers]
    except (TypeError, ValueError) as error:
        raise InvalidArgument(argument, "must be a list of arrays", upload) from error
    for part in parts:
        _require_real(part.dtype, argument)
    return parts


def _require_real(dtype: np.dtype[Any], argument: str) -> None:
    require(dtype.kind in "fiu", argument, "must hold real numbers", Shown(f"dtype {dtype}"))


def _refuse(layers: list[Layer], clients: NDArray[np.intp]) -> NoReturn:
    """Name the client whose upload is not finite, or else the one with the largest number."""
    reach = np.zeros(clients.size)
    for layer in layers:
        rows = (row for band in layer.bands for row in band)
        for k, row in enumerate(rows):
            finite = np.isfinite(row).all()
            require(finite, f"updates[{clients[k]}]", "must be finite", Shown("NaN or infinity"))
            reach[k] = max(reach[k], np.abs(row).max(initial=0))
    far = int(reach.argmax())
    constraint = "must be small enough for finite squared distances"
    raise InvalidArgument(f"updates[{clients[far]}]", constraint, reach[far])
