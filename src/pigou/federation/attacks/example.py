"""The federation that docs/explanation/limits.md attacks: twenty clients learn digits."""

from typing import Final

import numpy as np

from pigou.federation.attacks.measuring import Scene
from pigou.federation.datasets import digits
from pigou.federation.learners import SquaredSVM
from pigou.federation.shards import Shards
from pigou.federation.splits import iid
from pigou.federation.task import Supervised
from pigou.game import AccuracyLoss, Setting
from pigou.mechanisms.base import Mechanism

CLIENTS: Final = 20
SAMPLES: Final = 70  # each: no two clients hold the same
LOSS: Final = AccuracyLoss(0.21, 40.0)  # what ``calibrate`` measures on this task, in two digits
SCALE: Final = 0.004  # optimal noise of about 0.1, ten times what a round of training moves
SPREAD, DIVERGENCE = 2e-5, 6e-6  # what ``heterogeneity`` measures


def digits_scene(mechanism: Mechanism) -> Scene:
    """Types from 0.1 to 0.9, the middle ones first: attackers are of the middle, then of both ends.

    Squared SVM, even against odd, one local step at 1 / L_F.
    """
    data, seed = digits(), np.random.default_rng(1)
    split = iid(data, CLIENTS, seed, train=SAMPLES, test=SAMPLES)
    learner = SquaredSVM(data.dim)
    labels, tested = learner.targets(data), np.unique(np.concatenate(split.test))
    shards = Shards.gather(data.x, labels, split.train)
    task = Supervised(
        learner=learner,
        shards=shards,
        test_x=data.x[tested],
        test_y=labels[tested],
        weights=np.full(CLIENTS, 1.0 / CLIENTS),
        clip=1.0,
        step_size=1.0 / learner.smoothness(shards.x),
    )
    setting = Setting(CLIENTS, LOSS, SCALE, spread=SPREAD, divergence=DIVERGENCE)
    types = np.linspace(0.1, 0.9, CLIENTS)
    middle_first = np.argsort(np.abs(types - 0.5), kind="stable")
    return Scene(task=task, setting=setting, alpha=types[middle_first], mechanism=mechanism)
