"""E1 to E3: what the paper's MLE rule reaches under complete information."""

# ruff: noqa: RUF001
# The page's Greek letters and signs are meant.

import math

import numpy as np

from pigou.checks import FloatArray
from pigou.game import AccuracyLoss, Game, Setting
from pigou.paper import complete
from pigou.paper.errata import cases
from pigou.paper.errata.record import Cell, Erratum, Table, percent, shown
from pigou.solve import Solution, equilibrium, optimum

SIZES = (2, 3, 10, 100)
DRAWN_SIZES = (2, 3, 4, 5, 10, 30, 100)
DRAWS = 1_000
NUDGE = 0.01  # E2: how much less noise one client adds before weights are re-committed
ALMOST_ALL = 0.999  # E2: of the weight


def saddle() -> Erratum:
    """E1: sigma** is a saddle of the social cost once weights follow the noise."""
    rows = []
    for n in SIZES:
        game = cases.half_and_half(n)
        found, best = complete.stationary(game), complete.one_volunteer(game)
        joint = np.linalg.eigvalsh(_curvature_joint(found))
        fixed = np.linalg.eigvalsh(_curvature_committed(found))
        signs = (int((joint > 0).sum()), int((joint < 0).sum()), int((fixed < 0).sum()))
        ratio = found.social_cost / best.social_cost
        rows.append((n, *signs, found.social_cost, best.social_cost, ratio))
    n, *_, cost, least, ratio = rows[-1]
    return Erratum(
        number="E1",
        title="The “social optimum” is a saddle",
        where="Proposition 2 (equation for σ**), OPT before Definition 3, Proposition 4 (γ = 1)",
        claim="σ** is the unique solution of the first-order conditions and therefore the social "
        "optimum, so that the pricing mechanism reaches γ = 1.",
        finding="The paper's error Δ^MLE = (Σσ_j⁻²)^(−1/2) lets the weights follow the noise. In "
        "x_i = 1/σ_i the second derivatives of the social cost then have the eigenvalue "
        "−Mψ'(Δ)Δ³ < 0, N − 1 times, and one positive eigenvalue: at σ** the social cost falls in "
        "N − 1 directions. The true minimum is one volunteer, the client with the smallest α, "
        f"everybody else adding unlimited noise. At N = {n} it costs {shown(least)} against "
        f"{shown(cost)}: measured against the true optimum γ is {shown(ratio)}, not 1.",
        evidence=(
            Table(
                "Signs of the second derivatives of the social cost SC at σ**, and its true "
                "minimum (half of the clients with α = 0.25, half with 0.75)",
                (
                    "N",
                    "positive",
                    "negative",
                    "negative, weights committed",
                    "SC at σ**",
                    "SC, one volunteer",
                    "true γ of σ**",
                ),
                tuple(rows),
            ),
        ),
        fairness="With weights committed at ρ_i ∝ σ_i**⁻² before the uploads, σ** is the optimum "
        "for these weights (no negative curvature). The volunteer is a degenerate answer, which "
        "comes from honest updates without any spread, and nobody would be left to compare with.",
    )


def free_riding() -> Erratum:
    """E2: sigma* is no equilibrium if weights follow the noise, and unstable if re-committed."""
    games = [cases.game(np.full(n, 0.5)) for n in (2, 3, 4, 10)]
    games += [cases.half_and_half(n) for n in (2, 10, 100)]
    rows = [row for game in games for row in _leaving(complete.equilibrium(game))]
    return Erratum(
        number="E2",
        title="σ* is an equilibrium only if the weights are committed",
        where="Proposition 2 (equation for σ*)",
        claim="Without pricing, σ* is the clients' equilibrium under MLE aggregation.",
        finding="If the weights follow the noise that is actually added, as Δ^MLE says, a client "
        "with less than half of the total precision Σσ_j⁻² (with less than 61.8 % if the loss is "
        "linear) does better with σ_i = ∞: it pays no privacy cost and lives on the others' "
        "uploads. With equal types and N > 3, σ_i* is even a local maximum of the client's own "
        "cost. If instead the server commits weights, sees "
        "the noise, and commits again, every difference in log σ grows by the factor 4/3 each "
        f"time: a client with {percent(NUDGE)} less noise than its equals ends with "
        f"more than {percent(ALMOST_ALL)} of the weight.",
        evidence=(
            Table(
                "One client's own cost at σ* and after leaving (σ_i = ∞), weights following",
                (
                    "types",
                    "client's α",
                    "share of precision",
                    "cost at σ*",
                    "cost at ∞",
                    "σ* is for it",
                ),
                tuple(rows),
            ),
            Table(
                "Weights committed again and again to the observed noise: N = 10, half and half, "
                f"client 0 starting {percent(NUDGE)} below σ*",
                (
                    "times re-committed",
                    "log(σ_1/σ_0)",
                    "factor since the time before",
                    "largest weight",
                ),
                _recommit(cases.half_and_half(10)),
            ),
        ),
        fairness="If the weights are computed from predicted noise and committed, which is one "
        "way to read “predicting any client's strategy”, σ* is the equilibrium for them.",
    )


