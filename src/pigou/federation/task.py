"""A learning task: a learner, every client's data, and how a client trains for one round."""

from dataclasses import dataclass

import numpy as np

from pigou.checks import FloatArray, count, number
from pigou.errors import require
from pigou.federation.datasets import Features
from pigou.federation.learners import Learner
from pigou.federation.linear import Models
from pigou.federation.shards import Shards, Targets


@dataclass(frozen=True, kw_only=True, eq=False)
class Supervised:
    """What the local engine trains; F = sum rho_i F_i with the setting's weights."""

    learner: Learner
    shards: Shards
    test_x: Features
    test_y: Targets
    weights: FloatArray
    clip: float  # norm that an update is clipped to
    step_size: float
    steps: int = 1  # E, local steps per round

    def __post_init__(self) -> None:
        n = self.shards.clients
        require(len(self.weights) == n, "weights", f"must hold {n} values", len(self.weights))
        number("clip", self.clip, above_zero=True)
        number("step_size", self.step_size, above_zero=True)
        count("steps", self.steps)

    @property
    def n(self) -> int:
        """Clients."""
        return self.shards.clients

    @property
    def dim(self) -> int:
        """Numbers in a model."""
        return self.learner.dim

    def initial(self) -> Models:
        """The model before round 1."""
        return self.learner.initial()

    def train(self, models: Models) -> tuple[Models, FloatArray]:
        """One round of every client from each model, and F of each model."""
        trained = self.learner.train(models, self.shards, self.steps, self.step_size)
        return trained.models, trained.losses @ self.weights

    def loss(self, models: Models) -> FloatArray:
        """F of each model."""
        return np.asarray(self.learner.losses(models, self.shards) @ self.weights)

    def accuracy(self, models: Models) -> FloatArray:
        """The share of test samples that each model gets right."""
        return self.learner.accuracy(models, self.test_x, self.test_y)
