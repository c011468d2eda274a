"""The tables of a scenario that describe the game and its contract."""

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from pigou.errors import NotApplicable
from pigou.game import AccuracyLoss
from pigou.privacy import PrivacyAccount
from pigou.scenario.behaviour import ConductTable
from pigou.scenario.populations import DistributionTable
from pigou.scenario.registry import MECHANISMS
from pigou.scenario.table import (
    AtLeastOne,
    Measurable,
    NotNegative,
    Positive,
    Share,
    Table,
    Text,
    Weights,
)
from pigou.terms import RefundRule


class LossTable(Table):
    """psi(Delta): the paper's bound (kappa, smoothness), its two coefficients, or measured."""

    kappa: Positive | None = None
    smoothness: Positive | None = None
    linear: NotNegative | None = None
    quadratic: NotNegative | None = None
    calibrate: Literal[True] | None = None

    def build(self) -> AccuracyLoss:
        """The loss itself."""
        if self.calibrate:
            measure = "must be measured first: pigou calibrate"
            raise NotApplicable("loss.calibrate", measure, self.calibrate)
        if self.kappa is not None and self.smoothness is not None:
            return AccuracyLoss.bound(self.kappa, self.smoothness)
        assert self.linear is not None
        assert self.quadratic is not None
        return AccuracyLoss(self.linear, self.quadratic)

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        forms = ({"kappa", "smoothness"}, {"linear", "quadratic"}, {"calibrate"})
        if self.model_fields_set not in forms:
            raise ValueError(
                "must hold either kappa and smoothness, or linear and quadratic, or calibrate"
            )
        if not self.calibrate:
            self.build()
        return self


class PrivacyTable(Table):
    """a = cS, what one unit of privacy loss costs: stated, or the paper's for this sensitivity."""

    scale: Positive | None = None
    clip: Positive | None = None  # C, the norm that an update is clipped to
    delta: Share = 1e-5
    adjacency: Literal["zero-out", "replace"] = "zero-out"
    epsilon_cap: Positive | None = None  # a client stays away rather than exceed it

    @property
    def cost_scale(self) -> float:
        """The scale, or c S with c = sqrt(2 ln(1.25 / delta)) (section 8)."""
        if self.scale is not None:
            return self.scale
        assert self.clip is not None
        one = PrivacyAccount(self.clip, self.adjacency).after(1.0)
        return one.paper_bound(self.delta).epsilon

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        if self.scale is None and self.clip is None:
            raise ValueError("must hold scale, or clip, from which the paper's scale follows")
        if self.epsilon_cap is not None and self.clip is None:
            raise ValueError("must hold clip where epsilon_cap is given")
        return self


class FederationTable(Table):
    """How uploads are averaged, how honest ones differ, and for how many rounds."""

    weights: Weights = "mean"
    spread: Measurable = 0.0
    divergence: Measurable = 0.0
    rounds: AtLeastOne = 1


class MechanismTable(Table):
    """Who pays what, and in which money; what other mechanisms take may stand here too."""

    name: str = "pigouvian"
    refund: RefundRule | None = None  # the mechanism's own: zero-sum, but in the paper's
    money: Positive = 1.0  # units of currency per unit of cost
    currency: Text = "EUR"
    mean_alpha: Annotated[float, Field(ge=0, lt=1)] | None = None  # posted
    report_spread: bool | None = None  # groves
    population: DistributionTable | None = None  # menu, paper-two-types
    points: AtLeastOne | None = None  # menu
    verbatim: bool | None = None  # paper
    rewards: bool | None = None  # paper-two-types

    @field_validator("name")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in MECHANISMS:
            raise ValueError(f"must be one of {', '.join(MECHANISMS)}")
        return name


class Member(Table):
    """Who a client is: its name, its type, and how much data it has."""

    name: Text
    alpha: Annotated[float, Field(ge=0, le=1)]
    samples: Annotated[int, Field(ge=0)] | None = None


class ClientTable(ConductTable, Member):
    """One client: who it is, and how it behaves."""
