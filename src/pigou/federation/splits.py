"""Who holds which rows: training and test samples per client, and whether clients share any.

Training and test rows never mix: where the data set has no test set of its own, a fifth of the rows
is set aside first. Within each pool of like rows (all of them, or those of one class) clients get
disjoint parts if there are enough rows for all; otherwise each draws for itself, without repeats
within a client while the pool has that many rows. The split says what happened.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from pigou.checks import FloatArray, count, non_negative, number, vector
from pigou.errors import require
from pigou.federation.datasets import Dataset
from pigou.terms import IntArray

SAMPLES: Final = 1000  # per client, of training and of test data, as in the paper
HELD_OUT: Final = 0.2  # of the rows, for tests, where the data set has no test set

Rows = tuple[IntArray, ...]


@dataclass(frozen=True, eq=False)
class Split:
    """Row numbers per client; sizes may differ."""

    train: Rows
    test: Rows

    @property
    def clients(self) -> int:
        return len(self.train)

    @property
    def sizes(self) -> IntArray:
        """Training samples per client: public, and what data-size weights are made of."""
        return np.array([rows.size for rows in self.train], dtype=np.int64)

    @property
    def overlapping(self) -> bool:
        """Whether some training sample is held more than once, by two clients or by one."""
        return np.unique(np.concatenate(self.train)).size < int(self.sizes.sum())

    @cached_property
    def message(self) -> str:
        """What the clients hold and share, in one line."""
        parts = (_described("training", self.train), _described("test", self.test))
        return f"{self.clients} clients: {'; '.join(parts)}"


def iid(
    dataset: Dataset,
    clients: int,
    rng: np.random.Generator,
    train: int = SAMPLES,
    test: int = SAMPLES,
) -> Split:
    """Every client draws from all rows alike."""
    n = count("clients", clients)
    sizes = np.full(n, count("train", train), dtype=np.int64)
    return by_size(dataset, sizes, rng, test)


def by_size(
    dataset: Dataset, sizes: ArrayLike, rng: np.random.Generator, test: int = SAMPLES
) -> Split:
    """Client i holds sizes[i] training samples; the sizes are public."""
    given = vector("sizes", sizes)
    whole = bool((given >= 1).all() and (given % 1 == 0).all())
    require(whole, "sizes", "must be whole numbers >= 1", sizes)
    tests = np.full(given.size, count("test", test), dtype=np.int64)
    train_rows, test_rows = _pools(dataset, rng)
    return Split(
        _draw([train_rows], given.astype(np.int64)[:, np.newaxis], rng),
        _draw([test_rows], tests[:, np.newaxis], rng),
    )


def dirichlet(
    dataset: Dataset,
    clients: int,
    concentration: float,
    rng: np.random.Generator,
    train: int = SAMPLES,
    test: int = SAMPLES,
) -> Split:
    """Each client has its own mix of classes, drawn around the mix of the data.

    The mix is Dirichlet(concentration * classes * share of each class): for equal classes the
    symmetric Dirichlet; large concentrations approach ``iid``. Test samples have the same mix.
    """
    n = count("clients", clients)
    spread = number("concentration", concentration, above_zero=True)
    train_rows, test_rows = _pools(dataset, rng)
    kinds = len(dataset.classes)
    shares = np.bincount(dataset.y[train_rows], minlength=kinds) / train_rows.size
    there = shares > 0
    mixes = np.zeros((n, kinds))
    mixes[:, there] = rng.dirichlet(spread * kinds * shares[there], size=n)
    drawn = []
    for rows, size in ((train_rows, count("train", train)), (test_rows, count("test", test))):
        by_class = [rows[dataset.y[rows] == k] for k in range(kinds)]
        drawn.append(_draw(by_class, _counts(mixes, by_class, size, rng), rng))
    return Split(*drawn)


def row_weights(rows: Rows, n: int, weights: ArrayLike | None = None) -> FloatArray:
    """How much each of n rows counts in sum_i weights_i F_i; weights default to 1 / clients."""
    shares = non_negative("weights", 1.0 / len(rows) if weights is None else weights, len(rows))
    each = np.repeat(shares / [part.size for part in rows], [part.size for part in rows])
    total = np.zeros(n)
    np.add.at(total, np.concatenate(rows), each)
    return total


def _pools(dataset: Dataset, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    n = len(dataset.y)
    if dataset.test_from is not None:
        return np.arange(dataset.test_from), np.arange(dataset.test_from, n)
    held_out = max(1, round(HELD_OUT * n))
    require(held_out < n, "dataset", "must hold 2 samples or more", n)
    order = rng.permutation(n)
    return order[held_out:], order[:held_out]


def _counts(
    mixes: FloatArray, by_class: Sequence[IntArray], size: int, rng: np.random.Generator
) -> IntArray:
    """Samples per client and class; a class without rows passes its share on to the others."""
    there = np.array([rows.size > 0 for rows in by_class])
    possible = np.where(there, mixes, 0.0)
    totals = possible.sum(axis=1, keepdims=True)
    even = there / np.count_nonzero(there)
    shares = np.where(totals > 0, possible / np.where(totals > 0, totals, 1.0), even)
    return rng.multinomial(size, shares).astype(np.int64)


def _draw(pools: Sequence[IntArray], counts: IntArray, rng: np.random.Generator) -> Rows:
    """counts[i, k] rows of pool k for client i, as the module says."""
    parts: list[list[IntArray]] = [[] for _ in counts]
    for rows, wanted in zip(pools, counts.T, strict=True):
        if wanted.sum() <= rows.size:
            given = np.split(rng.permutation(rows)[: wanted.sum()], np.cumsum(wanted)[:-1])
        else:
            given = [rng.choice(rows, size, replace=size > rows.size) for size in wanted]
        for part, more in zip(parts, given, strict=True):
            part.append(more)
    return tuple(np.concatenate(part) for part in parts)


def _described(kind: str, rows: Rows) -> str:
    total = sum(part.size for part in rows)
    own = [np.unique(part).size for part in rows]
    distinct = np.unique(np.concatenate(rows)).size
    if distinct == total:
        return f"{total:,} {kind} samples, no two the same"
    facts = [f"{total:,} {kind} samples from {distinct:,} rows"]
    if sum(own) > distinct:
        facts.append("clients share samples")
    repeating = sum(part.size > held for part, held in zip(rows, own, strict=True))
    if repeating:
        facts.append(f"{repeating} of the clients hold some sample more than once")
    return ", ".join(facts)
