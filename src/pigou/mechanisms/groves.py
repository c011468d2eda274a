"""Reports, and truth the best of them whatever the others are: linearised Groves (section 4).

The server takes the reports as true, announces the optimum's noise and the prices (2), and charges
client i once, besides the bills,

    G_i = sum_{j != i} J_j - E[net bill of i if all obey] + h_i(the others' reports).         (3)

What is left of the bills is b_i (sigma_i^2 - target^2): a tangent, from above, of the harm to the
others. So no report and no noise cost a client less than truth and obedience, for any types of the
others, if they are truthful and obedient; coalitions are not covered. Where spread is reported,
what is left is b_i (z - target z) with z = sigma_i^2 + v_i: the same holds for pairs (alpha, v).

Where spread is public it must be right: a wrong one makes lies pay. The transfers are those of
everybody in ``setting``, and stay those when some of them are absent later: ``present`` changes
targets and prices only, so that truth is exactly optimal when everybody arrives.

The transfers do not sum to zero: the reserve takes the rest. It gains a little where weights are
equal (0.03 % of social cost among 100 uniform types), and may gain or lose where they are not.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from pigou.checks import FloatArray, sensitivities, vector
from pigou.errors import InvalidArgument, Shown, require
from pigou.game import Game, Setting
from pigou.mechanisms.base import Contract, arrived
from pigou.mechanisms.expected import expected_bills
from pigou.mechanisms.groves_exchange import cost_without
from pigou.mechanisms.pigouvian import efficient_terms, require_enough
from pigou.solve import Solution, optimum
from pigou.terms import Interval, Reports, Terms

TYPES = Interval(0.0, 1.0)
SPREADS = Interval(0.0, 1e6)  # variances per coordinate: far beyond any that trains a model


@dataclass(frozen=True)
class Groves(Contract):
    """Reports of alpha, or of pairs (alpha, spread) with ``report_spread``."""

    report_spread: bool = False

    name = "groves"

    def __post_init__(self) -> None:
        super().__post_init__()
        whether = isinstance(self.report_spread, bool)
        require(whether, "report_spread", "must be True or False", self.report_spread)

    @property
    def report_space(self) -> Reports:
        """[0, 1], or that times the spreads."""
        return (TYPES, SPREADS) if self.report_spread else TYPES

    def terms(
        self,
        setting: Setting,
        reports: ArrayLike | None = None,
        present: ArrayLike | None = None,
    ) -> Terms:
        """The optimum of the reported types, its prices, and the transfers (3)."""
        require_enough(arrived(setting, present), self.refund)
        best = optimum(self._reported(setting, reports))
        terms = efficient_terms(self.name, best, self)
        everybody = replace(terms, transfers=self._transfers(best, terms))
        return everybody if present is None else self.adapt(setting, everybody, reports, present)

    def adapt(
        self, setting: Setting, terms: Terms, reports: ArrayLike | None, present: ArrayLike
    ) -> Terms:
        """Targets and prices for the clients present; the transfers have been charged."""
        game = self._reported(setting, reports)
        here = arrived(game.setting, present)
        require_enough(here, self.refund)
        return efficient_terms(self.name, optimum(Game(here, game.alpha)), self, terms.transfers)

    def _transfers(self, best: Solution, terms: Terms) -> FloatArray:
        others = best.social_cost - best.costs
        without = cost_without(best, spread_reported=self.report_spread)
        bills = expected_bills(best.game.setting, terms, best.sigma)
        return np.asarray(terms.money * (others - without) - bills.net)

    def _reported(self, setting: Setting, reports: ArrayLike | None) -> Game:
        """The game as reported; a reported spread takes the place of the setting's."""
        if reports is None:
            what = "type and spread" if self.report_spread else "type"
            raise InvalidArgument("reports", f"must hold one {what} per client", reports)
        if not self.report_spread:
            return Game(setting, sensitivities("reports", reports, setting.n))
        alpha, spread = _pairs(reports, setting.n)
        here = Setting(
            setting.n,
            setting.loss,
            setting.privacy_scale,
            setting.weights,
            spread,
            setting.divergence,
        )
        return Game(here, alpha)


def _pairs(reports: ArrayLike, n: int) -> tuple[FloatArray, FloatArray]:
    """Reported types and spreads, from an array of shape (n, 2)."""
    try:
        pairs = np.asarray(reports)
    except (TypeError, ValueError) as error:
        raise InvalidArgument("reports", "must be pairs of numbers", reports) from error
    shape = Shown(f"shape {pairs.shape}")
    require(pairs.shape == (n, 2), "reports", f"must hold {n} pairs, one per client", shape)
    alpha = sensitivities("reports[:, 0]", pairs[:, 0], n)
    spread = vector("reports[:, 1]", pairs[:, 1])
    low, high = float(spread.min()), float(spread.max())
    within = SPREADS.low <= low and high <= SPREADS.high
    limits = f"must lie in [{SPREADS.low:g}, {SPREADS.high:g}]"
    require(within, "reports[:, 1]", limits, low if low < SPREADS.low else high)
    return alpha, spread
