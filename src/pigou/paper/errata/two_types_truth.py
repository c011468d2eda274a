"""E8 and E9: the paper's rewards, and whether they make truth an equilibrium."""

# ruff: noqa: RUF001
# The page's Greek letters and signs are meant.

from scipy.optimize import brentq

from pigou.paper.errata.record import Cell, Erratum, Table, percent, shown
from pigou.paper.errata.two_types import model
from pigou.paper.two_types import Case, Interim, PerType, TwoTypes
from pigou.paper.two_types.interim import NO_REWARD, ROUNDING
from pigou.paper.two_types.pair import HIGH, LOW
from pigou.paper.two_types.rewards import expected_reward

NEAR = 0.499  # E8: an eta near 1/2, and near the other singularity
ETAS = (0.3, 0.45, 0.49, 0.499, 0.5, 0.501, 0.51, 0.6, 0.8)
SETTINGS = ((10, 0.3), (10, 0.5), (100, 0.3), (100, 0.5), (100, 0.8))


def singular_rewards() -> Erratum:
    """E8: the rewards divide by Q2^2 - Q1^2, which is 0 at eta = 1/2."""
    rewards = [(eta, *_solved(model(100, eta))) for eta in ETAS]
    own = [
        (n, eta, at.q1, at.q1_high, at.q2, at.q2_high)
        for n, eta, at in ((n, eta, model(n, eta)) for n, eta in ((10, 0.3), (10, 0.5), (100, 0.3)))
    ]
    near = next(row for row in rewards if row[0] == NEAR)
    other = _other_root(100)
    return Erratum(
        number="E8",
        title="Rewards that are singular at η = 1/2",
        where="Proposition 5, r^L and r^H",
        claim="r^L = max((Q₂(A₃−A₁) − Q₁(A₂−A₄))/(Q₂²−Q₁²), 0) and the like for r^H make the types "
        "report truthfully; the figure of Section IV has the mechanism at its best at η = 0.5.",
        finding="At η = 1/2 the number of low types is as likely as the number of high ones, so "
        "that Q₁ = Q₂ and both formulas divide by 0: the rewards do not exist at the point of the "
        f"greatest diversity. Nor do they at a second η, {shown(other)} at N = 100. Near both they "
        f"are out of proportion: r^L = {shown(near[3])} at η = {NEAR}, where a client's cost is "
        "about 1. The second one is there because the formulas use the low type's "
        "Q₁ = E[p(N−1−n)] and Q₂ = E[p(n+1)] for the high type too, whose own are E[p(N−n)] and "
        "E[p(n)]. With these only η = 1/2 is singular.",
        evidence=(
            Table(
                "N = 100: solutions of the two equations before max(·, 0), as printed and with "
                "the high type's own Q's",
                ("η", "Q₁", "Q₂", "r^L", "r^H", "r^L corrected", "r^H corrected"),
                tuple(rewards),
            ),
            Table(
                "The Q's of the two types",
                ("N", "η", "Q₁", "Q₁ of the high type", "Q₂", "Q₂ of the high type"),
                tuple(own),
            ),
        ),
        fairness="A₁ to A₄ stand in a technical report that was not available; they are "
        "reconstructed as the expected costs before reward in cases 2 and 3, which reproduces the "
        "printed formulas. Where both solutions are negative, as for many η, max(·, 0) sets the "
        "rewards to 0 and hides how large they are.",
    )


