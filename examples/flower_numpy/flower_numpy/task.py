"""What is learnt, in NumPy: the paper's squared SVM, even digits against odd ones."""

import numpy as np
from numpy.typing import NDArray

from pigou.federation.datasets import Dataset, load
from pigou.federation.splits import Split, iid
from pigou.scenario import Scenario
from pigou.scenario.training import TrainingTable

REGULARISATION = 0.01
STEP_SIZE = 0.08  # below 1 / L_F, which `pigou calibrate` measures as 11.4

Floats = NDArray[np.float32]


def partition(contract: Scenario, place: int) -> tuple[Floats, Floats]:
    """One client's training samples, and their labels: -1 or 1."""
    data, split = shares(contract)
    rows = split.train[place]
    return data.x[rows], signs(data.y[rows])


def test_set(contract: Scenario) -> tuple[Floats, Floats]:
    """Samples that no client trains on."""
    data, split = shares(contract)
    rows = np.unique(np.concatenate(split.test))
    return data.x[rows], signs(data.y[rows])


def shares(contract: Scenario) -> tuple[Dataset, Split]:
    """Who holds what: everybody computes the same split."""
    task = table(contract)
    data = load(task.data)
    rng = np.random.default_rng(contract.seed)
    return data, iid(data, contract.n, rng, train=task.train_each, test=task.test)


def table(contract: Scenario) -> TrainingTable:
    """What the contract says about the training."""
    assert contract.training is not None
    return contract.training


def signs(digits: NDArray[np.int64]) -> Floats:
    """1 for even digits, -1 for odd ones."""
    return np.where(digits % 2 == 0, 1, -1).astype(np.float32)


def trained(model: Floats, x: Floats, y: Floats, steps: int) -> Floats:
    """Gradient steps on lambda/2 |w|^2 + 1/2 mean max(0, 1 - y w.x)^2."""
    w = model.copy()
    for _ in range(steps):
        lacking = np.maximum(0, 1 - y * (x @ w))
        w -= STEP_SIZE * (REGULARISATION * w - (y * lacking) @ x / len(y))
    return w


def loss(model: Floats, x: Floats, y: Floats) -> float:
    """What is minimised."""
    lacking = np.maximum(0, 1 - y * (x @ model))
    return float(0.5 * REGULARISATION * model @ model + 0.5 * np.square(lacking).mean())


def accuracy(model: Floats, x: Floats, y: Floats) -> float:
    """The share of samples on the right side."""
    return float(np.mean((x @ model >= 0) == (y > 0)))
