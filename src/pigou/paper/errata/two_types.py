"""E6, E6b and E7: prices and the optimum with two types."""

# ruff: noqa: RUF001
# The page's Greek letters and signs are meant.

from pigou.game import AccuracyLoss
from pigou.paper.errata import cases
from pigou.paper.errata.record import Cell, Erratum, Table, percent
from pigou.paper.two_types import PerType, Reading, TwoTypes

SETTINGS = ((10, 0.5), (10, 0.3), (100, 0.5), (100, 0.3))  # N and eta
LOST = TwoTypes(30, 0.9, 0.2, 0.65, AccuracyLoss.bound(5.0, 4.0), 1.0)
MOST = 40  # E6b: up to this N it is checked where the branch exists


def model(n: int, eta: float) -> TwoTypes:
    """The page's game with n clients, low with probability eta."""
    loss = AccuracyLoss.bound(cases.KAPPA, cases.SMOOTHNESS)
    return TwoTypes(n, eta, cases.LOW, cases.HIGH, loss, cases.PRIVACY_SCALE)


def two_binomials() -> Erratum:
    """E6: p(n) names two binomials, and only that of the lemmas makes beta right."""
    rows: list[tuple[Cell, ...]] = []
    misses: dict[tuple[int, float], float] = {}
    for n, eta in SETTINGS:
        as_lemmas = _misses(model(n, eta), Reading.AS_PRINTED)
        literal = _misses(model(n, eta), Reading.LITERAL)
        signed = [_percents(miss) for miss in (as_lemmas.low, *literal)]
        rows.append((n, eta, *signed))
        misses[n, eta] = abs(literal.low)
    worst, better, many = misses[10, 0.5], misses[10, 0.3], max(misses[100, 0.5], misses[100, 0.3])
    return Erratum(
        number="E6",
        title="One name, p(n), for two binomials",
        where="Lemmas 1 to 3, the paragraph before Proposition 5, and Proposition 5",
        claim="p(n) is the probability of n low types among the other N − 1 clients in the lemmas, "
        "and among all N just before Proposition 5, which gives β^L and β^H in terms of p(n).",
        finding="The β of Proposition 5 needs the p of the lemmas, Bin(N−1, η): then β^L as "
        "printed is exact. Read literally, with Bin(N, η), low types miss σ** by "
        f"{percent(worst)} (N = 10, η = 0.5), {percent(better)} (N = 10, η = 0.3) and by at most "
        f"{percent(many)} at N = 100.",
        evidence=(
            Table(
                "Noise at the truthful equilibrium (lemma 3) over σ**, minus 1, under β with "
                "either p; β^H with the printed N − n, whose own error is E7",
                ("N", "η", "Bin(N−1), σ_L", "Bin(N), σ_L", "Bin(N), σ_H"),
                tuple(rows),
            ),
        ),
        fairness="A slip of notation: the reward does need Bin(N, η), and β is right with the p "
        "that stood in the lemmas. The small rest in the third column is E7, by way of σ_H.",
    )


def several_optima() -> Erratum:
    """E6b: E[SC] has several stationary points, or none on the branch that is meant."""
    rows: list[tuple[Cell, ...]] = []
    for name, at in (
        ("N = 10, η = 0.3", model(10, 0.3)),
        ("N = 10, η = 0.5", model(10, 0.5)),
        ("N = 30, η = 0.3", model(30, 0.3)),
        ("N = 30, η = 0.9; α = 0.2, 0.65, κ = 5, L = 4, a = 1", LOST),
    ):
        for point in at.stationary_points():
            meant = "yes" if point.followed else "no"
            rows.append((name, *point.sigma, point.social_cost, point.kind.value, meant))
    least = [(eta, _least_n(eta)) for eta in (0.1, 0.3, 0.5, 0.7, 0.9)]
    return Erratum(
        number="E6b",
        title="“The” optimum with two types: several stationary points, or none that is meant",
        where="Section IV, before Proposition 5: (σ**(α_L), σ**(α_H)) is “the social optimal noise "
        "level”",
        claim="There is one socially optimal pair of noise levels, the two-type form of the unique "
        "σ** of Proposition 2.",
        finding="Weights follow the noise, and with every number of low types possible E[SC] has "
        "several stationary points. The one that continues σ** = K/α of known types (found by "
        "letting the number of low types stray from Nη by a growing share of its binomial "
        "deviation) is a saddle: along that path the second derivatives keep the signs they have "
        "at σ** (E1). E[SC] is lower at its neighbours, where one type adds almost all the noise. "
        "And it need not exist: with few clients the path folds back, or runs off to infinity, "
        f"before the whole binomial is in. At N = 30, η = 0.9 in the last row it ends at "
        f"{percent(LOST.optimum.reached)} of the way. Where it is gone, no β or reward of the "
        "paper is defined, and `TwoTypes` says so.",
        evidence=(
            Table(
                "Points where E[SC] is stationary, by falling σ_L",
                ("game", "σ_L", "σ_H", "E[SC]", "it is", "continues σ**"),
                tuple(rows),
            ),
            Table(
                f"The least N from which on (up to N = {MOST}) there is a point that continues σ**",
                ("η", "least N"),
                tuple(least),
            ),
        ),
        fairness="The paper shows results for N = 100, where the branch exists for the types of "
        "this page at every η in the table. With weights committed at its values it is the "
        "optimum for them, as with known types.",
    )


def one_too_many() -> Erratum:
    """E7: beta^H counts the client itself among the others it harms."""
    rows: list[tuple[Cell, ...]] = []
    misses: dict[int, float] = {}
    for n, eta in SETTINGS:
        at = model(n, eta)
        miss = _misses(at, Reading.AS_PRINTED).high
        rows.append((n, eta, at.beta_high_as_printed, at.beta_high, _percents(miss)))
        misses[n] = max(misses.get(n, 0.0), abs(miss))
    return Erratum(
        number="E7",
        title="N − n for N − 1 − n in β^H",
        where="Proposition 5, second sum of β^H",
        claim="The second sum of β^H weighs with N − n, the number of high types if the client is "
        "one of them and n others are low.",
        finding="A client's price is its harm to the others, of whom N − 1 − n are high; the "
        "first sums of β^L and β^H count the others rightly. As printed a high type is charged "
        f"for its own loss as well, and adds up to {percent(misses[10])} too little noise at "
        f"N = 10, {percent(misses[100])} at N = 100.",
        evidence=(
            Table(
                "β^H as printed and corrected, and σ_H at the truthful equilibrium under the "
                "printed one, over σ_H**, minus 1",
                ("N", "η", "β^H as printed", "β^H corrected", "σ_H"),
                tuple(rows),
            ),
        ),
        fairness="A slip whose effect falls as 1/N. β^L, whose n is right in both sums, and the "
        "factors (1−η)/η and η/(1−η) are right.",
    )


def _misses(at: TwoTypes, reading: Reading) -> PerType:
    """Relative distance from sigma** of the truthful equilibrium under one reading of beta."""
    low, high = at.truthful_equilibrium(at.beta(reading)).required()
    return PerType(low / at.sigma_low - 1.0, high / at.sigma_high - 1.0)


def _percents(share: float) -> str:
    sign = "−" if share < 0 else "+"
    return f"{sign}{percent(abs(share))}"


def _least_n(eta: float) -> int:
    """The N after the last one at which the branch is lost."""
    return 1 + max(n for n in range(2, MOST + 1) if n == 2 or model(n, eta).optimum.sigma is None)
