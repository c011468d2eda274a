"""One client's cost as a function of its own noise, and how it changes, without cancellation.

    f(s) = E[omega psi(sqrt(A^2 + rho^2 s^2))] + g / s + p s^2

in each row: omega = 1 - alpha, g = alpha a, A the error that others make, p the net slope of the
bill. A row is a client, a report of one, or a type that does not know the others' types: then the
expectation is over several states of A and rho.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pigou.certificate.facing import Facing
from pigou.checks import FloatArray
from pigou.game import AccuracyLoss

Rows = NDArray[np.intp] | slice
CERTAIN = np.ones(1)
CERTAIN.flags.writeable = False


@dataclass(frozen=True, eq=False)
class Stakes:
    """f in every row; ``others`` and ``weight`` have one column per state."""

    linear: FloatArray  # omega times the loss's coefficients
    quadratic: FloatArray
    privacy: FloatArray  # g
    others: FloatArray  # A
    weight: FloatArray  # rho
    price: FloatArray  # p
    chance: FloatArray  # of each state, the same in all rows

    @classmethod
    def of(cls, loss: AccuracyLoss, alpha: FloatArray, scale: float, faced: Facing) -> Self:
        """One row per client of what it faces, its type given."""
        minds = alpha < 1.0  # where nobody minds the error it may be infinite: leave it out
        omega = 1.0 - alpha
        return cls(
            linear=omega * loss.linear,
            quadratic=omega * loss.quadratic,
            privacy=alpha * scale,
            others=np.where(minds, faced.others, 1.0)[:, None],
            weight=np.where(minds, faced.weight, 0.0)[:, None],
            price=faced.price,
            chance=CERTAIN,
        )

    def pooled(self, chance: FloatArray) -> "Stakes":
        """One row of which the rows, all of one type, are the states: none is known before."""
        return Stakes(
            linear=self.linear[:1],
            quadratic=self.quadratic[:1],
            privacy=self.privacy[:1],
            others=self.others.T,
            weight=self.weight.T,
            price=np.atleast_1d(self.price @ chance),
            chance=chance,
        )

    def rows(self, chosen: Rows) -> "Stakes":
        """Some of the rows."""
        names = ("linear", "quadratic", "privacy", "others", "weight", "price")
        return replace(self, **{name: getattr(self, name)[chosen] for name in names})

    @property
    def mean_others(self) -> FloatArray:
        """E[A]."""
        return self.others @ self.chance

    @property
    def slope(self) -> FloatArray:
        """What f rises by per unit of noise, far out, for the linear part of the loss."""
        return self.linear * (self.weight @ self.chance)

    @property
    def square(self) -> FloatArray:
        """What f rises by per unit of the square of noise."""
        return self.quadratic * (np.square(self.weight) @ self.chance) + self.price

    def change_from(self, start: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """s -> f(s) - f(start), for positive finite noise where the cost is finite."""
        before = self._error(start)

        def change(sigma: FloatArray) -> FloatArray:
            step, total = sigma - start, sigma + start
            both = before + self._error(sigma)
            moved = (self.weight * step[:, None]) * (self.weight * total[:, None] / both)
            accuracy = self.linear * (moved @ self.chance)
            accuracy += self.quadratic * ((moved * both) @ self.chance)
            return accuracy - self.privacy / sigma * (step / start) + self.price * total * step

        return change

    def rise(self, sigma: FloatArray) -> FloatArray:
        """What f(sigma) is made of besides privacy, less its value without noise."""
        error = self._error(sigma)
        own = self.weight * sigma[:, None]
        moved = own * (own / (error + self.others))
        accuracy = self.linear * (moved @ self.chance)
        accuracy += self.quadratic * (np.square(own) @ self.chance)
        return np.asarray(accuracy + self.price * sigma * sigma)

    def value(self, sigma: FloatArray) -> FloatArray:
        """f at any noise, 0 and infinity included; 0 times infinity counts as 0 (section 1)."""
        error = np.hypot(self.others, _times(self.weight, sigma[:, None]))
        curved = _times(_times(self.quadratic[:, None], error), error) @ self.chance
        accuracy = _times(self.linear, error @ self.chance) + curved
        with np.errstate(divide="ignore", invalid="ignore"):
            privacy = np.where(self.privacy > 0, self.privacy / sigma, 0.0)
            total = accuracy + privacy + _times(_times(self.price, sigma), sigma)
        return np.where(np.isinf(sigma) & (self.square < 0), -np.inf, total)

    def gain(self, obeyed: FloatArray, sigma: FloatArray) -> FloatArray:
        """f(obeyed) - f(sigma); infinite where obedience costs infinitely more."""
        inner = (obeyed > 0) & (obeyed < np.inf) & (sigma > 0) & (sigma < np.inf)
        inner &= np.isfinite(self.mean_others)
        gained = np.zeros(obeyed.size)
        inside = np.flatnonzero(inner)
        if inside.size:
            gained[inside] -= self.rows(inside).change_from(obeyed[inside])(sigma[inside])
        edge = np.flatnonzero(~inner & (obeyed != sigma))
        if edge.size:
            rows = self.rows(edge)
            before, after = rows.value(obeyed[edge]), rows.value(sigma[edge])
            comparable = np.isfinite(before) | np.isfinite(after)
            gained[edge[comparable]] = before[comparable] - after[comparable]
        return gained

    def curvature(self, sigma: FloatArray) -> FloatArray:
        """s^2 f''(s), which is f''(0) where s = 0, and 0 where f is not finite."""
        finite = np.isfinite(sigma) & np.isfinite(self.mean_others)
        s = np.where(finite, sigma, 0.0)
        error = self._error(s)
        size = np.where(s > 0, s, 1.0)[:, None]
        usable = (error > 0) & finite[:, None]
        scale = np.where(usable, error, 1.0)
        theirs = np.where(usable, self.others, 0.0) / scale
        own = self.weight * size / scale
        bend = np.square(theirs) * own * (self.weight * size)
        curved = self.linear * (bend @ self.chance) + 2.0 * self.square * size[:, 0] * size[:, 0]
        privacy = np.where(s > 0, 2.0 * self.privacy / size[:, 0], 0.0)
        return np.where(finite, curved + privacy, 0.0)

    def _error(self, sigma: FloatArray) -> FloatArray:
        return np.hypot(self.others, self.weight * sigma[:, None])


def _times(factor: FloatArray, amount: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):
        return np.where(factor == 0, 0.0, factor * amount)
