"""Least squares as a learner: a task whose every measurement has a closed form."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pigou.federation.datasets import Dataset
from pigou.federation.linear import LinearLearner, Numbers
from pigou.federation.shards import Shards, Targets
from pigou.federation.task import Supervised

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LeastSquares(LinearLearner):
    """lambda/2 |w|^2 + 1/2 mean (w.x - y)^2."""

    curvature: ClassVar[float] = 1.0

    @property
    def outputs(self) -> int:
        return 1

    def targets(self, dataset: Dataset) -> Targets:
        return dataset.y.astype(np.float32)

    def losses_and_slopes(self, scores: Numbers, y: Targets) -> tuple[Numbers, Numbers]:
        scores -= y[..., np.newaxis, np.newaxis]
        return 0.5 * np.square(scores[..., 0]), scores

    def hits(self, scores: Numbers, y: Targets) -> NDArray[np.bool_]:
        right: NDArray[np.bool_] = np.abs(scores[..., 0] - y[..., np.newaxis]) < 0.5
        return right


def regression_task(
    targets: Floats,
    samples: int,
    rng: np.random.Generator,
    *,
    noise: float = 1.0,
    regularisation: float = 0.1,
    step_size: float = 0.1,
    clip: float = 1e6,
) -> Supervised:
    """Client i holds samples y = targets[i].x + noise, with x standard normal."""
    n, d = targets.shape
    x = rng.standard_normal((n, samples, d), dtype=np.float32)
    y = np.einsum("nmd,nd->nm", x, targets) + noise * rng.standard_normal((n, samples))
    shards = Shards(x.reshape(-1, d), y.reshape(-1).astype(np.float32), np.arange(n + 1) * samples)
    return Supervised(
        learner=LeastSquares(d, regularisation),
        shards=shards,
        test_x=shards.x[:1],
        test_y=shards.y[:1],
        weights=np.full(n, 1.0 / n),
        clip=clip,
        step_size=step_size,
    )


@dataclass(frozen=True)
class Quadratic:
    """F(w) = 1/2 w.A w - b.w + const of a regression task, from its data in float64."""

    a: Floats
    b: Floats

    @classmethod
    def of(cls, task: Supervised) -> "Quadratic":
        assert isinstance(task.learner, LeastSquares)
        rows = np.repeat(task.weights / task.shards.sizes, task.shards.sizes)
        x, y = task.shards.x.astype(np.float64), task.shards.y.astype(np.float64)
        a = x.T @ (x * rows[:, None])
        a[np.diag_indices_from(a)] += task.learner.regularisation
        return cls(a, x.T @ (rows * y))

    @property
    def end(self) -> Floats:
        """w*."""
        return np.asarray(np.linalg.solve(self.a, self.b))

    def excess(self, model: Floats) -> float:
        """F(w) - F(w*)."""
        away = model - self.end
        return 0.5 * float(away @ self.a @ away)

    def descended(self, rounds: int, step: float) -> Floats:
        """Where so many noiseless steps from 0 lead."""
        model = np.zeros(self.b.size)
        for _ in range(rounds):
            model -= step * (self.a @ model - self.b)
        return model

    def noise_cost(self, rounds: int, step: float) -> float:
        """E F(w_T) with noise minus without, over Delta^2: w_T gains independent noise of
        covariance Delta^2 sum_{k < T} (1 - step A)^{2k}, which no term of first order sees."""
        a = np.linalg.eigvalsh(self.a)
        kept = np.square(1.0 - step * a)
        return 0.5 * float((a * sum(kept**k for k in range(rounds))).sum())