def mean_beats_mle() -> Erratum:
    """E3: at the optimum the mean rule costs less than the MLE rule."""
    columns = ("optimum, mean", "optimum, MLE", "unpriced, mean", "unpriced, MLE")
    rows = tuple((n, *_four_costs(cases.half_and_half(n))) for n in SIZES)
    best_mean, best_mle, worse_mean, worse_mle = (shown(x) for x in rows[-1][1:])
    rng = np.random.default_rng(20230225)
    draws = tuple(_drawn(n, rng) for n in DRAWN_SIZES)
    return Erratum(
        number="E3",
        title="MLE aggregation costs more than the mean",
        where="Proposition 1 (last sentence), and its use as a guide to the aggregation rule",
        claim="MLE aggregation leads to a smaller convergence bound than mean aggregation, and "
        "should therefore be chosen.",
        finding="At given noise it does. But the clients' noise answers to the rule, and at the "
        f"optimum the mean has the lower social cost: {best_mean} against {best_mle} at N = 100. "
        "That is a theorem, for any loss and any types: at every Δ the least privacy cost is "
        "a(Σα_i^(2/3))^(3/2)/(NΔ) with mean weights and a(Σα_i²)^(1/2)/Δ at the paper's point, "
        "and the first is smaller by the inequality of power means. Without prices the mean is "
        f"better as well ({worse_mean} against {worse_mle}) in every draw with N ≥ 5, but not "
        "always with 2 or 3 clients; with 4 an exception was found, by less than a millionth.",
        evidence=(
            Table("Social cost, half of the clients with α = 0.25", ("N", *columns), rows),
            Table(
                f"{DRAWS:,} random games for each N (α uniform on 0.02 … 0.98; κ over 0.1 … 100, "
                "L and a over 0.1 … 10, log-uniform): in how many the mean costs less, and the "
                "median ratio of MLE to mean",
                ("N", "at the optimum", "median ratio", "unpriced", "median ratio, unpriced"),
                draws,
            ),
            Table(
                "Games in which the MLE rule costs less when unpriced",
                ("types", "loss", "SC of MLE over SC of mean, less 1"),
                _exceptions(),
            ),
            Table(
                "Proposition 1's bound at given noise, N = 100, half and half",
                ("noise", "bound, mean", "bound, MLE"),
                _bounds(cases.half_and_half(100)),
            ),
        ),
        fairness="Proposition 1 itself, which compares the two at the same noise, is right.",
    )


def _slopes(loss: AccuracyLoss, error: float) -> tuple[float, float]:
    """psi'(Delta), psi''(Delta)."""
    return loss.linear + 2.0 * loss.quadratic * error, 2.0 * loss.quadratic


def _curvature_joint(found: Solution) -> FloatArray:
    """Second derivatives of SC in x = 1/sigma when Delta = (sum x^2)^(-1/2)."""
    x, error = 1.0 / found.sigma, found.error
    first, second = _slopes(found.game.setting.loss, error)
    along = 3.0 * first * error**5 + second * error**6
    flat = first * error**3
    hessian = along * np.outer(x, x) - flat * np.eye(x.size)
    return np.asarray(found.game.accuracy_weight * hessian)


