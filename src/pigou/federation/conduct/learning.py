"""A client that learns: it knows the loss, the announced error and its own bills, not its price.

It plays pairs of rounds: a little more noise and a little less, in random order. How the net bill
differs within a pair, against how the noise variance does, is what more noise costs it in money
(pairs, because trends in the others' noise and in the prices move both rounds alike, and a random
order, because what they do not move alike then cancels over pairs). A running mean over pairs is
its idea of the price. With what it knows of its accuracy and privacy costs this says which noise
would be best for it (theory (1)), and after each pair it goes part of the way, in log noise.
"""

from dataclasses import dataclass, field, replace
from typing import Final, Self

import numpy as np

from pigou.checks import FloatArray, number
from pigou.federation.conduct.base import (
    Outcome,
    Play,
    Truthful,
    View,
    best_response,
    expected_error,
    harm_rate,
    share,
    stationary,
)

LONGEST_MOVE: Final = 0.5  # in log noise, after one pair
FIRST_TYPE: Final = 0.99  # a client that cares for nothing but privacy starts like this one


def nothing() -> FloatArray:
    """No numbers yet."""
    return np.zeros(0)


@dataclass(frozen=True, eq=False)
class Learning(Truthful):
    """What it remembers, per member: the centre in log noise, half a pair, and sums over pairs."""

    start: float = 1.0  # first noise, in units of its best response if nothing were priced
    step: float = 0.1  # half the distance within a pair, in log noise
    rate: float = 0.5  # part of the way to what seems best, per pair
    memory: float = 0.85  # weight of earlier pairs, per pair
    centre: FloatArray = field(default_factory=nothing)
    first: FloatArray = field(default_factory=nothing)  # sign, variance, net bill
    sums: FloatArray = field(default_factory=nothing)  # of dx^2 and dx dy, recent pairs first
    name = "learning"

    def __post_init__(self) -> None:
        super().__post_init__()
        number("start", self.start, above_zero=True)
        number("step", self.step, above_zero=True)
        share("rate", self.rate)
        share("memory", self.memory)

    def play(self, view: View) -> Play:
        """The centre times or over exp(step): a random side first, the other side second."""
        sides = np.where(view.chances("learning") < 0.5, -1.0, 1.0)
        signs = -self.first[0] if self.first.size else sides
        return Play.honest(view, np.exp(self._centre(view) + self.step * signs))

    def learn(self, view: View, play: Play, outcome: Outcome) -> Self:
        """Keep the first round of a pair; after the second, update the price and move."""
        centre = self._centre(view)
        with np.errstate(divide="ignore"):
            sign = np.where(np.log(play.sigma) < centre, -1.0, 1.0)
        now = np.array([sign, np.square(play.sigma), outcome.net * view.announcement.rounds])
        if self.first.size == 0:
            return replace(self, centre=centre, first=now)
        sums = self._summed(now, np.exp(2.0 * centre))
        price = np.divide(sums[1], sums[0], out=np.zeros(centre.size), where=sums[0] > 0)
        moved = centre + self._move(view, np.exp(centre), np.maximum(price, 0.0))
        return replace(self, centre=moved, first=nothing(), sums=sums)

    def _summed(self, now: FloatArray, variance: FloatArray) -> FloatArray:
        """The sums with this pair, whose bills are as noisy as the variance is large."""
        with np.errstate(invalid="ignore", divide="ignore"):
            dx, dy = (now - self.first)[1:] / variance
            new = np.array([dx * dx, dx * dy])
        seen = np.isfinite(new).all(axis=0)  # not where it was absent or not billed
        earlier = self.sums if self.sums.size else np.zeros(new.shape)
        return np.where(seen, self.memory * earlier + np.where(seen, new, 0.0), earlier)

    def _centre(self, view: View) -> FloatArray:
        if self.centre.size:
            return self.centre
        capped = replace(view, alpha=np.minimum(view.alpha, FIRST_TYPE))
        unpriced = best_response(capped, self.belief, np.zeros(view.members.size))
        with np.errstate(divide="ignore"):
            return np.log(self.start * unpriced)

    def _move(self, view: View, sigma: FloatArray, price: FloatArray) -> FloatArray:
        """Part of the way to the noise that theory (1) says is best; none where noise is 0."""
        held = harm_rate(view, expected_error(view, self.belief)) + 2.0 * price
        best = stationary(view.alpha * view.setting.privacy_scale, held)
        with np.errstate(divide="ignore", invalid="ignore"):
            way = np.log(best / sigma)
        way = np.where(sigma > 0, way, 0.0)
        return np.asarray(np.clip(self.rate * way, -LONGEST_MOVE, LONGEST_MOVE))
