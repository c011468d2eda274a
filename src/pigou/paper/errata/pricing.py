"""E4 and E5: the paper's penalty coefficient and its compensation payment."""

# ruff: noqa: RUF001
# The page's Greek letters and signs are meant.

import numpy as np

from pigou.checks import FloatArray
from pigou.game import AccuracyLoss, Game, Setting
from pigou.paper import complete
from pigou.paper.errata import cases
from pigou.paper.errata.record import Cell, Erratum, Table, shown
from pigou.solve import Solution, equilibrium

THREE = (0.2, 0.5, 0.8)
ROUNDS = 20_000  # E5: simulated rounds of scalar uploads
BLOCK = 2_000  # of them drawn at once
SEED = 2302_12735
FINER = 1_000.0  # E5: the same uploads measured in a unit this many times smaller


def coefficient() -> Erratum:
    """E4: beta as printed is right for equal types only."""
    games = [cases.game(np.full(10, 0.5)), cases.game(THREE)]
    games += [cases.half_and_half(n) for n in (10, 100)]
    rows, totals = [], []
    for game in games:
        per_type, total = _under_printed_beta(complete.stationary(game))
        rows += per_type
        totals.append(total)
    worst = totals[-1]
    return Erratum(
        number="E4",
        title="The penalty coefficient β",
        where="Definition 4, equation for β_i*",
        claim="β_i* = N² Σ_{j≠i}(1−α_j)α_j cS / (2(N−1)² Σ_i(1−α_i)(σ_i**)³) makes each client "
        "choose σ_i**.",
        finding="It does so only if all types are equal. Client i's first-order condition asks for "
        "β_i = N² α_i cS Σ_{j≠i}(1−α_j) / (2(N−1)² (σ_i**)³ Σ_j(1−α_j)): client i's own α_i and "
        "σ_i**, outside the sums. With the printed one, half and half and N = 100, clients of "
        f"α = 0.25 are charged too much and those of 0.75 too little; the social cost is "
        f"{shown(worst[1])} instead of {shown(worst[2])}.",
        evidence=(
            Table(
                "One client of each type: β as printed and corrected, and the noise that it "
                "chooses at the equilibrium under each, over σ**",
                (
                    "types",
                    "client's α",
                    "β as printed",
                    "β corrected",
                    "noise as printed",
                    "noise corrected",
                ),
                tuple(rows),
            ),
            Table(
                "Social cost at the equilibrium under each β, weights committed at σ**",
                ("types", "β as printed", "β corrected", "at σ**"),
                tuple(totals),
            ),
        ),
        fairness="Presumably a slip of indices: α_j for α_i inside the sum of the numerator, and "
        "(σ_i**)³ drawn into the sum of the denominator. The idea, a price on deviations whose "
        "slope is the marginal harm, is right, and so is the factor N²/(2(N−1)²).",
    )


def compensation() -> Erratum:
    """E5: q as printed neither balances the budget nor has the dimension of a payment."""
    rows = []
    for name, game in (
        ("0.2, 0.5, 0.8", cases.game(THREE)),
        ("the same, uploads in a unit 1,000 times smaller", _rescaled(cases.game(THREE), FINER)),
        ("10 × 0.5", cases.game(np.full(10, 0.5))),
        ("5 × 0.25 and 5 × 0.75", cases.half_and_half(10)),
        ("50 × 0.25 and 50 × 0.75", cases.half_and_half(100)),
    ):
        rows.append((name, *_payments(complete.stationary(game), np.random.default_rng(SEED))))
    (_, charge, printed, _, surplus), (_, _, rescaled, *_) = rows[0], rows[1]
    return Erratum(
        number="E5",
        title="The compensation payment q",
        where="Definition 4, equation for q; Proposition 4 (ex-ante budget balance)",
        claim="q = (2(N−1)²/N) Σβ_i σ_i** gives back what is charged: the budget is balanced in "
        "expectation.",
        finding=f"With three clients it pays back {shown(printed)} for every {shown(charge)} "
        f"charged: the server loses {shown(-surplus)} on each. Nor is it an amount of money: βσ is "
        "a cost per unit of the uploads. In a unit 1,000 times smaller the charges stay what they "
        f"were and q becomes {shown(rescaled)}. Balanced is "
        "q = (1/N) Σβ_i[((N−1)/N)²σ_i² + Σ_{j≠i}σ_j²/N²].",
        evidence=(
            Table(
                "Per client, with the corrected β and everybody at σ**: the average charge in "
                f"{ROUNDS:,} simulated rounds, q as printed and balanced, and what the server "
                "keeps with q as printed",
                ("types", "charge, simulated", "q as printed", "q balanced", "surplus as printed"),
                tuple(rows),
            ),
        ),
        fairness="A square may be missing, and the factor 2(N−1)² looks meant to cancel the one in "
        "β; but with σ² in place of σ the printed q would still be 2N(N−1) times the balanced one "
        "for equal types, and no reading was found that balances. That a constant q, paid whatever "
        "is uploaded, leaves incentives alone and can balance the budget is right.",
    )


def _under_printed_beta(found: Solution) -> tuple[list[tuple[Cell, ...]], tuple[Cell, ...]]:
    """Equilibria under both coefficients, the weights committed at sigma**."""
    n = found.game.setting.n_active
    printed, right = complete.beta_as_printed(found), complete.beta_corrected(found)
    under = [equilibrium(found.game, complete.unit_price(beta, n)) for beta in (printed, right)]
    name = cases.describe(found.game)
    rows: list[tuple[Cell, ...]] = []
    for value, i in zip(*np.unique(found.game.alpha, return_index=True), strict=True):
        noise = [float(at.sigma[i] / found.sigma[i]) for at in under]
        rows.append((name, float(value), float(printed[i]), float(right[i]), *noise))
    return rows, (name, *(at.social_cost for at in under), found.social_cost)


def _payments(found: Solution, rng: np.random.Generator) -> tuple[float, float, float, float]:
    """Simulated charge per client, q as printed, q balanced, and charge minus q as printed."""
    beta = complete.beta_corrected(found)
    charge = _simulated_charge(beta, found.sigma, rng)
    printed, balanced = complete.q_as_printed(found, beta), complete.q_balanced(found, beta)
    return charge, printed, balanced, charge - printed


def _simulated_charge(beta: FloatArray, sigma: FloatArray, rng: np.random.Generator) -> float:
    """The paper's charge beta_i (w_i - mean of all)^2, averaged over clients and rounds."""
    total = 0.0
    for _ in range(ROUNDS // BLOCK):
        uploads = rng.normal(0.0, sigma, (BLOCK, sigma.size))
        away = uploads - uploads.mean(axis=1, keepdims=True)
        total += float(np.square(away).sum(axis=0) @ beta)
    return total / (sigma.size * BLOCK * (ROUNDS // BLOCK))


def _rescaled(game: Game, factor: float) -> Game:
    """The same game, noise and error measured in a unit ``factor`` times smaller."""
    given = game.setting
    loss = AccuracyLoss(given.loss.linear / factor, given.loss.quadratic / factor**2)
    return Game(Setting(given.n, loss, given.privacy_scale * factor), game.alpha)
