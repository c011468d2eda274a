"""The tables that a training needs: what is learnt on which data, and under which house rules."""

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from pigou.errors import require
from pigou.federation.audit import AuditRule
from pigou.federation.plan import Limits
from pigou.federation.splits import SAMPLES
from pigou.scenario.table import AtLeastOne, Positive, Share, Table, Text

MOST_SAMPLES = 10_000_000
Samples = Annotated[int, Field(ge=1, le=MOST_SAMPLES)]


class TrainingTable(Table):
    """What is learnt, on whose data."""

    data: Text = "digits"
    learner: Literal["svm", "logistic"] = "svm"
    regularisation: Positive = 0.01
    steps: AtLeastOne = 1
    step_size: Positive | None = None  # 1 / L_F where it is not given
    split: Literal["iid", "dirichlet", "size"] = "iid"
    concentration: Positive | None = None
    train: Samples | None = None  # SAMPLES, but where clients say their own
    test: Samples = SAMPLES

    @field_validator("data")
    @classmethod
    def _known(cls, data: str) -> str:
        if data not in ("digits", "mnist") and not data.endswith(".npz"):
            raise ValueError('must be "digits", "mnist" or the path of an .npz file')
        return data

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        skewed, given = self.split == "dirichlet", self.concentration is not None
        constraint = 'must be given where split = "dirichlet", and only there'
        require(skewed == given, "concentration", constraint, self.concentration)
        absent = self.train is None or self.split != "size"
        require(absent, "train", 'must not be given where split = "size"', self.train)
        return self

    @property
    def train_each(self) -> int:
        """Training samples of every client, where the split gives all of them as many."""
        return SAMPLES if self.train is None else self.train


class AuditTable(Table):
    """How strict the noise audit is, and whether failing it costs the round's refund."""

    family_error: Share = AuditRule().family_error
    bar_refund: bool = AuditRule().bar_refund

    def build(self) -> AuditRule:
        """The rule itself."""
        return AuditRule(family_error=self.family_error, bar_refund=self.bar_refund)


class LimitsTable(Table):
    """What the server accepts in a round."""

    min_clients: AtLeastOne = Limits().min_clients
    max_attempts: AtLeastOne = Limits().max_attempts
    largest: Positive = Limits().largest

    def build(self) -> Limits:
        """The limits themselves."""
        return Limits(
            min_clients=self.min_clients, max_attempts=self.max_attempts, largest=self.largest
        )
