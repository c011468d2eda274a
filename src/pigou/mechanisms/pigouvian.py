"""Pigou's tax under complete information: pay the marginal harm of your noise to the others."""

from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from pigou.checks import FloatArray, sensitivities
from pigou.errors import Degenerate, InvalidArgument, TooFewClients
from pigou.game import AccuracyLoss, Game, Setting
from pigou.mechanisms.base import Contract, arrived
from pigou.mechanisms.expected import balancing_refund
from pigou.solve import Solution, optimum
from pigou.terms import Interval, RefundRule, Terms


@dataclass(frozen=True, kw_only=True)
class Pigouvian(Contract):
    """Prices (2) at the optimum of the reported types, which are taken to be true."""

    name = "pigouvian"
    report_space = Interval(0.0, 1.0)

    def terms(
        self,
        setting: Setting,
        reports: ArrayLike | None = None,
        present: ArrayLike | None = None,
    ) -> Terms:
        """Terms under which the optimum is the one equilibrium (section 3)."""
        if reports is None:
            raise InvalidArgument("reports", "must hold one type per client", reports)
        types = sensitivities("reports", reports, setting.n)
        here = arrived(setting, present)
        require_enough(here, self.refund)
        best = optimum(Game(here, types))
        return efficient_terms(self.name, best, self)


def efficient_terms(
    name: str, best: Solution, contract: Contract, transfers: FloatArray | None = None
) -> Terms:
    """Terms that make ``best``, an optimum, the equilibrium."""
    game = best.game
    require_enough(game.setting, contract.refund)
    price = marginal_harm(game.setting, game.others_weight(), best.error)
    return Terms(
        mechanism=name,
        weights=game.setting.weights,
        unit_price=price,
        sigma=best.sigma,
        transfers=np.zeros(0) if transfers is None else transfers,
        rounds=contract.rounds,
        money=contract.money,
        refund=contract.refund,
        constant_refund=balancing(contract.refund, game.setting, price, best.sigma),
        error=best.error,
    )


def balancing(refund: RefundRule, setting: Setting, price: FloatArray, sigma: FloatArray) -> float:
    """q of section 3 where the refund is constant; 0 where it is zero-sum."""
    return balancing_refund(setting, price, sigma) if refund == "constant" else 0.0


def marginal_harm(setting: Setting, others_weight: FloatArray, error: float) -> FloatArray:
    """b_i = M_-i psi'(Delta) rho_i^2 / (2 Delta): price (2)."""
    slope = _slope_over_error(setting.loss, error)
    return np.asarray(setting.weights * (setting.weights * (slope / 2.0)) * others_weight)


def require_enough(setting: Setting, refund: RefundRule) -> None:
    """A deviation is one from others: it takes 2 clients, and 3 where refunds sum to zero."""
    least = 3 if refund == "zero-sum" else 2
    if setting.n_active < least:
        constraint = f"must be positive for {least} clients or more with {refund} refunds"
        raise TooFewClients("weights", constraint, setting.n_active)


def _slope_over_error(loss: AccuracyLoss, error: float) -> float:
    slope = loss.slope_over_error(error) if error > 0 else float("inf")
    if not isfinite(slope):
        raise Degenerate("error", "must be large enough for a finite price", error)
    return slope
