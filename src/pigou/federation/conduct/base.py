"""How clients behave: what a conduct sees, what it decides, and the protocol of all conducts.

A conduct plays for a group of clients at once (one, in a real federation), so that thousands can
be simulated as arrays. It is frozen: what it learns makes the next conduct.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from pigou.checks import BoolArray, FloatArray, number
from pigou.errors import InvalidArgument, require
from pigou.federation.protocol import Announcement, ReportValue
from pigou.federation.randomness import stream
from pigou.game import Game, Setting
from pigou.solve import equilibrium
from pigou.terms import Interval, Terms

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class View:
    """What the members of a group know before a round: all that is announced, and themselves."""

    announcement: Announcement
    members: Indices  # their places among the run's clients
    alpha: FloatArray  # their true types
    seed: int = 0  # of their own random decisions (not of their noise)

    @property
    def terms(self) -> Terms:
        """The terms of the round; an error before reports have closed."""
        if self.announcement.terms is None:
            raise InvalidArgument("announcement", "must carry terms", None)
        return self.announcement.terms

    @cached_property
    def setting(self) -> Setting:
        """The public setting, with the committed weights."""
        said = self.announcement
        weights = self.terms.weights
        return Setting(
            weights.size, said.loss, said.privacy_scale, weights, said.spread, said.divergence
        )

    def chances(self, purpose: str) -> FloatArray:
        """One uniform number per member, for this attempt at this round and this purpose."""
        said = self.announcement
        repeat = said.attempt - 1  # who was away from a void attempt may come to the next one
        drawn = stream(self.seed, purpose, repeat, said.round).random(len(said.clients))
        return np.asarray(drawn[self.members])


@dataclass(frozen=True, eq=False)
class Play:
    """What the members do in one round."""

    sigma: FloatArray  # noise per coordinate; infinite: nothing worth uploading, so absent
    copies: BoolArray  # upload the global model instead of a trained one
    absent: BoolArray
    noise_of: Indices  # whose noise they add: their own, or a ring's shared one

    @classmethod
    def honest(cls, view: View, sigma: FloatArray) -> Self:
        """Train, add independent noise, upload."""
        return cls(sigma, np.zeros(sigma.size, np.bool_), np.isinf(sigma), view.members)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What the members see after a round: their net bills; NaN where they were not billed."""

    net: FloatArray  # in units of cost, for the share of the run that one round is


class Conduct(Protocol):
    """One way to behave. ``learn`` returns the conduct for the next round."""

    @property
    def name(self) -> str:
        """The name in scenarios and reports."""

    def report(self, view: View) -> list[ReportValue]:
        """What each member reports, where something is asked."""

    def play(self, view: View) -> Play:
        """What each member does this round."""

    def learn(self, view: View, play: Play, outcome: Outcome) -> "Conduct":
        """The conduct after the round's bills."""


@dataclass(frozen=True, eq=False)
class Truthful:
    """Reports the truth and learns nothing: what most conducts build on.

    ``belief`` is what a client takes the others' type to be until an error is announced.
    """

    belief: float = 0.5

    def __post_init__(self) -> None:
        inside = 0 < number("belief", self.belief) < 1
        require(inside, "belief", "must lie between 0 and 1", self.belief)

    def report(self, view: View) -> list[ReportValue]:
        """The true types, and the public spread where it is asked for."""
        return said(view, view.alpha)

    def learn(self, view: View, play: Play, outcome: Outcome) -> Self:
        """Nothing to learn."""
        return self


def said(view: View, alpha: FloatArray) -> list[ReportValue]:
    """Reports of these types in the mechanism's space: in a menu, the nearest type."""
    space = view.announcement.report_space
    if space is None:
        return []
    if isinstance(space, Interval):
        return [float(value) for value in alpha]
    if isinstance(space[0], Interval):
        spread = view.announcement.spread[view.members]
        return [(float(a), float(v)) for a, v in zip(alpha, spread, strict=True)]
    menu = np.array(space, dtype=np.float64)
    return [float(menu[np.argmin(np.abs(menu - value))]) for value in alpha]


def share(name: str, value: float) -> None:
    """Require a number in [0, 1]."""
    require(number(name, value) <= 1, name, "must lie in [0, 1]", value)


def targets(view: View, belief: float) -> FloatArray:
    """The announced target noise; where none is announced, the best response."""
    if view.terms.sigma is not None:
        return np.asarray(view.terms.sigma[view.members])
    return best_response(view, belief)


def scaled(factor: float, sigma: FloatArray) -> FloatArray:
    """A multiple of noise levels; 0 times unlimited noise is none."""
    return factor * sigma if factor > 0 else np.zeros(sigma.size)


def best_response(view: View, belief: float, price: FloatArray | None = None) -> FloatArray:
    """Theory (1) at the expected error: the noise at which one's own cost is stationary.

    Repeated by everybody it is the map T of section 2, whose one fixed point is the equilibrium.
    ``price`` replaces the announced unit prices.
    """
    b = view.terms.unit_price[view.members] if price is None else price
    held = harm_rate(view, expected_error(view, belief)) + 2.0 * b
    return stationary(view.alpha * view.setting.privacy_scale, held)


def stationary(gain: FloatArray, held: FloatArray) -> FloatArray:
    """(gain / held)^(1/3), theory (1): 0 where there is nothing to protect, else unlimited if
    nothing holds it back."""
    with np.errstate(divide="ignore", invalid="ignore"):
        free = np.cbrt(gain / held)
    return np.where(gain > 0, free, 0.0)


def harm_rate(view: View, error: float) -> FloatArray:
    """(1 - alpha_i) rho_i^2 psi'(Delta) / Delta: what own noise costs oneself, in (1)."""
    weight = np.square(view.terms.weights[view.members])
    return np.asarray((1.0 - view.alpha) * weight * view.setting.loss.slope_over_error(error))


def expected_error(view: View, belief: float) -> float:
    """The announced error; before there is one, of the equilibrium if all types were ``belief``."""
    if view.announcement.error is not None:
        return view.announcement.error
    alike = Game(view.setting, np.full(view.setting.n, belief))
    return equilibrium(alike, view.terms.unit_price).error
