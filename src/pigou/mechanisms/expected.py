"""Bills before they happen: expected deviations, charges and refunds (section 3)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pigou.checks import FloatArray, noise_levels
from pigou.errors import TooFewClients, require
from pigou.game import Setting
from pigou.terms import Terms


@dataclass(frozen=True, eq=False)
class ExpectedBills:
    """What each client expects to be charged and refunded over the whole run, in currency."""

    charge: FloatArray
    refund: FloatArray

    @property
    def net(self) -> FloatArray:
        """Charge minus refund: positive where the client owes."""
        return self.charge - self.refund


def expected_deviations(setting: Setting, sigma: ArrayLike) -> FloatArray:
    """E D_i = s_i + u_i + sum_{j != i} s_j / (N - 1)^2, s = sigma^2 + v (section 3)."""
    active = setting.active
    n = setting.n_active
    if n < 2:
        raise TooFewClients("weights", "must be positive for 2 clients or more to compare", n)
    noise = np.where(active, noise_levels("sigma", sigma, setting.n), 0.0)
    require(np.isfinite(noise).all(), "sigma", "must be finite where weight is positive", noise)
    s = np.where(active, np.square(noise) + setting.spread, 0.0)
    deviation = s + setting.divergence + (s.sum() - s) / (n - 1) ** 2
    return np.where(active, deviation, 0.0)


def expected_bills(setting: Setting, terms: Terms, sigma: ArrayLike) -> ExpectedBills:
    """Charges and refunds if everybody whom the terms bill plays sigma, for the run as a whole."""
    if not terms.charge.any():
        return ExpectedBills(np.zeros(setting.n), np.zeros(setting.n))
    here = setting.restricted(terms.active)
    charge = terms.money * terms.charge * expected_deviations(here, sigma)
    if terms.refund == "constant":
        refund = np.where(terms.active, terms.money * terms.constant_refund, 0.0)
    else:
        n = int(np.count_nonzero(terms.active))
        refund = np.where(terms.active, (charge.sum() - charge) / (n - 1), 0.0)
    return ExpectedBills(charge, refund)


def balancing_refund(setting: Setting, price: FloatArray, sigma: FloatArray) -> float:
    """q = (1/N) sum b_i E D_i: the constant refund that balances the budget ex ante (section 3)."""
    if not price.any():
        return 0.0
    return float(price @ expected_deviations(setting, sigma)) / setting.n_active
