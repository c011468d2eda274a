"""Lemmas 1 to 3 and Proposition 5: two private types."""

# ruff: noqa: RUF001
# The page's Greek letters and signs are meant.

from collections.abc import Sequence
from typing import Final

import numpy as np

from pigou.certificate import GAIN_TOLERANCE
from pigou.comparison import compare
from pigou.game import Game, Setting
from pigou.paper.errata.record import percent
from pigou.paper.two_types import Case, PerType, Reading, RewardStatus, TwoTypes
from pigou.paper.two_types.costs import Facing, predicted
from pigou.paper.two_types.pair import HIGH, LOW
from pigou.population import two_point
from pigou.report.words import number
from pigou.reproduce.part import Claim, Verdict
from pigou.scenario import Details

OBEYED: Final = 1e-7  # relative: what rounding leaves of a best response
ORACLE: Final = "tests/oracles/test_two_types.py::"
PRICES: Final = "tests/theorems/test_errata_two_types.py::"
TRUTH: Final = "tests/theorems/test_errata_two_types_truth.py::"
MECHANISM: Final = "tests/unit/test_two_types_mechanism.py::"
HALF: Final = 0.5


def claims(models: Sequence[TwoTypes], few: TwoTypes) -> tuple[Claim, ...]:
    """For the paper's size at several eta, and for few clients, where a slip shows."""
    model = models[0]
    return (
        _lemma("Lemma 1", "all report the same type", model, (Case.ALL_LOW, Case.ALL_HIGH)),
        _lemma("Lemma 2", "all misreport", model, (Case.SWAPPED,)),
        _lemma("Lemma 3", "all report truthfully", model, (Case.TRUTHFUL,)),
        _coefficients(few),
        _optimum(few),
        _rewards(model),
        _truth(models),
        _comparison(models),
        _balance(model),
    )


def _lemma(place: str, what: str, model: TwoTypes, cases: Sequence[Case]) -> Claim:
    """Each type's best noise against the others' is the lemma's."""
    worst, shown = 0.0, []
    for case in cases:
        sigma = model.points[case].required()
        best = best_noise(model, case, sigma)
        worst = max(worst, *(abs(b / s - 1.0) for b, s in zip(best, sigma, strict=True)))
        shown.append(f"({number(sigma.low)}, {number(sigma.high)})")
    exact = "agree" if worst <= OBEYED else f"differ by up to {percent(worst)}"
    return Claim(
        place=place,
        statement=f"If {what}, the noise at the equilibrium solves the lemma's equations.",
        verdict=Verdict.REPRODUCED if worst <= OBEYED else Verdict.NOT,
        evidence=f"At η = {model.eta:g} noise of the low and the high type is "
        f"{' or '.join(shown)}; best responses, found from the costs, {exact}.",
        tests=(
            f"{ORACLE}test_the_cases_solve_the_papers_lemmas",
            f"{ORACLE}test_finite_differences_vanish_where_they_should",
        ),
    )


def best_noise(model: TwoTypes, case: Case, sigma: PerType) -> PerType:
    """What suits one client of each type, the others reporting and playing as in the case."""
    tau = predicted(case.weights, sigma)
    beta = model.beta_corrected
    found = [
        Facing.others(model, tau[kind], tau, sigma).best_noise(kind, beta[case.reports[kind]])
        for kind in (LOW, HIGH)
    ]
    return PerType(*found)


def _coefficients(model: TwoTypes) -> Claim:
    off = {}
    for reading in Reading:
        reached = model.truthful_equilibrium(model.beta(reading)).required()
        off[reading] = max(abs(r / s - 1.0) for r, s in zip(reached, model.sigma, strict=True))
    wrong = off[Reading.AS_PRINTED] > OBEYED
    right = off[Reading.CORRECTED] <= OBEYED
    return Claim(
        place="Proposition 5",
        statement="β^L and β^H make truthful clients choose σ**.",
        verdict=(Verdict.CORRECTED if wrong else Verdict.REPRODUCED) if right else Verdict.NOT,
        evidence=f"At N = {model.n}, η = {model.eta:g} noise misses σ** by up to "
        f"{percent(off[Reading.AS_PRINTED])} with β^H as printed (E7), by "
        f"{percent(off[Reading.LITERAL])} with p(n) read as redefined (E6), and not at all with "
        "both repaired.",
        tests=(
            f"{PRICES}test_e6_the_lemmas_p_makes_the_optimum_an_equilibrium",
            f"{PRICES}test_e7_the_printed_count_of_high_types_is_one_too_many",
        ),
    )


