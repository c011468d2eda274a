"""The claims table: all statements are there, their tests exist, and verdicts follow numbers."""

import re
from dataclasses import replace

import numpy as np
import pytest
from tests.reproduce.named_tests import exists

from pigou.paper import complete
from pigou.paper.errata.cases import game, half_and_half
from pigou.paper.two_types import Case, PerType
from pigou.reproduce import tables
from pigou.reproduce.claims import chapter, known_types, model, private_types
from pigou.reproduce.execution import asked_for, make
from pigou.reproduce.fig2 import Model
from pigou.reproduce.part import Chapter, Claim, Request, Verdict

QUICK = Request(quick=True)


@pytest.fixture(scope="module")
def chapters() -> tuple[Chapter, ...]:
    """The quick version of what `pigou reproduce claims` makes."""
    return make(asked_for(["claims"]), QUICK)


@pytest.fixture(scope="module")
def claims(chapters: tuple[Chapter, ...]) -> tuple[Claim, ...]:
    return tables.claims(chapters)


def test_every_named_test_exists(claims: tuple[Claim, ...]) -> None:
    missing = [test for claim in claims for test in claim.tests if not exists(test)]
    assert missing == []
    assert all(claim.tests for claim in claims)


def test_a_test_that_does_not_exist_is_noticed() -> None:
    here = "tests/reproduce/test_claims.py"
    assert exists(f"{here}::test_every_named_test_exists")
    assert not exists(f"{here}::test_of_something_else")
    assert not exists("tests/reproduce/test_nothing.py::test_every_named_test_exists")


def test_every_proposition_lemma_and_figure_is_judged(claims: tuple[Claim, ...]) -> None:
    places = [claim.place for claim in claims]
    wanted = {f"Proposition {k}" for k in range(1, 6)} | {f"Lemma {k}" for k in range(1, 4)}
    assert wanted | {"Fig. 1", "Fig. 2", "Definition 4", "Section V"} <= set(places)
    assert places == sorted(places, key=tables.PLACES.index)
    statements = [claim.statement for claim in claims]
    assert len(set(statements)) == len(statements)


def test_every_verdict_comes_with_a_number(claims: tuple[Claim, ...]) -> None:
    for claim in claims:
        assert re.search(r"\d", claim.evidence), claim.statement
        assert "nan" not in claim.evidence.lower()
        assert "unknown" not in claim.evidence


def test_what_the_errata_say_is_not_called_reproduced(claims: tuple[Claim, ...]) -> None:
    cited = [claim for claim in claims if re.search(r"\(E\d+b?\)", claim.evidence)]
    pricing = "The pricing scheme reduces the social cost significantly, most at the maximum."
    assert len(cited) > 10
    for claim in cited:
        assert (claim.verdict is Verdict.REPRODUCED) == (claim.statement == pricing)


def test_known_types_have_the_numbers_of_the_theory() -> None:
    """Section 6: 88.0 against 95.3 with prices, 547 against 665 without."""
    rule = model._rule(half_and_half(100))
    assert rule.verdict is Verdict.NOT
    for shown in ("88.02", "95.26", "547", "664.7"):
        assert shown in rule.evidence


def test_a_rule_that_is_better_is_called_so() -> None:
    """Two clients with types close to 1, unpriced, are an exception; the optimum never is."""
    assert model._rule(game([0.9, 0.95])).verdict is Verdict.NOT


def test_equal_types_need_no_corrected_coefficient() -> None:
    equal = complete.stationary(game(np.full(10, 0.5)))
    assert known_types._coefficient(equal).verdict is Verdict.REPRODUCED
    unequal = complete.stationary(half_and_half(10))
    assert known_types._coefficient(unequal).verdict is Verdict.CORRECTED


def test_one_refund_for_all_balances_each_client_only_where_types_are_equal() -> None:
    """Definition 4 with beta and q corrected, written out anew."""
    for of, verdict in (
        (game(np.full(10, 0.5)), Verdict.REPRODUCED),
        (half_and_half(10), Verdict.NOT),
    ):
        found = complete.stationary(of)
        beta, square, n = complete.beta_corrected(found), found.sigma**2, of.setting.n
        charge = beta * (((n - 1) / n) ** 2 * square + (square.sum() - square) / n**2)
        net = charge - charge.mean()
        assert net.sum() == pytest.approx(0.0, abs=1e-12)
        assert (np.abs(net).max() < 1e-12) == (verdict is Verdict.REPRODUCED)
        assert known_types._balance_of_each(found).verdict is verdict


def test_a_point_that_is_no_optimum_is_not_reproduced() -> None:
    found = complete.stationary(half_and_half(10))
    wrong = replace(found, sigma=1.1 * found.sigma, error=1.1 * found.error)
    assert known_types._optimum(found).verdict is Verdict.CORRECTED
    assert known_types._optimum(wrong).verdict is Verdict.NOT


def test_an_equilibrium_from_which_somebody_gains_is_not_reproduced() -> None:
    found = complete.equilibrium(half_and_half(10))
    wrong = replace(found, sigma=1.1 * found.sigma, error=1.1 * found.error)
    assert known_types._equilibrium(found).verdict is Verdict.CORRECTED
    assert known_types._equilibrium(wrong).verdict is Verdict.NOT


@pytest.mark.parametrize("case", Case)
def test_best_responses_tell_an_equilibrium_from_its_neighbour(case: Case) -> None:
    two = Model().at(0.3)
    sigma = two.points[case].required()
    assert private_types.best_noise(two, case, sigma) == pytest.approx(sigma, rel=1e-9)
    moved = PerType(1.01 * sigma.low, sigma.high)
    best = private_types.best_noise(two, case, moved)
    assert abs(best.low / moved.low - 1.0) > private_types.OBEYED


def test_with_many_clients_the_slips_of_proposition_5_remain_and_shrink() -> None:
    few, many = (private_types._coefficients(Model(n=n).at(0.3)) for n in (10, 100))
    assert few.verdict is many.verdict is Verdict.CORRECTED
    assert "2.01 %" in few.evidence
    assert "0.208 %" in many.evidence


def test_the_part_without_content_adds_claims_only() -> None:
    made = chapter.make(QUICK)
    assert made.content == ()
    assert made.claims
