"""What is learnt: a small convolutional network on MNIST, in PyTorch."""

from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pigou.federation.datasets import Dataset, load
from pigou.scenario import Scenario
from pigou.scenario.training import TrainingTable

PIXELS = 28
CLASSES = 10
TRAINING, ALL = 60_000, 70_000  # images of MNIST; the others are its test set
BATCH = 32
STEP_SIZE = 0.05
MOMENTUM = 0.9
SEED = 1


def network() -> nn.Sequential:
    """28,938 numbers; the same ones for everybody."""
    torch.manual_seed(SEED)
    return nn.Sequential(
        nn.Conv2d(1, 16, 5, stride=2, padding=2),
        nn.ReLU(),
        nn.Conv2d(16, 32, 5, stride=2, padding=2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32 * (PIXELS // 4) ** 2, CLASSES),
    )


def partition(contract: Scenario, place: int) -> tuple[Tensor, Tensor]:
    """One client's training images and their digits; clients share none."""
    each = table(contract).train_each
    rows = np.random.default_rng(contract.seed).permutation(TRAINING)
    return _tensors(rows[place * each : (place + 1) * each])


def test_set() -> tuple[Tensor, Tensor]:
    """MNIST's own 10,000 test images."""
    return _tensors(np.arange(TRAINING, ALL))


def table(contract: Scenario) -> TrainingTable:
    """What the contract says about the training."""
    assert contract.training is not None
    return contract.training


def train(model: nn.Module, x: Tensor, y: Tensor, epochs: int, seed: int) -> None:
    """Stochastic gradient descent, in place, in an order that the seed decides."""
    optimiser = torch.optim.SGD(model.parameters(), lr=STEP_SIZE, momentum=MOMENTUM)
    shuffled = torch.Generator().manual_seed(seed)
    model.train()
    for _ in range(epochs):
        for rows in torch.randperm(len(y), generator=shuffled).split(BATCH):
            optimiser.zero_grad()
            nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
            optimiser.step()


def measured(model: nn.Module, x: Tensor, y: Tensor) -> tuple[float, float]:
    """Accuracy and mean loss."""
    model.eval()
    with torch.no_grad():
        scores = torch.cat([model(part) for part in x.split(1000)])
    right = (scores.argmax(dim=1) == y).double().mean()
    return float(right), float(nn.functional.cross_entropy(scores, y))


@cache
def _mnist() -> Dataset:
    return load("mnist")


def _tensors(rows: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
    data = _mnist()
    images = data.x[rows, :-1].reshape(-1, 1, PIXELS, PIXELS)  # without the column of ones
    return torch.from_numpy(images), torch.from_numpy(data.y[rows])
