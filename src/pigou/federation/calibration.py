"""What noise costs on the task itself: the accuracy loss, fitted to measurements (section 10).

The aggregate of independent Gaussian noise is Gaussian with standard deviation Delta, so training
is repeated with that noise on the aggregate alone, at a handful of levels and with several seeds;
the noiseless run is subtracted. linear * Delta + quadratic * Delta^2 is fitted by non-negative
least squares. The form is the model's, not the task's: between the levels it may be off by tens of
percent, which is why every level's measurement and fit are kept side by side.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from pigou.checks import FloatArray, count
from pigou.errors import require
from pigou.federation.linear import LinearLearner
from pigou.federation.long_run import long_run
from pigou.federation.task import Supervised
from pigou.game import AccuracyLoss
from pigou.privacy import clip_rows

LEVELS = 8
SPAN = 300.0  # the largest level over the smallest
MODEL_ERROR = 0.1  # relative: levels count alike where their standard errors are below it

Rows = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True, eq=False)
class Calibration:
    """Measured and fitted: all in units of the training loss, after ``rounds`` rounds."""

    rounds: int
    levels: FloatArray  # Delta, per coordinate
    excess: FloatArray  # mean over seeds of F(w_T) with noise minus without
    excess_error: FloatArray  # its standard error
    loss: AccuracyLoss
    loss_error: tuple[float, float]  # standard errors of linear and quadratic, over seeds
    bound: AccuracyLoss  # the paper's: kappa = 16 |w0 - w*|, L = L_F
    smoothness: float  # L_F
    distance: float  # |w0 - w*|
    noiseless_gap: float  # F(w_T) - F(w*) without noise

    @property
    def fitted(self) -> FloatArray:
        """The fitted loss at the levels."""
        return np.array([self.loss(float(level)) for level in self.levels])

    @property
    def bounded(self) -> FloatArray:
        """The paper's bound at the levels."""
        return np.array([self.bound(float(level)) for level in self.levels])


def calibrate(
    task: Supervised, rounds: int, rng: np.random.Generator, seeds: int = 4
) -> Calibration:
    """Measure and fit the accuracy loss of a task."""
    count("rounds", rounds)
    count("seeds", seeds, least=2)
    learner = task.learner
    require(isinstance(learner, LinearLearner), "learner", "must be linear", type(learner).__name__)
    assert isinstance(learner, LinearLearner)  # for the type checker
    rows = np.repeat(task.weights / task.shards.sizes, task.shards.sizes)
    end = long_run(learner, task.shards.x, task.shards.y, rows)
    distance = float(np.linalg.norm(end.model - task.initial()))
    smoothness = learner.smoothness(task.shards.x, rows)
    levels = distance / np.sqrt(task.dim) * np.geomspace(1.0 / SPAN, 1.0, LEVELS)
    final = _final_losses(task, rounds, np.concatenate([[0.0], levels]), seeds, rng)
    excess = final[1:] - final[0]
    means, errors = excess.mean(axis=1), excess.std(axis=1, ddof=1) / np.sqrt(seeds)
    loss = fit(levels, means, errors)
    return Calibration(
        rounds=rounds,
        levels=levels,
        excess=means,
        excess_error=errors,
        loss=loss,
        loss_error=_fit_error(levels, excess, errors),
        bound=AccuracyLoss.bound(16.0 * distance, smoothness),
        smoothness=smoothness,
        distance=distance,
        noiseless_gap=float(final[0].mean() - end.loss),
    )


def fit(levels: FloatArray, excess: FloatArray, errors: FloatArray) -> AccuracyLoss:
    """Non-negative least squares, each level weighed by its standard and the model's error."""
    weight = 1.0 / np.hypot(errors, MODEL_ERROR * np.abs(excess))
    columns = np.column_stack([levels, np.square(levels)]) * weight[:, None]
    linear, quadratic = nnls(columns, excess * weight)[0]
    found = (float(linear), float(quadratic))
    require(max(found) > 0, "excess", "must grow with the noise", excess.tolist())
    return AccuracyLoss(*found)


def _fit_error(levels: FloatArray, excess: FloatArray, errors: FloatArray) -> tuple[float, float]:
    """The jackknife over seeds."""
    seeds = excess.shape[1]
    fits = []
    for left_out in range(seeds):
        means = np.delete(excess, left_out, axis=1).mean(axis=1)
        without = fit(levels, means, errors)
        fits.append((without.linear, without.quadratic))
    spread = np.std(fits, axis=0) * np.sqrt(seeds - 1)
    return float(spread[0]), float(spread[1])


def _final_losses(
    task: Supervised, rounds: int, levels: FloatArray, seeds: int, rng: np.random.Generator
) -> FloatArray:
    """F(w_T) for every level and seed; the same seed draws the same noise at every level."""
    models = np.tile(task.initial(), (levels.size * seeds, 1))
    weights = task.weights.astype(np.float32)
    for _ in range(rounds):
        noise = rng.standard_normal((seeds, task.dim), dtype=np.float32)
        models = averaged(task, models, weights)
        models += (levels[:, None, None] * noise).reshape(models.shape).astype(np.float32)
    return task.loss(models).reshape(levels.size, seeds)


def averaged(task: Supervised, models: Rows, weights: Rows) -> Rows:
    """One round without noise: sum rho_i (w + clip(w_i - w))."""
    trained, _ = task.train(models)
    updates = clip_rows(trained - models[:, None, :], task.clip)
    return np.asarray(models + np.einsum("i,rid->rd", weights, updates), dtype=np.float32)
