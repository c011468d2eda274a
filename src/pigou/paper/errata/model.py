"""E10 to E13: what the paper's model leaves out or assumes."""

# ruff: noqa: RUF001
# The page's Greek letters and signs are meant.

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr

from pigou.game import Game, Setting
from pigou.mechanisms.expected import expected_bills
from pigou.paper import PaperPricing, complete
from pigou.paper.errata import cases
from pigou.paper.errata.record import Cell, Erratum, Table, percent, shown
from pigou.solve import Solution, equilibrium, optimum

DELTA = 1e-5  # the delta of (epsilon, delta)-differential privacy
C = math.sqrt(2.0 * math.log(1.25 / DELTA))  # the paper's c, at its least
DISTANCE = cases.KAPPA / 16.0  # ||w0 - w*||, from kappa = 16 ||w0 - w*||
LADDER = (0.1, 0.3, 0.5, 0.7, 0.9)
THREE = (0.2, 0.5, 0.8)


def epsilon() -> Erratum:
    """E10: epsilon = cS / sigma is for one release and for epsilon < 1."""
    rows: list[tuple[Cell, ...]] = []
    for game in (cases.game(THREE), cases.half_and_half(10), cases.half_and_half(100)):
        for name, found in (
            ("σ**", complete.stationary(game)),
            ("σ*", complete.equilibrium(game)),
        ):
            rows += _privacy_rows(name, found)
    most = max(rows, key=lambda row: float(row[3]))
    sensitive = _privacy_rows("σ**", complete.stationary(cases.half_and_half(100)))[-1]
    limit = _where_the_bound_fails()
    return Erratum(
        number="E10",
        title="ε = cS/σ outside its range, and for one round only",
        where="Section II-A (Gaussian mechanism and the bound of the privacy loss)",
        claim="Noise σ_i = cS/ε_i gives (ε_i, δ)-differential privacy for ε_i ∈ (0, 1); "
        "cS/σ_i is then taken as the privacy loss of client i for all σ_i > 0.",
        finding="The condition ε < 1 is never imposed, and the paper's own solutions break it "
        f"(up to ε = {shown(most[3])} below). With δ = 10⁻⁵ and the least c, cS/σ promises more "
        f"privacy than there is once it exceeds {shown(limit)}. And it is the loss of one release, "
        "while T rounds release T times: the client with α = 0.75 among 100, at σ**, has "
        f"{shown(sensitive[3])} on paper and {shown(sensitive[6])} after the {sensitive[5]} rounds "
        "of Proposition 1.",
        evidence=(
            Table(
                f"ε at the paper's solutions (δ = 10⁻⁵, c = {shown(C)}, so that "
                f"S = {shown(cases.PRIVACY_SCALE / C)}); exact ε from the analytic Gaussian "
                "mechanism; T = L‖w⁰ − w*‖/Δ of Proposition 1, rounded up",
                (
                    "types",
                    "at",
                    "client's α",
                    "cS/σ",
                    "exact, one round",
                    "T",
                    "exact, T rounds",
                ),
                tuple(rows),
            ),
        ),
        fairness="For one release and ε < 1 the bound holds, with room to spare. As a measure of "
        "privacy loss in a cost function cS/σ does its work beyond that: it falls with the noise, "
        "as the exact loss does. It is only not the ε that a client may be told.",
    )


