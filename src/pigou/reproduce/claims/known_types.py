"""Propositions 2 and 4 and Definition 4: complete information."""

# ruff: noqa: RUF001
# The page's Greek letters and signs are meant.

from typing import Final

import numpy as np

from pigou.certificate import GAIN_TOLERANCE, certify
from pigou.comparison import play
from pigou.game import Game
from pigou.mechanisms import Unpriced
from pigou.paper import PaperPricing, complete
from pigou.paper.errata.record import percent
from pigou.report.words import number
from pigou.reproduce.part import Claim, Verdict
from pigou.solve import Solution

SAME: Final = 1e-9  # relative: what a solver's rounding may leave
PAYMENTS: Final = "tests/theorems/test_errata_payments.py::"
EQUILIBRIUM: Final = "tests/theorems/test_errata_equilibrium.py::"
OPTIMUM: Final = "tests/theorems/test_errata_optimum.py::"
COMPLETE: Final = "tests/unit/test_paper_complete.py::"


def claims(game: Game) -> tuple[Claim, ...]:
    """For one game of the paper's size."""
    found = complete.stationary(game)
    return (
        _equilibrium(complete.equilibrium(game)),
        _optimum(found),
        _coefficient(found),
        _compensation(found),
        _balance(found),
        _balance_of_each(found),
        _efficiency(game, found),
        _equal_types(game),
    )


def _equilibrium(found: Solution) -> Claim:
    """With committed weights by certificate; with weights that follow by each client's leaving."""
    game = found.game
    committed = certify(game, Unpriced().terms(game.setting), sigma=found.sigma)
    rest = (found.error**-2 - found.sigma**-2) ** -0.5
    left = (1.0 - game.alpha) * np.array([game.setting.loss(float(error)) for error in rest])
    leavers = int(np.count_nonzero(left < found.costs))
    held = Verdict.CORRECTED if leavers else Verdict.REPRODUCED
    return Claim(
        place="Proposition 2",
        statement="Given MLE aggregation, σ* is the clients' equilibrium.",
        verdict=held if committed.ok else Verdict.NOT,
        evidence=f"With weights committed nobody gains ({_gain(committed.max_gain)}). If weights "
        f"follow the noise, as Δ^MLE says, {leavers} of {game.setting.n} clients do better by "
        "adding unlimited noise (E2).",
        tests=(
            f"{COMPLETE}test_both_equations_of_proposition_2_hold",
            f"{EQUILIBRIUM}test_claim_nobody_gains_when_weights_are_committed",
            f"{EQUILIBRIUM}test_failure_a_client_with_less_than_half_the_precision_leaves",
        ),
    )


def _optimum(found: Solution) -> Claim:
    """Against the least for its committed weights, and against one volunteer."""
    game = found.game
    least = certify(game, Unpriced().terms(game.setting), sigma=found.sigma).optimum
    alone = complete.one_volunteer(game).social_cost
    committed = found.social_cost <= least * (1.0 + SAME)
    held = Verdict.CORRECTED if alone < found.social_cost else Verdict.REPRODUCED
    return Claim(
        place="Proposition 2",
        statement="σ** is the unique solution of its equation, and the social optimum.",
        verdict=held if committed else Verdict.NOT,
        evidence=f"The optimum for its own weights, once they are committed: "
        f"{number(found.social_cost)}, least {number(least)}. If weights follow the noise it is a "
        f"saddle, and one volunteer costs {number(alone)} (E1).",
        tests=(
            f"{OPTIMUM}test_claim_sigma_double_star_solves_the_first_order_conditions",
            f"{OPTIMUM}test_claim_it_is_a_minimum_when_weights_are_committed",
            f"{OPTIMUM}test_failure_one_positive_and_all_other_curvatures_negative",
        ),
    )


def _coefficient(found: Solution) -> Claim:
    given = found.game
    ratios = [_ratio(given, found, verbatim=verbatim) for verbatim in (True, False)]
    held = Verdict.REPRODUCED if ratios[0] <= 1.0 + SAME else Verdict.CORRECTED
    return Claim(
        place="Definition 4",
        statement="The penalty coefficient β_i* makes clients choose σ_i**.",
        verdict=held if ratios[1] <= 1.0 + SAME else Verdict.NOT,
        evidence=f"Social cost at the equilibrium over that at σ**: {number(ratios[0])} with β as "
        f"printed, {number(ratios[1])} with the indices repaired (E4).",
        tests=(
            f"{PAYMENTS}test_corrected_beta_holds_everybody_at_sigma_double_star",
            f"{PAYMENTS}test_failure_with_unequal_types_somebody_leaves_sigma_double_star",
        ),
    )


