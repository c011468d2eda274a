"""What a client is told before it joins: its bill and its spread, and what privacy is left."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.stats import norm

from pigou.checks import FloatArray
from pigou.errors import InvalidArgument, NotApplicable
from pigou.federation.local import begin
from pigou.game import Setting
from pigou.mechanisms.billing import expected_bills, expected_deviations
from pigou.runs.arms import arms
from pigou.runs.preparing import Ready
from pigou.solve import equilibrium
from pigou.terms import Terms

COVERAGE: Final = 0.999


@dataclass(frozen=True, kw_only=True)
class Quote:
    """One client's prospects if everybody plays the terms' noise; money in units of currency."""

    client: str
    mechanism: str
    rounds: int
    currency: str
    sigma: float
    charge: float
    refund: float
    transfer: float  # charged once, for the reports
    low: float  # of the net bill, transfer included: ``COVERAGE`` of all runs fall within
    high: float
    delta: float
    epsilon: float  # exact, after all rounds
    paper_epsilon: float
    uploads: int  # how many rounds its epsilon cap lets it upload

    @property
    def net(self) -> float:
        """What the client expects to owe; negative: to receive."""
        return self.charge - self.refund + self.transfer


def quote(ready: Ready, client: str) -> Quote:
    """The quote for one client of a prepared run."""
    names = ready.scenario.clients
    if client not in names:
        raise InvalidArgument("client", f"must be one of {_listed(names)}", client)
    priced = [arm for arm in arms(ready) if arm.name == "priced"]
    if not priced:
        raise NotApplicable("mechanism", "must price something to be quoted", "unpriced")
    arm = priced[0]
    opened = begin(ready.task, arm.replica).coordinator
    if opened.terms is None:
        raise NotApplicable("mechanism", f"must have terms to be quoted: {opened.stopped}", None)
    terms, here = opened.terms, names.index(client)
    sigma = equilibrium(arm.game, terms.unit_price).sigma if terms.sigma is None else terms.sigma
    bills = expected_bills(ready.setting, terms, sigma)
    transfer = float(terms.transfers[here])
    net = float(bills.net[here]) + transfer
    reach = float(norm.isf((1.0 - COVERAGE) / 2.0))
    reach *= net_deviation(ready.setting, terms, sigma, ready.task.dim, here)
    delta, rounds = ready.scenario.privacy.delta, terms.rounds
    account = ready.account.after(float(sigma[here]), rounds)
    return Quote(
        client=client,
        mechanism=terms.mechanism,
        rounds=rounds,
        currency=ready.scenario.mechanism.currency,
        sigma=float(sigma[here]),
        charge=float(bills.charge[here]),
        refund=float(bills.refund[here]),
        transfer=transfer,
        low=net - reach,
        high=net + reach,
        delta=delta,
        epsilon=account.epsilon(delta),
        paper_epsilon=account.paper_bound(delta).epsilon,
        uploads=_uploads(ready.cap, float(sigma[here]), rounds),
    )


def net_deviation(
    setting: Setting, terms: Terms, sigma: FloatArray, dim: int, client: int
) -> float:
    """Standard deviation of a client's net bill of the whole run, in currency (section 3).

    With m_j the comparison of j with the others' mean and c what each deviation costs this client,
    the bill is a quadratic form in the noise: its variance is 2 / (d T) sum c_j c_k G_jk^2, where
    G_jk is the covariance of m_j and m_k. The square terms alone are section 3's approximation. The
    divergence is no noise; counted as if it were, it errs on the wide side.
    """
    active = terms.active
    if not terms.charge.any() or not active[client]:
        return 0.0
    n = int(np.count_nonzero(active))
    own = int(np.count_nonzero(active[:client]))
    costs = terms.money * terms.charge[active]
    share = costs / (n - 1) if terms.refund == "zero-sum" else np.zeros(n)
    c = -share
    c[own] = costs[own]
    s = (np.square(sigma) + setting.spread)[active]
    diagonal = expected_deviations(setting.restricted(active), sigma)[active]  # G_jj = E D_j
    # Off the diagonal G_jk = p - q (s_j + s_k), whose squares sum in one pass.
    p, q = s.sum() / (n - 1) ** 2, n / (n - 1) ** 2
    c0, c1, c2 = c.sum(), c @ s, c @ np.square(s)
    every = (p * c0) ** 2 + 2.0 * q * q * (c0 * c2 + c1 * c1) - 4.0 * p * q * c0 * c1
    own_terms = np.square(c) @ (np.square(diagonal) - np.square(p - 2.0 * q * s))
    return math.sqrt(2.0 * max(0.0, float(every + own_terms)) / (dim * terms.rounds))


def _uploads(cap: float, sigma: float, rounds: int) -> int:
    """How many uploads with this noise stay within the cap on their sum of 1 / sigma^2."""
    if math.isinf(cap) or cap * sigma**2 >= rounds:
        return rounds
    return math.floor(cap * sigma**2)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
