"""The noise audit: what the deviations alone say about each client's noise (sections 3 and 9).

For independent Gaussian noise d D_i / E D_i is chi-square with d degrees of freedom, because
w_i - mean_{j != i} w_j is one Gaussian vector. Over R rounds the sum of those ratios has d R.
E D_i is the client's own target and the public spread and divergence, plus the background: what the
others' noise adds. Where the deviations show another background than was announced, each test takes
the one that speaks for the client: one loud client makes nobody else look loud.

The error rate is for the whole run: the chance that any honest client is ever flagged, shared out
over clients, rounds, the two sides, and the two tests (this round; all rounds so far). It holds if
spread and divergence are known and small beside the noise; where they are misstated, see
docs/explanation/audit.md. Where no target is announced (posted prices, no prices), a client is
compared with the bulk of the others: a heuristic, with no guaranteed error rate.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final

import numpy as np
from scipy.special import gammainc, gammainccinv, gammaincinv, ndtri

from pigou.checks import FloatArray, count, number
from pigou.errors import require
from pigou.game import Setting
from pigou.mechanisms.billing import noise_estimates
from pigou.mechanisms.expected import expected_deviations
from pigou.terms import IntArray, Settlement


class Flag(Enum):
    """What the audit says of a client; the values are the words users read."""

    FINE = "as announced"
    TOO_MUCH = "too much noise"
    TOO_LITTLE = "too little noise"
    NONE = "no noise to be seen"
    UNKNOWN = "not audited"


FLAGS: Final = tuple(Flag)
FINE, TOO_MUCH, TOO_LITTLE, NONE, UNKNOWN = range(len(FLAGS))  # codes: places in FLAGS


@dataclass(frozen=True, kw_only=True)
class AuditRule:
    """How strict the audit is, and whether failing it costs the round's refund (section 9)."""

    family_error: float = 0.01  # chance that any honest client is ever flagged in the run
    bar_refund: bool = False  # only against announced targets

    def __post_init__(self) -> None:
        rate = number("family_error", self.family_error, above_zero=True)
        require(rate < 1, "family_error", "must be below 1", rate)
        whether = isinstance(self.bar_refund, bool)
        require(whether, "bar_refund", "must be True or False", self.bar_refund)


@dataclass(frozen=True, eq=False)
class Evidence:
    """What earlier rounds add up to, per client: sums of D_i / E D_i, and how many rounds.

    Two sums: with the least background, for the test for too little, and with the most.
    """

    least: FloatArray
    most: FloatArray
    rounds: FloatArray

    @classmethod
    def none(cls, n: int) -> "Evidence":
        """Before the first round."""
        return cls(np.zeros(n), np.zeros(n), np.zeros(n))


@dataclass(frozen=True, eq=False)
class Audit:
    """One round's audit, per client; NaN where a client was not compared."""

    estimate: FloatArray  # of sigma_i^2 + v_i + u_i
    low: FloatArray  # chi-square interval of the estimate, with the tests' own tails
    high: FloatArray
    flags: tuple[Flag, ...]
    evidence: Evidence

    def failing(self, *, only_quiet: bool = False) -> list[int]:
        """Clients whose noise is not as announced; only those with too little, if asked."""
        bad = {Flag.TOO_LITTLE, Flag.NONE} | (set() if only_quiet else {Flag.TOO_MUCH})
        return [i for i, flag in enumerate(self.flags) if flag in bad]


def audit(
    rule: AuditRule,
    setting: Setting,
    target: FloatArray | None,
    rounds: int,
    *,
    settlement: Settlement,
    size: int,
    earlier: Evidence,
) -> Audit:
    """Judge one round: ``setting`` is that of the clients billed, ``size`` is d."""
    active = settlement.billed
    n = int(np.count_nonzero(active))
    if n < 3:
        unknown = np.full(active.size, np.nan)
        return Audit(unknown, unknown, unknown, (Flag.UNKNOWN,) * active.size, earlier)
    tail = one_tail(rule.family_error, n, rounds)
    if target is None:
        codes, evidence = _against_the_bulk(settlement, size, tail), earlier
    else:
        codes, evidence = _against_targets(setting, target, settlement, size, tail, earlier)
    flags = tuple(FLAGS[code] for code in np.where(active, codes, UNKNOWN).tolist())
    low, high = _interval(settlement, size, tail)
    return Audit(settlement.noise, low, high, flags, evidence)


def one_tail(family_error: float, n: int, rounds: int = 1) -> float:
    """The share of the family-wise error for one client, one round, one side, and one of the two
    tests (this round, and all rounds so far)."""
    return family_error / (4 * n * rounds)