def _curvature_committed(found: Solution) -> FloatArray:
    """Second derivatives of SC in sigma when the weights are committed."""
    game, sigma, error = found.game, found.sigma, found.error
    square = game.setting.weights**2
    first, second = _slopes(game.setting.loss, error)
    gradient = square * sigma / error
    bend = np.diag(square) / error - np.outer(gradient, gradient) / error
    privacy = 2.0 * game.setting.privacy_scale * game.alpha / sigma**3
    hessian = first * bend + second * np.outer(gradient, gradient)
    return np.asarray(game.accuracy_weight * hessian + np.diag(privacy))


def _leaving(found: Solution) -> list[tuple[Cell, ...]]:
    """For one client of each type: its cost at sigma*, and after leaving."""
    alpha, total = found.game.alpha, found.error**-2
    loss = found.game.setting.loss
    rows: list[tuple[Cell, ...]] = []
    for value, client in zip(*np.unique(alpha, return_index=True), strict=True):
        own = float(found.sigma[client]) ** -2
        stay = float(found.costs[client])
        leave = (1.0 - float(value)) * loss(1.0 / math.sqrt(total - own))
        kind = _kind(found, own, stay <= leave)
        rows.append((cases.describe(found.game), float(value), own / total, stay, leave, kind))
    return rows


def _kind(found: Solution, own: float, is_best: bool) -> str:
    """The second derivative of J_i in x_i = 1/sigma_i, over (1 - alpha_i), says which."""
    first, second = _slopes(found.game.setting.loss, found.error)
    error = found.error
    curvature = first * (3.0 * error**5 * own - error**3) + second * error**6 * own
    if curvature < 0:
        return "a local maximum"
    return "the minimum" if is_best else "a local minimum only"


def _recommit(game: Game) -> tuple[tuple[Cell, ...], ...]:
    """Commit weights to the observed noise until one client has almost all of the weight."""
    sigma = complete.equilibrium(game).sigma.copy()
    sigma[0] *= 1.0 - NUDGE
    rows: list[tuple[Cell, ...]] = []
    apart, largest, times = math.log(sigma[1] / sigma[0]), 0.0, 0
    while largest <= ALMOST_ALL:
        precision = np.square(sigma.min() / sigma)
        weights = precision / precision.sum()
        sigma = equilibrium(cases.with_weights(game, weights)).sigma
        before, apart = apart, math.log(sigma[1] / sigma[0])
        largest, times = float(weights.max()), times + 1
        rows.append((times, apart, apart / before, largest))
    return (*rows[:-1:5], rows[-1])


def _four_costs(game: Game) -> tuple[float, float, float, float]:
    return (
        optimum(game).social_cost,
        complete.stationary(game).social_cost,
        equilibrium(game).social_cost,
        complete.equilibrium(game).social_cost,
    )


def _drawn(n: int, rng: np.random.Generator) -> tuple[Cell, ...]:
    costs = np.array([_four_costs(game) for game in cases.random_games(n, DRAWS, rng)])
    best, unpriced = costs[:, 1] / costs[:, 0], costs[:, 3] / costs[:, 2]
    return (
        n,
        int((best > 1).sum()),
        float(np.median(best)),
        int((unpriced > 1).sum()),
        float(np.median(unpriced)),
    )


def _exceptions() -> tuple[tuple[Cell, ...], ...]:
    """Types close to 1: found by search, here only evaluated."""
    bound, square = cases.game([0.5]).setting.loss, AccuracyLoss(0.0, 1.0)
    found = (
        ("0.9, 0.95", [0.9, 0.95], "the paper's bound", bound),
        ("0.99, 0.995, 0.995", [0.99, 0.995, 0.995], "the paper's bound", bound),
        ("0.999, 3 × 0.9991", [0.999, 0.9991, 0.9991, 0.9991], "Δ²", square),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, alpha, loss_name, loss in found:
        game = Game(Setting(len(alpha), loss, cases.PRIVACY_SCALE), alpha)
        _, _, mean, mle = _four_costs(game)
        rows.append((name, loss_name, mle / mean - 1.0))
    return tuple(rows)


def _bounds(game: Game) -> tuple[tuple[Cell, ...], ...]:
    loss = game.setting.loss
    profiles = {
        "σ** (MLE)": complete.stationary(game).sigma,
        "σ* (MLE)": complete.equilibrium(game).sigma,
        "optimum for the mean": optimum(game).sigma,
    }
    return tuple(
        (name, complete.bound_mean(loss, sigma), complete.bound_mle(loss, sigma))
        for name, sigma in profiles.items()
    )
