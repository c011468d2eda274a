"""The [population] table: how many clients there are, and the distribution of their types."""

from abc import ABC, abstractmethod
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from pigou.population import (
    Beta,
    Finite,
    Population,
    TruncatedNormal,
    Uniform,
    listed,
    two_point,
)
from pigou.scenario.table import Numbers, Table

MOST_CLIENTS = 10_000_000


class Drawn(Table, ABC):
    """What every population has: the number of clients drawn from it."""

    n: Annotated[int, Field(ge=1, le=MOST_CLIENTS)]

    @abstractmethod
    def build(self) -> Population:
        """The distribution itself."""

    @model_validator(mode="after")
    def _can_be_built(self) -> Self:
        self.build()
        return self


class TwoPointTable(Drawn):
    """Type alpha_low with probability eta, alpha_high otherwise."""

    kind: Literal["two-point"]
    alpha_low: float
    alpha_high: float
    eta: float

    def build(self) -> Population:
        """The distribution itself."""
        return two_point(self.alpha_low, self.alpha_high, self.eta)


class FiniteTable(Drawn):
    """Finitely many types and their probabilities."""

    kind: Literal["finite"]
    types: Numbers
    probabilities: Numbers

    def build(self) -> Population:
        """The distribution itself."""
        return Finite(self.types, self.probabilities)


class ListedTable(Drawn):
    """The types of a list, each as likely as it is frequent there."""

    kind: Literal["listed"]
    values: Numbers

    def build(self) -> Population:
        """The distribution itself."""
        return listed(self.values)


class TruncatedNormalTable(Drawn):
    """A normal distribution, given that it falls between low and high."""

    kind: Literal["truncated-normal"]
    mean: float
    sd: float
    low: float = 0.0
    high: float = 1.0

    def build(self) -> Population:
        """The distribution itself."""
        return TruncatedNormal(self.mean, self.sd, self.low, self.high)


class UniformTable(Drawn):
    """Equally likely anywhere from low to high."""

    kind: Literal["uniform"]
    low: float = 0.0
    high: float = 1.0

    def build(self) -> Population:
        """The distribution itself."""
        return Uniform(self.low, self.high)


class BetaTable(Drawn):
    """The beta distribution with parameters a and b."""

    kind: Literal["beta"]
    a: float
    b: float

    def build(self) -> Population:
        """The distribution itself."""
        return Beta(self.a, self.b)


PopulationTable = Annotated[
    TwoPointTable | FiniteTable | ListedTable | TruncatedNormalTable | UniformTable | BetaTable,
    Field(discriminator="kind"),
]
