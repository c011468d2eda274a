"""Where training would end: the optimum w* to a stated tolerance, for excess losses and kappa.

L-BFGS in float64, in coordinates that round off the data: lambda I + c sum_j q_j x_j x_j^T becomes
the identity, with c the curvature per output. Strong convexity proves the answer whatever the path:
F(w) - F* <= |gradient|^2 / (2 lambda), and |w - w*| <= |gradient| / lambda.
"""

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize

from pigou.checks import FloatArray, number
from pigou.errors import PigouError
from pigou.federation.datasets import Features
from pigou.federation.linear import LinearLearner
from pigou.federation.shards import Targets
from pigou.federation.smoothness import parts_of, sample_weights, second_moment

MOST_STEPS: Final = 5000
MEMORY: Final = 20  # L-BFGS pairs


class NotReached(PigouError):  # noqa: N818
    """The optimum was not found to the tolerance that was asked for."""


@dataclass(frozen=True, eq=False)
class LongRun:
    """A model and its loss, which is at most ``gap`` above the least loss there is."""

    model: FloatArray  # (dim,), float64
    loss: float
    gap: float  # |gradient|^2 / (2 lambda)
    passes: int  # over the data


def long_run(
    learner: LinearLearner,
    x: Features,
    y: Targets,
    weights: FloatArray | None = None,
    tolerance: float = 1e-10,
) -> LongRun:
    """The minimiser of lambda/2 |w|^2 + sum_j weights_j loss(w . x_j, y_j), within tolerance."""
    wanted = number("tolerance", tolerance, above_zero=True)
    shares = sample_weights(len(x), weights)
    metric = second_moment(x, shares) * (learner.curvature / learner.outputs)
    metric[np.diag_indices_from(metric)] += learner.regularisation
    search = _Search(learner, x, y, shares, cholesky(metric, lower=True))

    def stop(xk: FloatArray) -> None:
        if search.best.gap <= wanted:
            raise StopIteration

    minimize(
        search,
        np.zeros(learner.dim),
        jac=True,
        method="L-BFGS-B",
        callback=stop,
        options={
            "maxiter": MOST_STEPS,
            "maxfun": MOST_STEPS,
            "ftol": 0.0,
            "gtol": 0.0,
            "maxcor": MEMORY,
        },
    )
    if search.best.gap > wanted:
        got = f"{search.best.gap:.3g} after {search.best.passes} passes"
        raise NotReached(f"tolerance must be reachable: wanted {wanted:g}, proved {got}")
    return search.best


@dataclass
class _Search:
    """The objective in the rounded coordinates v = factor^T w, and the best point seen."""

    learner: LinearLearner
    x: Features
    y: Targets
    weights: FloatArray
    factor: FloatArray
    passes: int = 0
    best: LongRun = field(default_factory=lambda: LongRun(np.zeros(0), np.inf, np.inf, 0))

    def __call__(self, v: FloatArray) -> tuple[float, FloatArray]:
        rows = v.reshape(self.learner.outputs, -1)
        model = self._solve(rows, "T")
        loss, gradient = self._loss_and_gradient(model)
        self.passes += 1
        gap = float(np.square(gradient).sum()) / (2.0 * self.learner.regularisation)
        if gap < self.best.gap:
            self.best = LongRun(model.ravel(), loss, gap, self.passes)
        return loss, self._solve(gradient, "N").ravel()

    def _solve(self, rows: FloatArray, transposed: Any) -> FloatArray:
        solution: FloatArray = solve_triangular(self.factor, rows.T, lower=True, trans=transposed).T
        return solution

    def _loss_and_gradient(self, model: FloatArray) -> tuple[float, FloatArray]:
        strength = self.learner.regularisation
        loss, gradient = 0.5 * strength * float(np.square(model).sum()), strength * model
        for part in parts_of(len(self.x)):
            x, weights = self.x[part].astype(np.float64), self.weights[part]
            scores = (x @ model.T)[:, np.newaxis, :]
            losses, slopes = self.learner.losses_and_slopes(scores, self.y[part])
            loss += float(weights @ losses[:, 0])
            gradient = gradient + (slopes[:, 0, :] * weights[:, np.newaxis]).T @ x
        return loss, gradient