def uploads() -> Erratum:
    """E11: uploads are vectors, and honest updates differ."""
    finding = (
        "For an upload of d coordinates the squared distance is a sum over d: its slope in σ_i² is "
        "d times what β was made for, and clients hide less than they should (below). Divided by d "
        "the price is right again. And honest updates differ, by their finite data (v_i) and by "
        "what the data are (u_i). Per coordinate, for the deviation D_i from the others' mean, "
        "E D_i = s_i + u_i + Σ_{j≠i}s_j/(N−1)² with s_j = σ_j² + v_j: the slope in σ_i² stays 1, "
        "but the bills move, and a client with unusual data pays for them. With the paper's q, "
        "made for v = u = 0, the server takes in more than it gives back."
    )
    return Erratum(
        number="E11",
        title="Scalars, and clients that all have the same honest update",
        where="Definition 4, (w̃_i − (1/N)Σw̃_j)²",
        claim="The deviation of an upload from the average, squared, comes from the noise alone.",
        finding=finding,
        evidence=(
            Table(
                "10 clients, half and half, weights committed at σ**, corrected β on the sum of d "
                "squared coordinates instead of their mean",
                ("d", "noise over σ**, α = 0.25", "noise over σ**, α = 0.75", "SC over SC(σ**)"),
                _dimensions(cases.half_and_half(10), (1, 10, 1000)),
            ),
            Table(
                "The same 10 clients at σ**, charged per coordinate, q balanced for v = u = 0; "
                "client 0 (α = 0.25) and client 9 (α = 0.75), in units of cost",
                (
                    "v of all",
                    "u of client 9",
                    "slope in σ_9²",
                    "charge, client 0",
                    "charge, client 9",
                    "q",
                    "server keeps, of all charges",
                ),
                _honest_differences(cases.half_and_half(10)),
            ),
        ),
        fairness="The paper writes scalars for simplicity, and the extension is easy. Differences "
        "between honest updates cost somebody money, but they bend nobody's incentives.",
    )


def order_of_noise() -> Erratum:
    """E12: under the MLE rule the most sensitive clients add the least noise."""
    game = cases.game(LADDER)
    star, optimal = complete.equilibrium(game).sigma, complete.stationary(game).sigma
    mean_star, mean_optimal = equilibrium(game).sigma, optimum(game).sigma
    scale = game.setting.privacy_scale
    rows = tuple(
        (
            float(game.alpha[i]),
            float(star[i]),
            float(optimal[i]),
            scale / float(optimal[i]),
            float(mean_star[i]),
            float(mean_optimal[i]),
            scale / float(mean_optimal[i]),
        )
        for i in range(len(LADDER))
    )
    return Erratum(
        number="E12",
        title="Who cares most about privacy gets the least of it",
        where="Proposition 2, solved: σ_i* = C(1−α_i)/α_i and σ_i** = K/α_i",
        claim="(Implied by both formulas; the paper does not remark on it.)",
        finding="Noise falls with the privacy sensitivity, and the privacy loss cS/σ_i** = cSα_i/K "
        f"rises in proportion to it: {shown(rows[-1][3])} for α = {LADDER[-1]} against "
        f"{shown(rows[0][3])} for α = {LADDER[0]}. With committed weights that do not depend on "
        "the types, more sensitive clients add more noise.",
        evidence=(
            Table(
                "Five clients: noise and privacy loss under the MLE rule and with mean weights",
                (
                    "α",
                    "σ*, MLE",
                    "σ**, MLE",
                    "cS/σ**, MLE",
                    "σ*, mean",
                    "optimum, mean",
                    "cS/σ, mean",
                ),
                rows,
            ),
        ),
        fairness="No slip of algebra: the rule gives a client that is expected to add noise less "
        "weight, and its noise then does so little harm that still more of it is right.",
    )


def rounds() -> Erratum:
    """E13: T is announced before Delta is known."""
    columns = ("types", "T at σ**", "T at σ*", "T at the optimum, mean", "T unpriced, mean")
    games = [cases.half_and_half(n) for n in (10, 100)]
    games += [cases.game(np.full(100, alpha)) for alpha in (0.25, 0.75)]
    games.append(cases.game([*np.full(99, 0.5), 0.999]))
    table: list[tuple[Cell, ...]] = [
        (cases.describe(game), *(_rounds_of(found) for found in _four(game))) for game in games
    ]
    _, half, low, high, one = table
    return Erratum(
        number="E13",
        title="T is announced before Δ is known",
        where="Proposition 1 (T = L_F‖w⁰ − w*‖/Δ) and stage I of the game (Section II-B)",
        claim="The bound holds with T = L_F‖w⁰ − w*‖/Δ rounds, and the server announces T in stage "
        "I, before reports and uploads.",
        finding="Δ depends on the noise of stage II. Half and half with 100 clients, T is "
        f"{shown(half[1])} if they obey and {shown(half[2])} if nothing is priced; if the server "
        f"does not know the types it may also be {shown(high[1])} (all 0.75) or {shown(low[1])} "
        f"(all 0.25). With one very sensitive client the unpriced T is {shown(one[2])}, not even "
        "one round: Proposition 1 says nothing about the outcomes that make the price of anarchy "
        "infinite.",
        evidence=(
            Table(
                "T = L‖w⁰ − w*‖/Δ (L = 2, ‖w⁰ − w*‖ = κ/16 = 1) at four outcomes of one game",
                columns,
                tuple(table),
            ),
        ),
        fairness="Under complete information and with clients that play σ** the server can compute "
        "Δ** beforehand. Whatever T is, more rounds at the same noise cost more privacy (E10), "
        "which the model does not count.",
    )