def _optimum(model: TwoTypes) -> Claim:
    points = model.stationary_points()
    least = min(point.social_cost for point in points)
    best = model.social_cost <= least * (1.0 + OBEYED)
    return Claim(
        place="Proposition 5",
        statement="σ** is the social optimum of noise adding.",
        verdict=Verdict.REPRODUCED if best else Verdict.NOT,
        evidence=f"At N = {model.n}, η = {model.eta:g} E[SC] is stationary at {len(points)} "
        f"points; the one that continues σ** costs {number(model.social_cost)}, another "
        f"{number(least)} (E6b).",
        tests=(f"{PRICES}test_e6b_three_points_with_costs_and_curvatures",),
    )


def _rewards(model: TwoTypes) -> Claim:
    """At one half, and close to it."""
    half = TwoTypes(
        model.n, HALF, model.alpha_low, model.alpha_high, model.loss, model.privacy_scale
    )
    gone = half.rewards.status is RewardStatus.SINGULAR
    return Claim(
        place="Proposition 5",
        statement="The rewards r^L and r^H are as given, for any η.",
        verdict=Verdict.CORRECTED if gone else Verdict.REPRODUCED,
        evidence=f"At η = 1/2, Q₁ = {number(half.q1)} and Q₂ = {number(half.q2)}: both divide by "
        "0. Elsewhere they solve the equations they come from, with A_1 to A_4 reconstructed (E8).",
        tests=(
            f"{TRUTH}test_e8_the_rewards_equations_are_singular_at_one_half",
            "tests/unit/test_two_types_incentives.py::"
            "test_rewards_solve_the_equations_they_come_from",
        ),
    )


def _truth(models: Sequence[TwoTypes]) -> Claim:
    """Whether any reward makes one client truthful, the others being so."""
    feasible = [model.interim_mle.feasible for model in models]
    mean = [model.interim_mean.feasible for model in models]
    lie = models[0].interim_mle.best_lie()
    etas = ", ".join(f"{model.eta:g}" for model in models)
    return Claim(
        place="Proposition 5",
        statement="The mechanism ensures all clients' truthful type reporting.",
        verdict=Verdict.REPRODUCED if all(feasible) else Verdict.NOT,
        evidence=f"At η = {etas} some reward makes truth an equilibrium in {sum(feasible)} of "
        f"{len(models)} cases with the paper's weights, in {sum(mean)} with mean weights. Before "
        f"rewards {lie} (E9).",
        tests=(
            f"{TRUTH}test_e9_no_reward_whatever_makes_both_types_truthful",
            f"{TRUTH}test_e9_with_mean_weights_they_do_not",
        ),
    )


def _comparison(models: Sequence[TwoTypes]) -> Claim:
    """The paper's own: between the cases in which all behave alike."""
    defined = [m for m in models if m.rewards.status is RewardStatus.DEFINED]
    preferred = sum(m.comparison.chosen is Case.TRUTHFUL for m in defined)
    return Claim(
        place="Proposition 5",
        statement="Of the three cases, each type prefers the one in which all are truthful.",
        verdict=Verdict.REPRODUCED if preferred == len(defined) else Verdict.NOT,
        evidence=f"Net of the printed rewards both types prefer it at {preferred} of "
        f"{len(defined)} values of η (E9).",
        tests=("tests/unit/test_two_types_incentives.py::test_the_paper_compares_whole_cases",),
    )


def _balance(model: TwoTypes) -> Claim:
    """As the certificate sees it, on average over the types."""
    low = round(model.n * model.eta)
    types = np.repeat([model.alpha_low, model.alpha_high], [low, model.n - low])
    game = Game(Setting(model.n, model.loss, model.privacy_scale), types)
    details = Details(population=two_point(model.alpha_low, model.alpha_high, model.eta))
    (row,) = compare(game, details, names=("paper-two-types",)).applicable
    balanced = abs(row.reserve) <= GAIN_TOLERANCE
    left = "nothing" if balanced else f"{number(100.0 * row.reserve)} %"
    return Claim(
        place="Proposition 5",
        statement="The constant q makes the system ex-ante budget balanced.",
        verdict=Verdict.REPRODUCED if balanced else Verdict.NOT,
        evidence=f"At η = {model.eta:g} q = {number(model.constant_refund())} per client, and "
        f"the reserve expects {left} of social cost.",
        tests=(f"{MECHANISM}test_the_budget_balances_over_all_profiles",),
    )
