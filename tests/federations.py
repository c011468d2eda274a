"""Small federations for tests: a task without data, and digits held by twenty clients."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pigou import AccuracyLoss, Setting
from pigou.federation.client import Cohort
from pigou.federation.conduct import Conduct
from pigou.federation.datasets import digits
from pigou.federation.learners import SquaredSVM
from pigou.federation.plan import Plan
from pigou.federation.replica import Replica
from pigou.federation.shards import Shards
from pigou.federation.splits import iid
from pigou.federation.task import Supervised
from pigou.mechanisms.base import Mechanism

Rows = NDArray[np.float32]
DIGITS_LOSS = AccuracyLoss(0.21, 40.0)  # what calibrate() measures on the digits task below
DIGITS_SCALE = 0.004  # optimal noise of about 0.1, ten times what a round of training moves


@dataclass(frozen=True)
class Halfway:
    """Every client goes half of the way to a model of ones; nothing to clip."""

    n: int = 5
    dim: int = 40
    clip: float = 1e3

    def initial(self) -> Rows:
        return np.zeros(self.dim, np.float32)

    def train(self, models: Rows) -> tuple[Rows, NDArray[np.float64]]:
        trained = models * np.float32(0.5) + np.float32(0.5)
        return np.repeat(trained[:, None, :], self.n, axis=1), self.loss(models)

    def loss(self, models: Rows) -> NDArray[np.float64]:
        return np.asarray(np.square(models - 1.0).mean(axis=1, dtype=np.float64))

    def accuracy(self, models: Rows) -> NDArray[np.float64]:
        return np.asarray(1.0 / (1.0 + self.loss(models)))


@cache
def digits_task(n: int = 20, samples: int = 70, clip: float = 1.0) -> Supervised:
    """Squared SVM, even against odd, disjoint samples; tested on the rows held out."""
    data = digits()
    split = iid(data, n, np.random.default_rng(1), train=samples, test=samples)
    learner = SquaredSVM(data.dim, 0.01)
    y = learner.targets(data)
    shards = Shards.gather(data.x, y, split.train)
    test = np.unique(np.concatenate(split.test))
    return Supervised(
        learner=learner,
        shards=shards,
        test_x=data.x[test],
        test_y=y[test],
        weights=np.full(n, 1.0 / n),
        clip=clip,
        step_size=1.0 / learner.smoothness(shards.x),
    )


def plan(setting: Setting, mechanism: Mechanism, **parts: Any) -> Plan:
    names = tuple(f"client {i}" for i in range(setting.n))
    given: dict[str, Any] = {"consortium": "club", "run": "run", "clients": names, **parts}
    return Plan(setting=setting, mechanism=mechanism, **given)


def replica(
    setting: Setting,
    mechanism: Mechanism,
    conduct: Conduct,
    alpha: NDArray[np.float64],
    seed: int = 0,
    **parts: Any,
) -> Replica:
    """All clients of one conduct."""
    cohort = Cohort.of(np.arange(setting.n), alpha, conduct, seed=seed)
    return Replica(plan=plan(setting, mechanism, **parts), cohorts=(cohort,), seed=seed)
