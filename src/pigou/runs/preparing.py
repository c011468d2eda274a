"""From a scenario to something that can be trained: data, learner, and what had to be measured.

Everything that can be wrong with a run shows here, before any round. What comes out holds the
scenario as resolved: no default and no measurement is left open, and it runs the same again.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Self

import numpy as np

from pigou.canonical import digest
from pigou.errors import NotApplicable
from pigou.federation import splits
from pigou.federation.calibration import Calibration, calibrate
from pigou.federation.datasets import Dataset, load
from pigou.federation.heterogeneity import Heterogeneity, heterogeneity
from pigou.federation.learners import LogisticRegression, SquaredSVM
from pigou.federation.linear import LinearLearner
from pigou.federation.shards import Shards
from pigou.federation.splits import Split
from pigou.federation.task import Supervised
from pigou.game import Game, Setting
from pigou.privacy import PrivacyAccount, precision_cap
from pigou.scenario import Scenario, to_plain
from pigou.scenario.table import MEASURED
from pigou.scenario.tables import LossTable
from pigou.scenario.training import TrainingTable

# The generators of a run, each seeded with (seed, its number); 0 draws the clients' types.
SPLIT_STREAM: Final = 1
CALIBRATION_STREAM: Final = 2
HETEROGENEITY_STREAM: Final = 3

NAME_LENGTH: Final = 40
DIGEST_LENGTH: Final = 8

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True, eq=False)
class Ready:
    """A run that can start."""

    scenario: Scenario  # as resolved
    task: Supervised
    setting: Setting
    split: str
    calibration: Calibration | None
    heterogeneity: Heterogeneity | None

    @property
    def game(self) -> Game:
        """The setting and the types: for simulations alone."""
        return Game(self.setting, self.scenario.types())

    @property
    def account(self) -> PrivacyAccount:
        """What every client's privacy account starts from."""
        return PrivacyAccount(self.task.clip, self.scenario.privacy.adjacency)

    @cached_property
    def cap(self) -> float:
        """The epsilon cap as the largest sum of 1 / sigma^2; infinite where there is none."""
        privacy = self.scenario.privacy
        if privacy.epsilon_cap is None:
            return math.inf
        return precision_cap(self.account, privacy.delta, privacy.epsilon_cap)

    @property
    def run(self) -> str:
        """The run's name in statements and ledgers: the same scenario is the same run."""
        letters = [c if c.isalnum() else "-" for c in self.scenario.name.lower()[:NAME_LENGTH]]
        words = "-".join(filter(None, "".join(letters).split("-")))
        return f"{words or 'run'}-{digest(to_plain(self.scenario))[:DIGEST_LENGTH]}"

    def with_seed(self, seed: int) -> Self:
        """The same data and prices, with other types and other noise."""
        return replace(self, scenario=self.scenario.model_copy(update={"seed": seed}))


def quiet(_: str) -> None:
    """Says nothing."""


def prepare(scenario: Scenario, say: Say = quiet) -> Ready:
    """Load and split the data, build the task, and measure what the scenario wants measured."""
    task, split = build_task(scenario)
    say(f"data: {split.message}")
    seed, rounds = scenario.seed, scenario.federation.rounds
    fitted = measured = None
    if scenario.loss.calibrate:
        say("measuring what noise costs ...")
        fitted = calibrate(task, rounds, np.random.default_rng([seed, CALIBRATION_STREAM]))
    if MEASURED in (scenario.federation.spread, scenario.federation.divergence):
        say("measuring how honest updates differ ...")
        rng = np.random.default_rng([seed, HETEROGENEITY_STREAM])
        measured = heterogeneity(task, rounds, rng)
    setting = scenario.setting(
        None if fitted is None else fitted.loss,
        None if measured is None else measured.spread,
        None if measured is None else measured.divergence,
    )
    return Ready(
        scenario=_resolved(scenario, task, setting),
        task=task,
        setting=setting,
        split=split.message,
        calibration=fitted,
        heterogeneity=measured,
    )


def build_task(scenario: Scenario) -> tuple[Supervised, Split]:
    """What is trained, and who holds which data."""
    table, clip = scenario.training, scenario.privacy.clip
    if table is None or clip is None:
        raise NotApplicable("training", "must be given: what is learnt, on which data", None)
    dataset = load(table.data)
    learner = _learner(table, dataset)
    split = _split(scenario, table, dataset)
    weights = scenario.weights
    shards = Shards.gather(dataset.x, learner.targets(dataset), split.train)
    step_size = table.step_size
    if step_size is None:
        rows = splits.row_weights(split.train, len(dataset.x), weights)
        step_size = 1.0 / learner.smoothness(dataset.x, rows)
    tested = np.unique(np.concatenate(split.test))
    task = Supervised(
        learner=learner,
        shards=shards,
        test_x=dataset.x[tested],
        test_y=learner.targets(dataset)[tested],
        weights=weights,
        clip=clip,
        step_size=step_size,
        steps=table.steps,
    )
    return task, split


def _learner(table: TrainingTable, dataset: Dataset) -> LinearLearner:
    if table.learner == "svm":
        return SquaredSVM(dataset.dim, table.regularisation)
    return LogisticRegression(dataset.dim, table.regularisation, len(dataset.classes))


def _split(scenario: Scenario, table: TrainingTable, dataset: Dataset) -> Split:
    rng = np.random.default_rng([scenario.seed, SPLIT_STREAM])
    if table.split == "size":
        sizes = [client.samples or 0 for client in scenario.client]
        return splits.by_size(dataset, sizes, rng, table.test)
    each = (table.train_each, table.test)
    if table.concentration is not None:
        return splits.dirichlet(dataset, scenario.n, table.concentration, rng, *each)
    return splits.iid(dataset, scenario.n, rng, *each)


def _resolved(scenario: Scenario, task: Supervised, setting: Setting) -> Scenario:
    loss, federation, training = scenario.loss, scenario.federation, scenario.training
    assert training is not None
    if loss.calibrate:
        loss = LossTable(linear=setting.loss.linear, quadratic=setting.loss.quadratic)
    measured = {
        name: tuple(getattr(setting, name).tolist())
        for name in ("spread", "divergence")
        if getattr(federation, name) == MEASURED
    }
    filled: dict[str, object] = {"step_size": task.step_size}
    if training.split != "size":
        filled["train"] = training.train_each
    return scenario.model_copy(
        update={
            "loss": loss,
            "privacy": scenario.privacy.model_copy(update={"scale": setting.privacy_scale}),
            "federation": federation.model_copy(update=measured),
            "training": training.model_copy(update=filled),
        }
    )
