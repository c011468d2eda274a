"""One mechanism, played: what is reported, announced, added and owed.

Clients report truthfully where they are asked; on a menu, the type nearest to theirs. Then they add
the noise that suits each of them, the others' given: the equilibrium of the prices. Where a menu
has everybody's type they play its targets instead: what is best before the others' types are known.
A mechanism that learns from rounds is taken to where it settles.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pigou.checks import FloatArray
from pigou.game import Game, Setting
from pigou.mechanisms import Mechanism, billing
from pigou.mechanisms.expected import ExpectedBills
from pigou.solve import Solution, equilibrium
from pigou.terms import Interval, Reports, Terms

MOST_REVISIONS = 100
SETTLED = 1e-12  # relative change of prices from one round to the next


@dataclass(frozen=True, eq=False)
class Play:
    """What happens under one mechanism."""

    given: Game  # under the scenario's weights
    mechanism: Mechanism
    reports: FloatArray | None
    terms: Terms
    selfish: Solution  # the equilibrium of the terms' weights and prices

    @property
    def game(self) -> Game:
        """The game under the terms' weights."""
        return self.selfish.game

    @property
    def between(self) -> int:
        """How many clients' types are not on the menu."""
        if self.reports is None or not is_menu(self.mechanism.report_space):
            return 0
        return int(np.count_nonzero(self.reports != self.given.alpha))

    @property
    def sigma(self) -> FloatArray:
        """The noise that is played."""
        if self.terms.sigma is None or not is_menu(self.mechanism.report_space) or self.between:
            return self.selfish.sigma
        return self.terms.sigma

    @cached_property
    def error(self) -> float:
        """Of the aggregate."""
        return self.game.error(self.sigma)

    @cached_property
    def costs(self) -> FloatArray:
        """Of every client, before money."""
        return self.game.costs(self.sigma)

    @cached_property
    def social_cost(self) -> float:
        """Their sum."""
        return self.game.social_cost(self.sigma)

    @cached_property
    def bills(self) -> ExpectedBills:
        """Expected charges and refunds of the whole run, in currency."""
        return billing.expected_bills(self.given.setting, self.terms, self.sigma)

    @property
    def owed(self) -> FloatArray:
        """What every client expects to pay in all, transfers included, in currency."""
        return np.asarray(self.bills.net + self.terms.transfers)

    @property
    def reserve(self) -> float:
        """What the reserve expects to receive, in currency."""
        return float(self.owed.sum())


def play(game: Game, mechanism: Mechanism) -> Play:
    """The mechanism among truthful clients."""
    reports = truthful(game, mechanism.report_space)
    terms = mechanism.terms(game.setting, reports=reports)
    selfish = equilibrium(_under(game, terms), terms.unit_price)
    for _ in range(MOST_REVISIONS):
        if not terms.charge.any():
            break
        shown = billing.expected_deviations(selfish.game.setting, selfish.sigma)
        revised = mechanism.revise(game.setting, terms, shown)
        if np.allclose(revised.unit_price, terms.unit_price, rtol=SETTLED, atol=0.0):
            break
        terms, selfish = revised, equilibrium(_under(game, revised), revised.unit_price)
    return Play(game, mechanism, reports, terms, selfish)


def truthful(game: Game, space: Reports | None) -> FloatArray | None:
    """The true reports, or the nearest there are; None where nothing is asked."""
    if space is None:
        return None
    if isinstance(space, Interval):
        return game.alpha
    if not is_menu(space):
        return np.column_stack([game.alpha, game.setting.spread])
    menu = np.array(space, dtype=np.float64)
    return np.asarray(menu[np.abs(game.alpha[:, None] - menu).argmin(axis=1)])


def is_menu(space: Reports | None) -> bool:
    """Whether reports are chosen from a list of types."""
    return isinstance(space, tuple) and not isinstance(space[0], Interval)


def _under(game: Game, terms: Terms) -> Game:
    old = game.setting
    if np.array_equal(terms.weights, old.weights):
        return game
    parts = (old.n, old.loss, old.privacy_scale, terms.weights, old.spread, old.divergence)
    return Game(Setting(*parts), game.alpha)
