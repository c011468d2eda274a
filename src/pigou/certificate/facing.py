"""What the others' noise and the terms leave of each client's own choice, whatever its type.

Nothing here depends on the types: it is what a client would measure by trying. Squares are taken
in units of the largest noise, so that neither tiny nor huge scales under- or overflow.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np

from pigou.checks import FloatArray
from pigou.errors import TooFewClients
from pigou.game import Setting
from pigou.terms import Terms

ROUNDING = 1e-15  # relative: one double operation, and room


@dataclass(frozen=True, eq=False)
class Bills:
    """Expected charge and refund of every client, whole run, in units of cost (section 3)."""

    charge: FloatArray
    refund: FloatArray

    @property
    def net(self) -> FloatArray:
        """Charge minus refund: positive where the client owes."""
        return self.charge - self.refund


@dataclass(frozen=True, eq=False)
class Facing:
    """One row per client, or per case in which one client finds itself."""

    sigma: FloatArray  # the noise it is expected to play
    others: FloatArray  # the error of the aggregate but for one's own noise: own spread included
    weight: FloatArray  # rho
    price: FloatArray  # slope of the expected net bill in the variance of one's own noise
    money: FloatArray  # expected net bill at that noise, and the transfer, in units of cost

    @property
    def fixed(self) -> FloatArray:
        """The money that one's own noise does not move."""
        free = self.price == 0  # where the noise may be infinite
        noise = np.where(free, 0.0, self.sigma)
        return self.money - self.price * noise * noise

    def rows(self, chosen: slice) -> "Facing":
        """Some of the rows."""
        return Facing(*(getattr(self, part.name)[chosen] for part in fields(self)))

    @classmethod
    def stacked(cls, cases: Sequence[Self]) -> Self:
        """All rows of several."""
        columns = ([getattr(case, part.name) for case in cases] for part in fields(cls))
        return cls(*map(np.concatenate, columns))


def facing(setting: Setting, terms: Terms, sigma: FloatArray) -> Facing:
    """What every client faces when everybody else plays ``sigma`` under these terms."""
    played = np.where(terms.active, sigma, np.inf)
    return Facing(
        sigma=played,
        others=_error_without_own(setting, terms, played),
        weight=terms.weights,
        price=net_slopes(terms),
        money=expected_bills(setting, terms, played).net + terms.transfers / terms.money,
    )


def net_slopes(terms: Terms) -> FloatArray:
    """d(expected net bill) / d(variance of one's own noise): b, where the charges are right.

    The others' deviations rise by 1 / (N-1)^2 each, and a share 1 / (N-1) of their charges comes
    back (section 3); a constant refund does not move. Where this agrees with the announced unit
    price to the rounding of the charges, the unit price is the more exact of the two.
    """
    n = int(np.count_nonzero(terms.active))
    if terms.refund == "constant" or n < 3:
        return terms.charge
    back = without_own(terms.charge) / (n - 1) ** 3
    slope = terms.charge - back
    rounding = ROUNDING * (n + 8) * (terms.charge + back)  # sums over n clients round n times
    return np.where(np.abs(slope - terms.unit_price) <= rounding, terms.unit_price, slope)


def expected_bills(setting: Setting, terms: Terms, sigma: FloatArray) -> Bills:
    """b-hat_i E D_i, E D_i = s_i + u_i + sum_{j != i} s_j / (N-1)^2, and refunds (section 3)."""
    active = terms.active
    n = int(np.count_nonzero(active))
    constant = terms.constant_refund if terms.refund == "constant" else 0.0
    if not terms.charge.any():
        return Bills(np.zeros(active.size), np.where(active, constant, 0.0))
    if n < 2:
        raise TooFewClients("terms", "must charge 2 active clients or more: prices compare", n)
    noise, spread = np.where(active, sigma, 0.0), np.where(active, setting.spread, 0.0)
    divergence = np.where(active, setting.divergence, 0.0)
    unit = max(float(noise.max()), float(np.sqrt(max(spread.max(), divergence.max()))))
    unit = unit if 0 < unit < np.inf else 1.0
    s = np.square(noise / unit) + spread / unit / unit
    deviation = s + divergence / unit / unit + without_own(s) / (n - 1) ** 2
    charge = terms.charge * unit * deviation * unit
    if terms.refund == "constant":
        return Bills(charge, np.where(active, constant, 0.0))
    return Bills(charge, np.where(active, without_own(charge) / (n - 1), 0.0))


def without_own(values: FloatArray) -> FloatArray:
    """The sum of all the other entries, added up from both sides so that nothing cancels."""
    before, after = np.zeros(values.size), np.zeros(values.size)
    before[1:] = np.cumsum(values[:-1])
    after[:-1] = np.cumsum(values[:0:-1])[::-1]
    return before + after


def _error_without_own(setting: Setting, terms: Terms, sigma: FloatArray) -> FloatArray:
    """sqrt(sum_{j != i} rho_j^2 sigma_j^2 + sum_j rho_j^2 v_j) of every client."""
    active = terms.active
    noise = terms.weights * np.where(active, sigma, 0.0)
    spread = terms.weights * np.sqrt(setting.spread)
    unlimited = np.isinf(noise)
    noise = np.where(unlimited, 0.0, noise)
    unit = max(float(noise.max()), float(spread.max())) or 1.0
    squares = without_own(np.square(noise / unit)) + float(np.square(spread / unit).sum())
    by_others = np.count_nonzero(unlimited) - unlimited > 0
    return np.where(by_others, np.inf, unit * np.sqrt(squares))
