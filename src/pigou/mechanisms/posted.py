"""A price for everybody that asks nobody anything: the posted price (section 4).

From (2), a client's price depends on its own type only through M_-i, which is close to
(n - 1) E[1 - alpha] whoever the client is. So each round posts

    b_i = (n - 1) mbar psi'(E) rho_i^2 / (2 E),    mbar = 1 - mean_alpha,

with E the error of the aggregate as last round's deviations show it, less what the public
divergence explains. n counts everyone who uses the model. A higher estimate lowers the prices,
which raises the error: the elasticity of the next estimate in this one lies in [0, 1/3], so that
the sequence of prices converges geometrically from any start.

``mean_alpha`` is all that is assumed. That a client's noise moves the next round's estimate, and
so the next round's prices, is not priced: its share of the estimate is about 1/N.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pigou.checks import BoolArray, FloatArray, count, is_number, non_negative, number
from pigou.errors import Degenerate, InvalidArgument, require
from pigou.game import Game, Setting
from pigou.mechanisms.base import Contract, arrived
from pigou.mechanisms.billing import error_estimate
from pigou.mechanisms.expected import expected_deviations
from pigou.mechanisms.pigouvian import balancing, marginal_harm
from pigou.solve import equilibrium, optimum
from pigou.terms import Terms


@dataclass(frozen=True, eq=False)
class Path:
    """Rounds of best responses to a posted price, one row per round."""

    price: FloatArray  # (rounds, n): b as posted
    error: FloatArray  # Delta as played; the next round's estimate
    ratio: FloatArray  # social cost over the optimum for the same weights


@dataclass(frozen=True)
class PostedPrice(Contract):
    """Never sees a type; ``Terms.error`` carries the estimate from one round to the next."""

    mean_alpha: float = 0.5

    name = "posted"
    report_space = None

    def __post_init__(self) -> None:
        super().__post_init__()
        inside = is_number(self.mean_alpha) and 0 <= self.mean_alpha < 1
        require(inside, "mean_alpha", "must lie in [0, 1)", self.mean_alpha)

    def terms(
        self,
        setting: Setting,
        reports: ArrayLike | None = None,
        present: ArrayLike | None = None,
    ) -> Terms:
        """First terms: the error is the optimum's if every type were mean_alpha. No reports."""
        here = arrived(setting, present)
        if self.mean_alpha == 0 and not here.spread[here.active].any():
            limit = "must be above 0 when spread is 0: no noise, no finite price"
            raise Degenerate("mean_alpha", limit, self.mean_alpha)
        alike = Game(here, np.full(here.n, self.mean_alpha))
        return self._posted(here, optimum(alike).error)

    def revise(self, setting: Setting, terms: Terms, deviations: ArrayLike) -> Terms:
        """The same clients' next prices, for the error that these deviations show."""
        shown = non_negative("deviations", deviations, setting.n)
        here = _of(setting, terms.active)
        return self._posted(here, estimated_error(here, shown, _carried(terms)), shown)

    def adapt(
        self, setting: Setting, terms: Terms, reports: ArrayLike | None, present: ArrayLike
    ) -> Terms:
        """The running estimate, for the clients present: scaled as if all were alike."""
        here = arrived(setting, present)
        scale = float(np.linalg.norm(here.weights) / np.linalg.norm(terms.weights))
        return self._posted(here, _carried(terms) * scale)

    def converge(self, game: Game, rounds: int = 10, start: float | None = None) -> Path:
        """What the rounds come to if clients best-respond and deviations show their expectation.

        A best response here is the client's part of the equilibrium of the current prices: the
        prices are posted before the round, and clients foresee each other's noise under them.
        ``start`` replaces the first terms' error.
        """
        setting = game.setting
        best = optimum(game).social_cost
        if start is None:
            terms = self.terms(setting)
        else:
            terms = self._posted(setting, number("start", start, above_zero=True))
        played = []
        for _ in range(count("rounds", rounds)):
            response = equilibrium(game, terms.unit_price)
            played.append((terms.unit_price, response.error, response.social_cost / best))
            shown = expected_deviations(setting, response.sigma)
            terms = self.revise(setting, terms, shown)
        price, error, ratio = zip(*played, strict=True)
        return Path(np.array(price), np.array(error), np.array(ratio))

    def _posted(self, setting: Setting, error: float, shown: FloatArray | None = None) -> Terms:
        """Terms for an error of the aggregate; ``shown`` are the deviations that told it."""
        others_weight = np.full(setting.n, (setting.n - 1) * (1.0 - self.mean_alpha))
        price = marginal_harm(setting, others_weight, error)
        return Terms(
            mechanism=self.name,
            weights=setting.weights,
            unit_price=price,
            rounds=self.rounds,
            money=self.money,
            refund=self.refund,
            constant_refund=self._constant_refund(setting, price, error, shown),
            error=error,
        )

    def _constant_refund(
        self, setting: Setting, price: FloatArray, error: float, shown: FloatArray | None
    ) -> float:
        """q of section 3: what last round's deviations would cost, or equal ones if none are."""
        if shown is not None and self.refund == "constant":
            return float(price @ shown) / setting.n_active
        noise = error**2 / float(setting.weights @ setting.weights) - setting.spread
        return balancing(self.refund, setting, price, np.sqrt(np.maximum(noise, 0.0)))


def estimated_error(setting: Setting, deviation: FloatArray, last: float) -> float:
    """The error that one round's deviations show; the last one stays where they show none."""
    found = error_estimate(setting, setting.weights, deviation)
    return last if found is None else found


def _carried(terms: Terms) -> float:
    if terms.error is None:
        raise InvalidArgument("terms", "must carry the error that they are posted for", terms.error)
    return terms.error


def _of(setting: Setting, active: BoolArray) -> Setting:
    """The setting whose weights the terms have: the very same where nobody is absent."""
    return setting if (active == setting.active).all() else setting.restricted(active)
