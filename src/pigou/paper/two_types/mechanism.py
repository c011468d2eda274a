"""The paper's mechanism for private types, as a mechanism like the others."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from pigou.checks import SIMPLEX_TOLERANCE, BoolArray, FloatArray, presence, sensitivities
from pigou.errors import InvalidArgument, NotApplicable, require
from pigou.game import Setting
from pigou.mechanisms.base import Contract
from pigou.paper.two_types.model import TwoTypes
from pigou.paper.two_types.pair import PerType
from pigou.population import Finite, Population
from pigou.terms import RefundRule, Terms


@dataclass(frozen=True, kw_only=True)
class PaperTwoTypes(Contract):
    """MLE weights, beta, rewards and q of the paper's Definition 5, from reports of two types.

    beta^H is the corrected one (E7); rewards are as printed, and at eta = 1/2 do not exist (E8):
    ``rewards=False`` leaves them out, for comparison. Truth is no equilibrium of it (E9).

    Where the rewards exceed the penalties q is negative; it is then charged with the transfers.
    """

    model: TwoTypes
    rewards: bool = True
    refund: RefundRule = "constant"

    name = "paper-two-types"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(isinstance(self.model, TwoTypes), "model", "must be a TwoTypes", self.model)
        constant = self.refund == "constant"
        require(constant, "refund", 'must be "constant": the paper pays q', self.refund)

    @classmethod
    def for_setting(cls, setting: Setting, population: Population, **contract: Any) -> Self:
        """The mechanism for these clients, where their types are drawn from two points."""
        if not isinstance(population, Finite) or len(population.types) != 2:
            raise NotApplicable("population", "must have two types", population)
        low, high = (float(alpha) for alpha in population.types)
        eta = float(population.probabilities[0])
        model = TwoTypes(setting.n, eta, low, high, setting.loss, setting.privacy_scale)
        return cls(model=model, **contract)

    @property
    def report_space(self) -> tuple[float, float]:
        """The menu: the two types."""
        return self.model.alpha_low, self.model.alpha_high

    def terms(
        self,
        setting: Setting,
        reports: ArrayLike | None = None,
        present: ArrayLike | None = None,
    ) -> Terms:
        """Terms for reported types, which must be the model's two."""
        self._require_covered(setting, present)
        low = self._reported_low(reports)
        model = self.model
        sigma = _by_report(low, model.sigma)
        precision = np.square(min(model.sigma) / sigma)
        paid = model.rewards.required() if self.rewards else PerType(0.0, 0.0)
        chance = model.all_clients.probability(int(np.count_nonzero(low)))  # p(N_L reported)
        q = model.constant_refund(rewards=self.rewards)
        charged = max(-q, 0.0) - chance * _by_report(low, paid)
        return Terms(
            mechanism=self.name,
            weights=precision / precision.sum(),
            unit_price=model.own_share * _by_report(low, model.beta_corrected),
            sigma=sigma,
            transfers=self.money * charged,
            rounds=self.rounds,
            money=self.money,
            refund=self.refund,
            constant_refund=max(q, 0.0),
            error=float(min(model.sigma) / np.sqrt(precision.sum())),
        )

    def _require_covered(self, setting: Setting, present: ArrayLike | None) -> None:
        model = self.model
        fits = (setting.n, setting.loss, setting.privacy_scale)
        ours = (model.n, model.loss, model.privacy_scale)
        if fits != ours:
            raise NotApplicable("setting", f"must be the model's, {ours}", fits)
        if np.ptp(setting.weights) * setting.n > SIMPLEX_TOLERANCE:
            raise NotApplicable("weights", "must be equal: clients of one kind", setting.weights)
        for name, value in (("spread", setting.spread), ("divergence", setting.divergence)):
            if value.any():
                raise NotApplicable(name, "must be 0 in the paper's model", value)
        if present is not None and not presence("present", present, setting.n).all():
            raise NotApplicable("present", "must be everyone: no rule for dropouts", present)

    def _reported_low(self, reports: ArrayLike | None) -> BoolArray:
        if reports is None:
            raise InvalidArgument("reports", "must hold one type per client", reports)
        types = sensitivities("reports", reports, self.model.n)
        low: BoolArray = types == self.model.alpha_low
        unknown = types[~low & (types != self.model.alpha_high)]
        menu = f"must all be {self.model.alpha_low!r} or {self.model.alpha_high!r}"
        require(unknown.size == 0, "reports", menu, unknown)
        return low


def _by_report(low: BoolArray, values: PerType) -> FloatArray:
    return np.where(low, values.low, values.high)