def exact_epsilon(mu: float, delta: float = DELTA) -> float:
    """The least epsilon of a Gaussian release with mu = S / sigma (section 8), to 1e-12 of it.

    delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu).
    """

    def excess(epsilon: float) -> float:
        first = log_ndtr(mu / 2.0 - epsilon / mu)
        second = epsilon + log_ndtr(-mu / 2.0 - epsilon / mu)
        return float(math.exp(first) - math.exp(second)) - delta

    if excess(0.0) <= 0.0:
        return 0.0
    high = mu * mu / 2.0 + mu * math.sqrt(2.0 * math.log(1.0 / delta))
    return float(brentq(excess, 0.0, high, xtol=1e-12, rtol=1e-12))


def _where_the_bound_fails() -> float:
    """The least cS/sigma above which one release loses more than that."""
    mu = brentq(lambda m: exact_epsilon(m) - C * m, 0.1, 10.0, xtol=1e-10)
    return C * float(mu)


def _privacy_rows(name: str, found: Solution) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    times = math.ceil(_rounds_of(found))
    for alpha, i in zip(*np.unique(found.game.alpha, return_index=True), strict=True):
        claimed = found.game.setting.privacy_scale / float(found.sigma[i])
        mu = claimed / C
        after = exact_epsilon(mu * math.sqrt(times))
        rows.append(
            (
                cases.describe(found.game),
                name,
                float(alpha),
                claimed,
                exact_epsilon(mu),
                times,
                after,
            )
        )
    return rows


def _rounds_of(found: Solution) -> float:
    """Proposition 1's T."""
    return cases.SMOOTHNESS * DISTANCE / found.error


def _four(game: Game) -> tuple[Solution, Solution, Solution, Solution]:
    star = complete.stationary(game), complete.equilibrium(game)
    return (*star, optimum(game), equilibrium(game))


def _dimensions(game: Game, sizes: tuple[int, ...]) -> tuple[tuple[Cell, ...], ...]:
    """What clients choose when the price is on the sum of the squares."""
    found = complete.stationary(game)
    price = complete.unit_price(complete.beta_corrected(found), game.setting.n)
    rows: list[tuple[Cell, ...]] = []
    for d in sizes:
        at = equilibrium(found.game, d * price)
        ratio = at.sigma / found.sigma
        cost = at.social_cost / found.social_cost
        rows.append((d, float(ratio[0]), float(ratio[-1]), cost))
    return tuple(rows)


def _honest_differences(game: Game) -> tuple[tuple[Cell, ...], ...]:
    """Expected bills at sigma** when honest updates have spread and one has divergence."""
    model, n = game.setting, game.setting.n
    terms = PaperPricing().terms(model, game.alpha)
    sigma = complete.stationary(game).sigma
    more = sigma * np.where(np.arange(n) == n - 1, 1.1, 1.0)
    rows: list[tuple[Cell, ...]] = []
    for v, u in ((0.0, 0.0), (0.3, 0.0), (0.3, 1.0)):
        divergence = np.where(np.arange(n) == n - 1, u, 0.0)
        real = Setting(n, model.loss, model.privacy_scale, terms.weights, v, divergence)
        bills, other = (expected_bills(real, terms, s) for s in (sigma, more))
        moved = (other.charge[-1] - bills.charge[-1]) / (more[-1] ** 2 - sigma[-1] ** 2)
        slope = float(moved / terms.unit_price[-1])
        first, last = float(bills.charge[0]), float(bills.charge[-1])
        keeps = float(bills.net.sum() / bills.charge.sum())
        rows.append(
            (v, u, slope, first, last, terms.constant_refund, percent(round(keeps, 9) + 0.0))
        )
    return tuple(rows)
