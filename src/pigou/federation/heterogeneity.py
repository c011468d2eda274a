"""How honest updates differ: spread (finite data, part of the error) and divergence (section 10).

v_i, the spread, is the variance of a client's update when its own data are drawn again: measured by
resampling its samples with replacement. What remains of the noiseless deviations is u_i, the
divergence, which moves bills but not the error. Both change while training goes on: they are
measured along a noiseless run, and their means over its rounds are what prices and audits use.
"""

from dataclasses import dataclass

import numpy as np

from pigou.checks import FloatArray, count
from pigou.federation.calibration import averaged
from pigou.federation.linear import Models
from pigou.federation.shards import Shards
from pigou.federation.task import Supervised
from pigou.mechanisms.billing import compare
from pigou.privacy import clip_rows

MOMENTS = 4  # rounds of the run at which updates are resampled


@dataclass(frozen=True, eq=False)
class Heterogeneity:
    """Per client: means over the moments, and the same for each moment (moments, N)."""

    rounds: tuple[int, ...]
    spread_by_round: FloatArray
    divergence_by_round: FloatArray

    @property
    def spread(self) -> FloatArray:
        """v_i."""
        return np.asarray(self.spread_by_round.mean(axis=0))

    @property
    def divergence(self) -> FloatArray:
        """u_i, at least 0."""
        return np.asarray(np.maximum(self.divergence_by_round.mean(axis=0), 0.0))


def heterogeneity(
    task: Supervised, rounds: int, rng: np.random.Generator, resamples: int = 4
) -> Heterogeneity:
    """Measure v and u along a noiseless run of ``rounds`` rounds."""
    count("resamples", resamples, least=2)
    moments = sorted({round(x) for x in np.linspace(0, count("rounds", rounds) - 1, MOMENTS)})
    weights = task.weights.astype(np.float32)
    model = task.initial()[None]
    at_moments = []
    for t in range(rounds):
        if t in moments:
            at_moments.append(model)
        model = averaged(task, model, weights)
    models = np.concatenate(at_moments)
    spread = _resampled_variance(task, models, rng, resamples)
    deviation = np.array([_deviations(task, m) for m in models])
    n = task.n
    others = (spread.sum(axis=1, keepdims=True) - spread) / (n - 1) ** 2
    return Heterogeneity(tuple(t + 1 for t in moments), spread, deviation - spread - others)


def _updates(task: Supervised, models: Models, shards: Shards) -> Models:
    trained = task.learner.train(models, shards, task.steps, task.step_size).models
    return clip_rows(trained - models[:, None, :], task.clip)


def _deviations(task: Supervised, model: Models) -> FloatArray:
    updates = _updates(task, model[None], task.shards)[0]
    return compare(updates, np.ones(task.n, np.bool_)).deviation


def _resampled_variance(
    task: Supervised, models: Models, rng: np.random.Generator, resamples: int
) -> FloatArray:
    """Variance per coordinate of each client's update over resamples of its data: (moments, N)."""
    total = np.zeros((len(models), task.n, task.dim))
    squares = np.zeros((len(models), task.n))
    for _ in range(resamples):
        updates = _updates(task, models, _resampled(task.shards, rng)).astype(np.float64)
        total += updates
        squares += np.square(updates).mean(axis=2)
    mean_square = np.square(total / resamples).mean(axis=2)
    return np.asarray((squares / resamples - mean_square) * resamples / (resamples - 1))


def _resampled(shards: Shards, rng: np.random.Generator) -> Shards:
    rows = [
        start + rng.integers(0, size, size)
        for start, size in zip(shards.starts, shards.sizes, strict=False)
    ]
    return Shards.gather(shards.x, shards.y, rows)
