"""The clients' training data side by side in one array, visited in blocks that fit the cache."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from pigou.errors import require
from pigou.federation.datasets import Features
from pigou.terms import IntArray

BLOCK_BYTES: Final = 4 << 20  # of features per block, or one client

Targets = NDArray[Any]  # what the learner makes of the labels


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive clients that hold equally many samples."""

    clients: slice
    x: Features  # (clients, samples, features)
    y: Targets  # (clients, samples)


@dataclass(frozen=True, eq=False)
class Shards:
    """Client i holds rows starts[i] to starts[i + 1] of x and y; sizes may differ."""

    x: Features  # (all samples, features)
    y: Targets
    starts: IntArray  # (clients + 1,)

    def __post_init__(self) -> None:
        require(self.x.dtype == np.float32, "x", "must be float32", f"dtype {self.x.dtype}")
        ends = (int(self.starts[0]), int(self.starts[-1]))
        whole = ends == (0, len(self.x)) and len(self.x) == len(self.y)
        require(whole, "starts", f"must run from 0 to {len(self.x)}, as x and y do", ends)
        require(bool((self.sizes > 0).all()), "starts", "must leave no client empty", self.sizes)

    @classmethod
    def gather(cls, x: Features, y: Targets, rows: Sequence[IntArray]) -> Self:
        """Copies of the given rows, client by client: the only copy that is made."""
        require(len(rows) > 0, "rows", "must be those of 1 client or more", len(rows))
        starts = np.concatenate([[0], np.cumsum([part.size for part in rows])])
        every = np.concatenate(rows)
        inside = every.size == 0 or (every.min() >= 0 and every.max() < len(x))
        require(inside, "rows", f"must lie in [0, {len(x) - 1}]", every)
        own = np.empty((every.size, x.shape[1]), dtype=np.float32)
        np.take(x, every, axis=0, out=own, mode="clip")  # another mode would copy once more
        return cls(own, y[every], starts)

    @property
    def clients(self) -> int:
        return self.starts.size - 1

    @property
    def sizes(self) -> IntArray:
        """Samples per client."""
        return np.diff(self.starts)

    def blocks(self) -> Iterator[Block]:
        """All clients, in order."""
        sizes = self.sizes
        changes = np.flatnonzero(np.diff(sizes)) + 1
        for first, last in zip([0, *changes], [*changes, sizes.size], strict=True):
            size = int(sizes[first])
            step = max(1, BLOCK_BYTES // (size * self.x.shape[1] * self.x.itemsize))
            for start in range(int(first), int(last), step):
                yield self._block(start, min(start + step, int(last)), size)

    def _block(self, first: int, last: int, size: int) -> Block:
        rows = slice(self.starts[first], self.starts[last])
        shape = (last - first, size)
        x, y = self.x[rows].reshape(*shape, -1), self.y[rows].reshape(shape)
        return Block(slice(first, last), x, y)