def _compensation(found: Solution) -> Claim:
    """Of all charges at sigma**, what is paid back, with beta corrected."""
    beta = complete.beta_corrected(found)
    printed, balanced = complete.q_as_printed(found, beta), complete.q_balanced(found, beta)
    same = abs(printed / balanced - 1.0) <= SAME
    return Claim(
        place="Definition 4",
        statement="The compensation q = (2(N−1)²/N) Σβ_i*σ_i** pays back what is charged.",
        verdict=Verdict.REPRODUCED if same else Verdict.NOT,
        evidence=f"It pays back {number(printed / balanced)} times what is charged. The expected "
        "charge needs variances, and their sum over clients (E5).",
        tests=(
            f"{PAYMENTS}test_failure_q_as_printed_does_not_give_back_what_is_charged",
            f"{PAYMENTS}test_failure_q_depends_on_the_unit_of_the_uploads_and_charges_do_not",
        ),
    )


def _balance(found: Solution) -> Claim:
    played = play(found.game, PaperPricing())
    left = abs(played.reserve) / played.social_cost
    return Claim(
        place="Proposition 4",
        statement="The mechanism is ex-ante budget balanced.",
        verdict=Verdict.CORRECTED if left <= SAME else Verdict.NOT,
        evidence=f"With q corrected the reserve expects {_share(left)} of social cost (E5).",
        tests=(
            f"{COMPLETE}test_the_certificate_passes_corrected_terms_and_fails_the_printed_ones",
            "tests/contracts/test_mechanisms.py::test_bills_sum_to_zero_in_expectation",
        ),
    )


def _balance_of_each(found: Solution) -> Claim:
    """Expected charge less q of every client, with beta and q corrected."""
    played = play(found.game, PaperPricing())
    share = played.bills.net / played.costs
    least, most = float(share.min()), float(share.max())
    return Claim(
        place="Proposition 4",
        statement="Ex-ante budget balance holds for each client.",
        verdict=Verdict.REPRODUCED if max(-least, most) <= SAME else Verdict.NOT,
        evidence=f"One q for all balances the sum. Where types differ clients expect to pay "
        f"{percent(least)} to {percent(most)} of their own cost, net of q (below 0: to receive).",
        tests=(
            "tests/reproduce/test_claims.py::"
            "test_one_refund_for_all_balances_each_client_only_where_types_are_equal",
        ),
    )


def _efficiency(game: Game, found: Solution) -> Claim:
    ratio = _ratio(game, found, verbatim=False)
    gamma = found.social_cost / complete.one_volunteer(game).social_cost
    held = Verdict.CORRECTED if gamma > 1.0 + SAME else Verdict.REPRODUCED
    return Claim(
        place="Proposition 4",
        statement="The mechanism reaches the social optimum, γ = 1.",
        verdict=held if ratio <= 1.0 + SAME else Verdict.NOT,
        evidence=f"γ = {number(ratio)} against the optimum for the committed weights, with β "
        f"corrected; {number(gamma)} against the least over weights too, one volunteer's (E1).",
        tests=(
            f"{COMPLETE}test_corrected_terms_make_sigma_double_star_the_equilibrium",
            f"{OPTIMUM}test_failure_gamma_is_far_from_one",
        ),
    )


def _equal_types(game: Game) -> Claim:
    equal = Game(game.setting, np.full(game.setting.n, 0.5))
    ratio = _ratio(equal, complete.stationary(equal), verbatim=True)
    return Claim(
        place="Proposition 4",
        statement="Even when all clients have the same type they do not dare to add much noise.",
        verdict=Verdict.REPRODUCED if ratio <= 1.0 + SAME else Verdict.NOT,
        evidence=f"For equal types β is right as printed: social cost {number(ratio)} times that "
        "at σ**.",
        tests=(f"{PAYMENTS}test_claim_printed_beta_is_right_for_equal_types",),
    )


def _ratio(game: Game, found: Solution, *, verbatim: bool) -> float:
    """Social cost of selfish clients under the paper's prices over that at sigma**."""
    return play(game, PaperPricing(verbatim=verbatim)).social_cost / found.social_cost


def _gain(share: float) -> str:
    return "largest gain found: none" if share <= GAIN_TOLERANCE else f"gain {percent(share)}"


def _share(left: float) -> str:
    return "nothing" if left <= SAME else percent(left)