def detection_power(
    size: int, n: int, family_error: float, excess: float, rounds: int = 1
) -> float:
    """Chance to flag a client without noise in any one round, ``excess`` = (v + u) / sigma^2.

    Its deviation is (excess + background) chi-square_d / d; the threshold is the lower tail of
    (1 + excess + background). For equal clients background = (1 + v / sigma^2) / (N - 1), here as
    if all of the excess were v: the least power.
    """
    background = (1.0 + excess) / (n - 1)
    ratio = (excess + background) / (1.0 + excess + background)
    return flag_chance(size, n, family_error, ratio, rounds)[0]


def flag_chance(
    size: int, n: int, family_error: float, ratio: float, rounds: int = 1
) -> tuple[float, float]:
    """Chances that one round's test finds one client too quiet, and too loud.

    ``ratio`` is the client's true E D_i over what it is held to: 1 if it is honest and the public
    spread and divergence are right.
    """
    above = number("ratio", ratio, above_zero=True)
    low, high = _limits(size, one_tail(family_error, count("n", n, 3), count("rounds", rounds)))
    quiet, not_loud = gammainc(0.5 * size, 0.5 * size * np.array([low, high]) / above)
    return float(quiet), float(1.0 - not_loud)


def _limits(freedom: FloatArray | float, tail: float) -> tuple[FloatArray, FloatArray]:
    """Both tails of chi-square / freedom."""
    half = 0.5 * np.asarray(freedom)
    return gammaincinv(half, tail) / half, gammainccinv(half, tail) / half


def _against_targets(
    setting: Setting,
    target: FloatArray,
    settlement: Settlement,
    size: int,
    tail: float,
    earlier: Evidence,
) -> tuple[IntArray, Evidence]:
    """This round's flags, and the evidence with it."""
    active, deviation = settlement.billed, settlement.deviation
    silent = setting.spread + setting.divergence
    own = silent + np.where(active, np.square(target), 0.0)
    fewest, most = _backgrounds(setting, target, settlement)
    low, high = _ratio(deviation, own + fewest), _ratio(deviation, own + most)
    evidence = Evidence(
        earlier.least + np.where(active, low, 0.0),
        earlier.most + np.where(active, high, 0.0),
        earlier.rounds + active,
    )
    noiseless = _ratio(deviation, silent + most) <= _limits(size, tail)[1]
    codes = _outside(low, high, np.full(active.size, float(size)), tail)
    codes = np.where((codes == TOO_LITTLE) & noiseless, NONE, codes)
    seen = np.maximum(evidence.rounds, 1.0)
    later = _outside(evidence.least / seen, evidence.most / seen, size * seen, tail)
    return np.where(codes == FINE, later, codes), evidence


def _backgrounds(
    setting: Setting, target: FloatArray, settlement: Settlement
) -> tuple[FloatArray, FloatArray]:
    """sum_{j != i} s_j / (N - 1)^2 as announced and as the deviations show it: the smaller and the
    larger of the two."""
    active = settlement.billed
    announced = expected_deviations(setting, target) - setting.divergence
    others = settlement.deviation - setting.divergence
    parts = [values - noise_estimates(values, active) for values in (announced, others)]
    first, second = (np.where(active, np.maximum(part, 0.0), 0.0) for part in parts)
    return np.minimum(first, second), np.maximum(first, second)


def _ratio(deviation: FloatArray, expected: FloatArray) -> FloatArray:
    """D_i / E D_i; 1 where both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(deviation == expected, 1.0, deviation / expected)


def _outside(low: FloatArray, high: FloatArray, freedom: FloatArray, tail: float) -> IntArray:
    """Codes of mean ratios: too low with the least background, or too high with the most."""
    known, where = np.unique(freedom, return_inverse=True)
    lowest, highest = _limits(known, tail)
    codes = np.where(low < lowest[where], TOO_LITTLE, FINE)
    return np.where(high > highest[where], TOO_MUCH, codes)


def _interval(settlement: Settlement, size: int, tail: float) -> tuple[FloatArray, FloatArray]:
    """The estimate plus what d D_i / chi-square leaves open about E D_i."""
    lowest, highest = _limits(size, tail)
    deviation = settlement.deviation
    others = deviation - settlement.noise  # NaN where a client was not compared
    return deviation / highest - others, deviation / lowest - others


def _against_the_bulk(settlement: Settlement, size: int, tail: float) -> IntArray:
    """Too far from the median in log noise, in units of the bulk's own robust spread, or of the
    chi-square's where that is wider."""
    active = settlement.billed
    seen = np.where(active, np.maximum(settlement.noise, np.finfo(float).tiny), np.nan)
    logs = np.log(seen)
    centre = np.nanmedian(logs)
    spread = np.nanmedian(np.abs(logs - centre)) / ndtri(0.75)
    limit = -ndtri(tail) * max(float(spread), np.sqrt(2.0 / size))
    codes = np.where(logs < centre - limit, TOO_LITTLE, FINE)
    return np.where(logs > centre + limit, TOO_MUCH, codes)
