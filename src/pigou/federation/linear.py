"""Linear models of many clients and replicas at once: the passes over the data.

    F_i(w) = lambda/2 |w|^2 + mean_j loss(w . x_j, y_j)        over client i's samples

A model is one row of K * features numbers, class after class. Scores of R replicas on a client's
samples are one matrix product, and so are their gradients: data are read once for all replicas, and
for the second product they are still in the cache.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pigou.checks import FloatArray, count, number
from pigou.errors import require
from pigou.federation.datasets import Dataset, Features
from pigou.federation.shards import Block, Shards, Targets
from pigou.federation.smoothness import largest_eigenvalue, parts_of
from pigou.federation.trained import Trained

Numbers = NDArray[np.floating[Any]]
Models = NDArray[np.float32]


@dataclass(frozen=True)
class LinearLearner(ABC):
    """What the squared SVM and logistic regression share: all but the loss of one sample."""

    features: int  # d, bias included
    regularisation: float = 0.01  # lambda

    curvature: ClassVar[float]  # the largest second derivative of a sample's loss in its scores

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "features", count("features", self.features))
        given = number("regularisation", self.regularisation, above_zero=True)
        put(self, "regularisation", given)

    @property
    @abstractmethod
    def outputs(self) -> int:
        """K: scores per sample."""

    @abstractmethod
    def targets(self, dataset: Dataset) -> Targets:
        """The labels as this learner needs them."""

    @abstractmethod
    def losses_and_slopes(self, scores: Numbers, y: Targets) -> tuple[Numbers, Numbers]:
        """Losses (..., R) and their slopes (..., R, K) from scores (..., R, K) and y (...).

        May overwrite the scores.
        """

    @abstractmethod
    def hits(self, scores: Numbers, y: Targets) -> NDArray[np.bool_]:
        """Which predictions are right: (n, R) from scores (n, R, K) and y (n,)."""

    @property
    def dim(self) -> int:
        """Numbers in a model."""
        return self.outputs * self.features

    def initial(self) -> Models:
        """Where training starts: the zero model."""
        return np.zeros(self.dim, dtype=np.float32)

    def train(self, models: Models, shards: Shards, steps: int, step_size: float) -> Trained:
        """``steps`` gradient steps of every client from each of the R shared models (R, dim)."""
        starts = self._checked(models, shards.x)
        taken, size = count("steps", steps), number("step_size", step_size, above_zero=True)
        trained = np.empty((len(starts), shards.clients, self.dim), dtype=np.float32)
        losses = np.empty((len(starts), shards.clients))
        rows = starts.reshape(-1, self.features)
        for block in shards.blocks():
            losses[:, block.clients], slope = self._at_shared(rows, block)
            current = np.subtract(rows, np.float32(size) * slope, out=slope)
            for _ in range(taken - 1):
                current -= np.float32(size) * self._at_own(current, block)
            trained[:, block.clients] = self._by_replica(current)
        return Trained(trained, losses + self._penalties(starts))

    def gradients(self, models: Models, shards: Shards) -> Models:
        """Gradients of F_i at R shared models: (R, clients, dim)."""
        starts = self._checked(models, shards.x)
        gradients = np.empty((len(starts), shards.clients, self.dim), dtype=np.float32)
        for block in shards.blocks():
            slope = self._at_shared(starts.reshape(-1, self.features), block)[1]
            gradients[:, block.clients] = self._by_replica(slope)
        return gradients

    def losses(self, models: Models, shards: Shards) -> FloatArray:
        """F_i at R shared models: (R, clients)."""
        starts = self._checked(models, shards.x)
        losses = np.empty((len(starts), shards.clients))
        for block in shards.blocks():
            scores = self._scores(starts.reshape(-1, self.features), block)
            losses[:, block.clients] = _means(self.losses_and_slopes(scores, block.y)[0])
        return losses + self._penalties(starts)

    def accuracy(
        self, models: Models, x: Features, y: Targets, weights: FloatArray | None = None
    ) -> FloatArray:
        """The share of samples that each of R models gets right; weights are per sample."""
        rows = self._checked(models, x).reshape(-1, self.features)
        right = np.zeros(len(models))
        for part in parts_of(len(x)):
            scores = (x[part] @ rows.T).reshape(-1, len(models), self.outputs)
            hits = self.hits(scores, y[part])
            shares = np.full(len(hits), 1.0 / len(x)) if weights is None else weights[part]
            right += shares @ hits
        return right

    def smoothness(self, x: Features, weights: FloatArray | None = None) -> float:
        """L_F of lambda/2 |w|^2 + sum_j weights_j loss(w . x_j, y_j): the least sure bound."""
        return self.regularisation + self.curvature * largest_eigenvalue(x, weights)

    def _at_shared(self, rows: Models, block: Block) -> tuple[FloatArray, Models]:
        """Mean losses (R, clients) and gradients (clients, R K, features) at shared models."""
        losses, slopes = self.losses_and_slopes(self._scores(rows, block), block.y)
        return _means(losses), self._gradient(rows, slopes, block)

    def _at_own(self, rows: Models, block: Block) -> Models:
        """Gradients where every client of the block has models of its own."""
        products = np.matmul(block.x, rows.transpose(0, 2, 1))
        scores = products.reshape(*block.y.shape, -1, self.outputs)
        return self._gradient(rows, self.losses_and_slopes(scores, block.y)[1], block)

    def _scores(self, rows: Models, block: Block) -> Models:
        """(clients, samples, R, K): one product for the whole block."""
        products: Models = block.x.reshape(-1, self.features) @ rows.T
        return products.reshape(*block.y.shape, -1, self.outputs)

    def _gradient(self, rows: Models, slopes: Numbers, block: Block) -> Models:
        clients, samples = block.y.shape
        flat = slopes.reshape(clients, samples, -1)
        flat *= np.float32(1.0 / samples)
        if clients == 1:  # the product of two matrices is quicker than that of two stacks of one
            gradient: Models = (flat[0].T @ block.x[0])[np.newaxis]
        else:
            gradient = np.matmul(flat.transpose(0, 2, 1), block.x)
        gradient += np.float32(self.regularisation) * rows
        return gradient

    def _by_replica(self, rows: Models) -> Models:
        return rows.reshape(len(rows), -1, self.dim).transpose(1, 0, 2)

    def _penalties(self, models: Models) -> FloatArray:
        squares = np.einsum("rk,rk->r", models, models, dtype=np.float64)
        penalties: FloatArray = 0.5 * self.regularisation * squares[:, np.newaxis]
        return penalties

    def _checked(self, models: Models, x: Features) -> Models:
        require(
            models.ndim == 2 and models.shape[1] == self.dim,
            "models",
            f"must have the shape (replicas, {self.dim})",
            models.shape,
        )
        require(x.shape[1] == self.features, "x", f"must have {self.features} columns", x.shape)
        return np.ascontiguousarray(models, dtype=np.float32)


def _means(losses: Numbers) -> FloatArray:
    """(R, clients) from (clients, samples, R)."""
    means: FloatArray = np.add.reduce(losses, axis=1, dtype=np.float64).T / losses.shape[1]
    return means
