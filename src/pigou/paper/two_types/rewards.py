"""Rewards for reports, Proposition 5: r^L and r^H, and the constant refund q.

The paper leaves A_1 to A_4 to a technical report. They are reconstructed as the expected costs
before reward, in case 2 (A_1, A_2) and in case 3 (A_3, A_4), of a low (odd) and of a high type:
the printed r^L and r^H are then the solution of

    Q_2 r^L - Q_1 r^H = A_3 - A_1,      Q_2 r^H - Q_1 r^L = A_4 - A_2,

which make each type indifferent between all telling the truth and all misreporting.
"""

import math
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np

from pigou.errors import Degenerate
from pigou.paper.two_types.cases import Case
from pigou.paper.two_types.counts import Counts
from pigou.paper.two_types.pair import Pair, PerType

SINGULAR = 1e-9  # |Q_2 - Q_1| / (Q_2 + Q_1), below which rounding leaves no digits worth having


class Matches(NamedTuple):
    """Chances that the number of low reports is drawn again by fresh types, p of Bin(N).

    In case 3 with ``truthful``, in case 2 with ``swapped``: the paper's Q_2 and Q_1, if the
    client is low. The paper uses them for the high type too, whose own are others (E8).
    """

    swapped: float
    truthful: float


class BeforeReward(NamedTuple):
    """A_1 to A_4: expected costs before reward."""

    a1: float  # a low type where all misreport
    a2: float  # a high type where all misreport
    a3: float  # a low type where all are truthful
    a4: float  # a high type where all are truthful


class RewardStatus(Enum):
    """Whether the two equations have a solution; the values are the messages."""

    DEFINED = "defined"
    SINGULAR = "the rewards divide by Q2 - Q1 and do not exist"


@dataclass(frozen=True)
class Rewards:
    """r^L and r^H; ``solved`` before the paper's max(., 0)."""

    eta: float
    status: RewardStatus
    paid: PerType | None = None
    solved: PerType | None = None

    def __str__(self) -> str:
        return f"eta = {self.eta:g}: {self.status.value}"

    def required(self) -> PerType:
        """r^L and r^H; a typed error where they do not exist."""
        if self.paid is None:
            raise Degenerate(
                "eta", f"must not be 1/2 or make Q1 = Q2 otherwise: {self.status.value}", self.eta
            )
        return self.paid


def matches(pair: Pair, *, low: bool) -> Matches:
    """Q_1 and Q_2 for a low type, or a high type's own.

    With n others low, a truthful low client makes n + 1 low reports and a truthful high one n;
    where all misreport they are N-1-n and N-n. The latter sums are Vandermonde's: in closed form.
    """
    n, eta = pair.n, pair.eta
    middle = Counts.of(2 * n - 1, 0.5).probability(n)  # C(2N-1, N) / 2^(2N-1)
    unlike = middle * math.exp(n * math.log1p(-((1.0 - 2.0 * eta) ** 2)))  # times (4 eta (1-eta))^N
    chance, number = pair.others.chance, pair.others.number
    if low:
        again = n * eta / (number + 1.0)  # p(n + 1) over the chance of n in Bin(N-1)
        return Matches(unlike / (2.0 * eta), pair.others.mean(chance * again))
    again = n * (1.0 - eta) / (n - number)  # p(n) over the chance of n in Bin(N-1)
    return Matches(unlike / (2.0 * (1.0 - eta)), pair.others.mean(chance * again))


def rewards(eta: float, before: BeforeReward, low: Matches, high: Matches) -> Rewards:
    """r^L and r^H: as printed if ``high`` is ``low``, corrected if it is the high type's own."""
    determinant = low.truthful * high.truthful - low.swapped * high.swapped
    size = low.truthful * high.truthful + low.swapped * high.swapped
    if abs(determinant) <= 2.0 * SINGULAR * size:
        return Rewards(eta, RewardStatus.SINGULAR)
    gain_low, gain_high = before.a3 - before.a1, before.a4 - before.a2
    solved = PerType(
        (high.truthful * gain_low + low.swapped * gain_high) / determinant,
        (high.swapped * gain_low + low.truthful * gain_high) / determinant,
    )
    paid = PerType(max(solved.low, 0.0), max(solved.high, 0.0))
    return Rewards(eta, RewardStatus.DEFINED, paid, solved)


def expected_reward(pair: Pair, case: Case, paid: PerType) -> PerType:
    """What a client of each type is paid on average, where all play the case."""
    if case is Case.ALL_LOW:  # n low reports
        always = paid.low * pair.eta**pair.n
        return PerType(always, always)
    if case is Case.ALL_HIGH:  # none
        never = paid.high * (1.0 - pair.eta) ** pair.n
        return PerType(never, never)
    low, high = matches(pair, low=True), matches(pair, low=False)
    if case is Case.SWAPPED:
        return PerType(paid.high * low.swapped, paid.low * high.swapped)
    return PerType(paid.low * low.truthful, paid.high * high.truthful)


def constant_refund(pair: Pair, sigma: PerType, beta: PerType, paid: PerType) -> float:
    """q: expected penalty minus expected reward of a client, where all are truthful."""
    noise = pair.probability @ np.square(np.array(sigma))
    reward = expected_reward(pair, Case.TRUTHFUL, paid)
    q = 0.0
    for kind, probability in enumerate(pair.probability):
        deviation = pair.own_share * sigma[kind] ** 2 + (pair.n - 1) * float(noise) / pair.n**2
        q += float(probability) * (beta[kind] * deviation - reward[kind])
    return q
