"""The three cases of lemmas 1 to 3: what everybody reports, and the noise they then add."""

import math
from enum import Enum

import numpy as np

from pigou.checks import FloatArray
from pigou.fixed_point import closed_form
from pigou.paper.two_types.branch import Outcome, Point, follow, settled
from pigou.paper.two_types.costs import Facing, predicted
from pigou.paper.two_types.pair import HIGH, LOW, Pair, PerType
from pigou.paper.two_types.system import Weights, conditions


class Case(Enum):
    """Who reports what; the values are the report of a low and of a high type, and a number."""

    ALL_LOW = (LOW, LOW, "case 1, all report low")
    ALL_HIGH = (HIGH, HIGH, "case 1, all report high")
    SWAPPED = (HIGH, LOW, "case 2, all misreport")
    TRUTHFUL = (LOW, HIGH, "case 3, all truthful")

    def __init__(self, low: int, high: int, text: str) -> None:
        self.reports, self.text = (low, high), text

    @property
    def weights(self) -> Weights:
        """The rule: the server weights by the noise of the type that it is told of."""
        if self is Case.TRUTHFUL:
            return Weights.TRUTHFUL
        return Weights.SWAPPED if self is Case.SWAPPED else Weights.MEAN


def optimum(pair: Pair) -> Point:
    """Where E[SC] is stationary in the two noise levels, the paper's weights following them (E6b).

    It is followed from the optimum for known types, sigma = K / alpha with n eta low clients for
    sure, while the number of low clients is let stray further and further from n eta, up to the
    binomial that it is.
    """
    mean_care = pair.n * float(pair.probability @ (1.0 - pair.alpha))
    return follow(
        "the optimum with two types",
        lambda spread: conditions(pair, weights=Weights.TRUTHFUL, goal="social", spread=spread),
        _known_types(pair, pair.alpha, mean_care),
    )


def mean_optimum(pair: Pair) -> Point:
    """The one minimum of E[SC] with mean weights."""
    system = conditions(pair, weights=Weights.MEAN, goal="social")
    start = np.log(pair.alpha * pair.privacy_scale) / 3.0
    return settled("the optimum with mean weights", system, start)


def unpriced(pair: Pair) -> Point:
    """Lemma 3 with beta = 0, from its solution for known types, C (1 - alpha) / alpha."""
    what = "the equilibrium without prices"
    if pair.alpha_high == 1.0:
        return Point(what, Outcome.UNLIMITED)
    return follow(
        what,
        lambda spread: conditions(pair, weights=Weights.TRUTHFUL, goal="own", spread=spread),
        _known_types(pair, pair.alpha / (1.0 - pair.alpha), 1.0),
    )


def equilibrium(pair: Pair, case: Case, beta: PerType) -> Point:
    """Lemmas 1 and 2 under prices beta by report.

    Case 1 has one equilibrium. Case 2 is followed from clients who care for nothing but privacy
    and their bill, and come to care for accuracy.
    """
    price = pair.own_share * np.array([beta[report] for report in case.reports])
    start = np.log(pair.alpha * pair.privacy_scale / (2.0 * price)) / 3.0
    if case.weights is Weights.MEAN:
        system = conditions(pair, weights=Weights.MEAN, goal="own", price=price)
        return settled(case.text, system, start)
    return follow(
        case.text,
        lambda interest: conditions(
            pair, weights=case.weights, goal="own", price=price, interest=interest
        ),
        start,
    )


def truthful_equilibrium(pair: Pair, optimum: PerType, exact: PerType, beta: PerType) -> Point:
    """Lemma 3 under any prices: from the optimum, an equilibrium at the exact ones, to beta."""
    first, last = pair.own_share * np.array(exact), pair.own_share * np.array(beta)
    return follow(
        Case.TRUTHFUL.text,
        lambda way: conditions(
            pair, weights=Weights.TRUTHFUL, goal="own", price=(1.0 - way) * first + way * last
        ),
        np.log(np.array(optimum)),
    )


def expected_costs(pair: Pair, case: Case, sigma: PerType, beta: PerType) -> PerType:
    """Of a client of each type, before reward and refund, when everybody plays the case."""
    tau = predicted(case.weights, sigma)
    costs = []
    for kind in (LOW, HIGH):
        facing = Facing.others(pair, tau[kind], tau, sigma)
        costs.append(facing.cost(kind, sigma[kind], beta[case.reports[kind]]))
    return PerType(*costs)


def _known_types(pair: Pair, t: FloatArray, care: float) -> FloatArray:
    """log sigma = log(Delta R / t), Delta^2 psi'(Delta) = a R / care, for n eta low for sure.

    Both closed forms of section 6: R^2 = sum t^2, and t = alpha, care = M at the optimum;
    t = alpha / (1 - alpha), care = 1 at the equilibrium.
    """
    log_norm = 0.5 * math.log(pair.n * float(pair.probability @ np.square(t)))
    log_a = math.log(pair.privacy_scale / care)
    log_error = closed_form(pair.loss, log_a, log_norm / 3.0).log_error
    start: FloatArray = log_error + log_norm - np.log(t)
    return start
