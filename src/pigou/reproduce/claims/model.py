"""Section II and Proposition 1: the privacy loss, the bound and the aggregation rule."""

# ruff: noqa: RUF001
# The page's Greek letters and signs are meant.

import math
from typing import Final

from pigou.checks import FloatArray
from pigou.game import AccuracyLoss, Game
from pigou.paper import complete
from pigou.paper.errata.model import DELTA, C
from pigou.privacy.gaussian import gaussian_epsilon
from pigou.report.words import number
from pigou.reproduce import formulas
from pigou.reproduce.part import Claim, Verdict
from pigou.solve import equilibrium, optimum

INSIDE: Final = (0.1, 0.5, 0.999)  # values of epsilon in the paper's range (0, 1)


def claims(game: Game) -> tuple[Claim, ...]:
    """For one game of the paper's size."""
    return _privacy(game), _bound(game), _smaller(game), _rule(game)


def _privacy(game: Game) -> Claim:
    """The Gaussian mechanism: with sigma = cS / epsilon one release is S epsilon / (cS)-GDP."""
    exact = [gaussian_epsilon(epsilon / C, DELTA) for epsilon in INSIDE]
    holds = all(one <= stated for one, stated in zip(exact, INSIDE, strict=True))
    noise = complete.stationary(game).sigma
    stated = float(game.setting.privacy_scale / noise.min())
    composed = gaussian_epsilon(stated / C * math.sqrt(formulas.ROUNDS), DELTA)
    limited = stated >= 1.0 or composed > stated
    return Claim(
        place="Section II",
        statement="Noise σ_i = cS/ε_i gives (ε_i, δ)-differential privacy for ε_i in (0, 1); "
        "cS/σ_i is a client's privacy loss.",
        verdict=(Verdict.CORRECTED if limited else Verdict.REPRODUCED) if holds else Verdict.NOT,
        evidence=f"For one release the exact ε is {number(exact[-1])} where the paper's is "
        f"{number(INSIDE[-1])} (δ = {DELTA:g}). But its own σ** has cS/σ = {number(stated)} for "
        f"the most sensitive type, and {formulas.ROUNDS} rounds of it compose to ε = "
        f"{number(composed)} (E10).",
        tests=(
            "tests/theorems/test_privacy.py::test_the_papers_bound_holds_where_its_condition_does",
            "tests/theorems/test_errata_model.py::test_e10_failure_rounds_compose",
        ),
    )


def _bound(game: Game) -> Claim:
    """T = L_F ||w0 - w*|| / Delta, which depends on what clients do later."""
    loss = game.setting.loss
    smoothness, distance = loss.linear / (2.0 * loss.quadratic), loss.linear / 16.0
    obedient = smoothness * distance / complete.stationary(game).error
    selfish = smoothness * distance / complete.equilibrium(game).error
    known = math.ceil(obedient) == math.ceil(selfish)
    return Claim(
        place="Proposition 1",
        statement="The bound κΔ(1 + Δ/(2L_F)) is for T = (L_F/Δ)‖w⁰ − w*‖ rounds, which the "
        "server announces in stage I.",
        verdict=Verdict.REPRODUCED if known else Verdict.CORRECTED,
        evidence=f"T depends on Δ, which is known later: {number(obedient)} rounds if clients obey "
        f"and {number(selfish)} if nothing is priced. It can be announced for clients who obey "
        "(E13). The formulas take the bound as the model of accuracy; they do not test it.",
        tests=(
            "tests/theorems/test_errata_model.py::"
            "test_e13_rounds_depend_on_what_clients_do_afterwards",
        ),
    )


def _smaller(game: Game) -> Claim:
    noise = complete.equilibrium(game).sigma
    mle, mean = _bounds(game.setting.loss, noise)
    return Claim(
        place="Proposition 1",
        statement="MLE aggregation leads to a smaller convergence bound than mean aggregation.",
        verdict=Verdict.REPRODUCED if mle < mean else Verdict.NOT,
        evidence=f"At the same noise, σ*: {number(mle)} against {number(mean)}.",
        tests=(
            "tests/theorems/test_errata_aggregation.py::test_claim_smaller_error_at_given_noise",
            "tests/unit/test_paper_complete.py::"
            "test_proposition_1_at_given_noise_the_mle_bound_is_the_smaller",
        ),
    )


def _rule(game: Game) -> Claim:
    mle = complete.stationary(game).social_cost, complete.equilibrium(game).social_cost
    mean = optimum(game).social_cost, equilibrium(game).social_cost
    better = mle[0] < mean[0] and mle[1] < mean[1]
    return Claim(
        place="Proposition 1",
        statement="Which guides us to choose the MLE rule for better convergence.",
        verdict=Verdict.REPRODUCED if better else Verdict.NOT,
        evidence="Noise answers to the rule: with MLE weights social cost is "
        f"{number(mle[0])} at the optimum and {number(mle[1])} without prices, with mean weights "
        f"{number(mean[0])} and {number(mean[1])} (E3).",
        tests=(
            "tests/theorems/test_errata_aggregation.py::"
            "test_failure_the_mean_costs_less_at_the_optimum",
            "tests/theorems/test_errata_aggregation.py::"
            "test_failure_unpriced_the_mean_costs_less_from_five_clients_on",
        ),
    )


def _bounds(loss: AccuracyLoss, noise: FloatArray) -> tuple[float, float]:
    return complete.bound_mle(loss, noise), complete.bound_mean(loss, noise)