def no_truth() -> Erratum:
    """E9: truth is no equilibrium against a single client's lie, whatever the rewards."""
    bounds: list[tuple[Cell, ...]] = []
    preferences: list[tuple[Cell, ...]] = []
    agreed = 0
    for n, eta in SETTINGS:
        at = model(n, eta)
        mean = at.interim_mean
        middle = PerType((mean.lower + mean.upper) / 2.0, 0.0)
        bounds.append((n, eta, "the paper's", *_verdict(at.interim_mle, _printed(at))))
        bounds.append((n, eta, "mean", *_verdict(mean, middle)))
        preferences += _preferences(n, eta, at)
        agreed += at.comparison.chosen is Case.TRUTHFUL
    first = model(10, 0.3).interim_mle
    lie = first.best_lie()
    return Erratum(
        number="E9",
        title="Truth is not an equilibrium",
        where="Proposition 5 (truthful type reporting), Section IV-B (choice among the cases)",
        claim="The rewards ensure all clients' truthful type reporting: each type's expected cost "
        "is compared between the cases, in which all clients of a type report alike.",
        finding="The comparison is with everybody misreporting at once. What counts for an "
        "equilibrium is one client that lies while the others are truthful. Let C_θ(k) be the "
        "expected cost of a client of type θ that reports k and then plays its best noise. When "
        "types are independent any reward r(α̂) takes the same amount off C_L(k) and C_H(k), so "
        "that truth needs C_L(L) − C_L(H) ≤ C_H(L) − C_H(H). With the paper's weights it is the "
        "other way round in every row: no reward whatever makes both types truthful. At N = 10, "
        f"η = 0.3 a high type that reports low gains {shown(lie.gain)}, {percent(lie.relative)} of "
        "its cost (penalty included). The cause: on the paper's branch the noise falls with the "
        "sensitivity (E12), so that the report of a low type buys a high type the freedom it "
        "wants. With mean weights, their own optimum and their own prices the two are always "
        "compatible, and the menu of the repaired theory pays what lies between. Nor does the "
        f"paper's own comparison favour truth: both types prefer the truthful case in "
        f"{agreed} of the {len(SETTINGS)} settings.",
        evidence=(
            Table(
                "Bounds on t_L − t_H for truth, and the lie that gains most: under the printed "
                "rewards with the paper's weights (before rewards where these do not exist), with "
                "the middle of the bounds paid with mean weights",
                ("N", "η", "weights", "at least", "at most", "the lie that gains most"),
                tuple(bounds),
            ),
            Table(
                "The paper's own comparison: a client's expected cost net of the printed rewards "
                "if all report low, all report high, all misreport or all are truthful",
                ("N", "η", "type", "all low", "all high", "all misreport", "truthful", "prefers"),
                tuple(preferences),
            ),
        ),
        fairness="The prices do what they are for: given true reports, σ** is an equilibrium. The "
        "rewards, before max(·, 0), do make each type indifferent between all being truthful and "
        "all misreporting, which is what they were made for. That the two bounds contradict each "
        "other was found in every one of thousands of random games in which the branch exists; "
        "it is not proved here.",
    )


def _solved(at: TwoTypes) -> tuple[Cell, ...]:
    """The Q's, and the solutions as printed and corrected."""
    found: list[Cell] = [at.q1, at.q2]
    for rewards in (at.rewards, at.rewards_corrected):
        found += rewards.solved or ("none", "none")
    return tuple(found)


def _other_root(n: int) -> float:
    """The eta below 1/2 at which Q1 = Q2 as well."""

    def gap(eta: float) -> float:
        at = model(n, eta)
        return at.q1 - at.q2

    return float(brentq(gap, 0.45, NEAR))


def _printed(at: TwoTypes) -> PerType:
    """Expected printed rewards by report, for one client among truthful ones; 0 if undefined."""
    paid = at.rewards.paid
    return NO_REWARD if paid is None else expected_reward(at, Case.TRUTHFUL, paid)


def _verdict(found: Interim, reward: PerType) -> tuple[Cell, ...]:
    """The bounds, and the lie that gains most under these expected rewards."""
    lie = found.best_lie(reward)
    if lie.relative <= ROUNDING:
        return found.lower, found.upper, "none"
    kind = "a high type reports low" if lie.kind == HIGH else "a low type reports high"
    return found.lower, found.upper, f"{kind}: {shown(lie.gain)}, {percent(lie.relative)}"


def _preferences(n: int, eta: float, at: TwoTypes) -> list[tuple[Cell, ...]]:
    """One row per type: its cost in every case, and the case it prefers."""
    rows: list[tuple[Cell, ...]] = []
    for kind, name in ((LOW, "low"), (HIGH, "high")):
        costs = [at.comparison.costs[case][kind] for case in Case]
        rows.append((n, eta, name, *costs, at.comparison.preferred[kind].text))
    return rows
