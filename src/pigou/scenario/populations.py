"""The [population] tables: a distribution of types, and how many clients are drawn from it."""

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


class Distribution(Table, ABC):
    """What every distribution of types has."""

    @abstractmethod
    def build(self) -> Population:
        """The distribution itself."""

    @model_validator(mode="after")
    def _can_be_built(self) -> Self:
        self.build()
        return self


class TwoPointTable(Distribution):
    """Type alpha_low with probability eta, alpha_high otherwise."""

    kind: Literal["two-point"]
    alpha_low: float
    alpha_high: float
    eta: float

    def build(self) -> Population:
        """The distribution itself."""
        return two_point(self.alpha_low, self.alpha_high, self.eta)


class FiniteTable(Distribution):
    """Finitely many types and their probabilities."""

    kind: Literal["finite"]
    types: Numbers
    probabilities: Numbers

    def build(self) -> Population:
        """The distribution itself."""
        return Finite(self.types, self.probabilities)


class ListedTable(Distribution):
    """The types of a list, each as likely as it is frequent there."""

    kind: Literal["listed"]
    values: Numbers

    def build(self) -> Population:
        """The distribution itself."""
        return listed(self.values)


class TruncatedNormalTable(Distribution):
    """A normal distribution, given that it falls between low and high."""

    kind: Literal["truncated-normal"]
    mean: float
    sd: float
    low: float = 0.0
    high: float = 1.0

    def build(self) -> Population:
        """The distribution itself."""
        return TruncatedNormal(self.mean, self.sd, self.low, self.high)


class UniformTable(Distribution):
    """Equally likely anywhere from low to high."""

    kind: Literal["uniform"]
    low: float = 0.0
    high: float = 1.0

    def build(self) -> Population:
        """The distribution itself."""
        return Uniform(self.low, self.high)


class BetaTable(Distribution):
    """The beta distribution with parameters a and b."""

    kind: Literal["beta"]
    a: float
    b: float

    def build(self) -> Population:
        """The distribution itself."""
        return Beta(self.a, self.b)


class Drawn(Table):
    """How many clients are drawn."""

    n: Annotated[int, Field(ge=1, le=MOST_CLIENTS)]


class TwoPointClients(Drawn, TwoPointTable):
    """Clients of two types."""


class FiniteClients(Drawn, FiniteTable):
    """Clients of finitely many types."""


class ListedClients(Drawn, ListedTable):
    """Clients of listed types."""


class TruncatedNormalClients(Drawn, TruncatedNormalTable):
    """Clients of normally distributed types."""


class UniformClients(Drawn, UniformTable):
    """Clients of evenly distributed types."""


class BetaClients(Drawn, BetaTable):
    """Clients of beta-distributed types."""


DistributionTable = Annotated[
    TwoPointTable | FiniteTable | ListedTable | TruncatedNormalTable | UniformTable | BetaTable,
    Field(discriminator="kind"),
]
PopulationTable = Annotated[
    TwoPointClients
    | FiniteClients
    | ListedClients
    | TruncatedNormalClients
    | UniformClients
    | BetaClients,
    Field(discriminator="kind"),
]
