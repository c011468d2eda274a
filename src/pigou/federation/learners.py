"""Learners: what an engine may ask, the paper's squared SVM, and logistic regression."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from pigou.checks import FloatArray, count
from pigou.errors import require
from pigou.federation.datasets import Dataset, Features
from pigou.federation.linear import LinearLearner, Models, Numbers
from pigou.federation.shards import Shards, Targets
from pigou.federation.trained import Trained


class Learner(Protocol):
    """R models (R, dim) are evaluated at once; client i's loss is F_i, lambda included."""

    @property
    def dim(self) -> int:
        """Numbers in a model."""

    def initial(self) -> Models:
        """Where training starts: (dim,)."""

    def targets(self, dataset: Dataset) -> Targets:
        """The labels as this learner needs them."""

    def train(self, models: Models, shards: Shards, steps: int, step_size: float) -> Trained:
        """Every client's local steps from each shared model, and F_i at the start for free."""

    def gradients(self, models: Models, shards: Shards) -> Models:
        """Gradients of F_i: (R, clients, dim)."""

    def losses(self, models: Models, shards: Shards) -> FloatArray:
        """F_i: (R, clients)."""

    def accuracy(
        self, models: Models, x: Features, y: Targets, weights: FloatArray | None = None
    ) -> FloatArray:
        """The share of samples that each model gets right: (R,)."""

    def smoothness(self, x: Features, weights: FloatArray | None = None) -> float:
        """L_F of the loss over these samples."""


@dataclass(frozen=True)
class SquaredSVM(LinearLearner):
    """The paper's learner: lambda/2 |w|^2 + 1/2 mean max(0, 1 - y w.x)^2 with y = -1 or 1."""

    curvature: ClassVar[float] = 1.0

    @property
    def outputs(self) -> int:
        return 1

    def targets(self, dataset: Dataset) -> Targets:
        """1 for even labels and -1 for odd ones; of two classes, 1 for the larger label."""
        labels = np.array(dataset.classes)
        positive = labels == labels.max() if labels.size == 2 else labels % 2 == 0
        mixed = bool(positive.any() and not positive.all())
        require(mixed, "classes", "must hold even and odd labels", dataset.classes)
        signs: Targets = np.where(positive, 1.0, -1.0).astype(np.float32)[dataset.y]
        return signs

    def losses_and_slopes(self, scores: Numbers, y: Targets) -> tuple[Numbers, Numbers]:
        """1/2 max(0, 1 - y s)^2 and -y max(0, 1 - y s)."""
        opposite = -y[..., np.newaxis, np.newaxis]
        scores *= opposite
        scores += 1
        np.maximum(scores, 0, out=scores)
        losses = np.square(scores[..., 0])
        losses *= 0.5
        scores *= opposite
        return losses, scores

    def hits(self, scores: Numbers, y: Targets) -> NDArray[np.bool_]:
        """A score of 0 counts as positive."""
        right: NDArray[np.bool_] = (scores[..., 0] >= 0) == (y[..., np.newaxis] > 0)
        return right


@dataclass(frozen=True)
class LogisticRegression(LinearLearner):
    """Multinomial: lambda/2 |w|^2 + mean [log sum_k exp(w_k.x) - w_y.x]."""

    classes: int = 10

    curvature: ClassVar[float] = 0.5  # of diag(p) - p p^T, for any number of classes

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "classes", count("classes", self.classes, least=2))

    @property
    def outputs(self) -> int:
        return self.classes

    def targets(self, dataset: Dataset) -> Targets:
        """The class numbers."""
        held = len(dataset.classes)
        require(held == self.classes, "classes", f"must be the data's {held}", self.classes)
        return dataset.y

    def losses_and_slopes(self, scores: Numbers, y: Targets) -> tuple[Numbers, Numbers]:
        """-log p_y and p - e_y, with p = softmax(s)."""
        which = y[..., np.newaxis, np.newaxis]
        scores -= scores.max(axis=-1, keepdims=True)
        chosen = np.take_along_axis(scores, which, axis=-1)[..., 0]
        np.exp(scores, out=scores)
        totals = scores.sum(axis=-1, keepdims=True)
        losses = np.log(totals[..., 0]) - chosen
        scores /= totals
        own = np.take_along_axis(scores, which, axis=-1)
        np.put_along_axis(scores, which, own - 1, axis=-1)
        return losses, scores

    def hits(self, scores: Numbers, y: Targets) -> NDArray[np.bool_]:
        """The class of the largest score, the first of equals."""
        right: NDArray[np.bool_] = scores.argmax(axis=-1) == y[..., np.newaxis]
        return right
