"""The paper's complete-information formulas against reference numbers from shared-nothing code."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pigou import AccuracyLoss, Game, Setting
from pigou.paper import PaperPricing, complete
from pigou.terms import Terms

CASES: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("complete_information.json").read_text()
)
Floats = NDArray[np.float64]
TOLERANCE = 1e-12  # relative; both sides are closed forms or bisections to the last bits


def game_of(case: dict[str, Any]) -> Game:
    """The case with the paper's spread, which is 0 whatever the case says."""
    given = case["input"]
    loss = AccuracyLoss.bound(kappa=given["kappa"], smoothness=given["smoothness"])
    return Game(Setting(len(given["alpha"]), loss, given["privacy_scale"]), given["alpha"])


def terms_of(game: Game, *, verbatim: bool) -> Terms:
    return PaperPricing(verbatim=verbatim).terms(game.setting, game.alpha)


def beta_of(game: Game, *, verbatim: bool) -> Floats:
    n = game.setting.n
    return np.asarray((n / (n - 1)) ** 2 * terms_of(game, verbatim=verbatim).unit_price)


COMPUTED: dict[str, Callable[[Game], float | Floats]] = {
    "sigma_equilibrium": lambda game: complete.equilibrium(game).sigma,
    "sigma_stationary": lambda game: complete.stationary(game).sigma,
    "social_cost_equilibrium": lambda game: complete.equilibrium(game).social_cost,
    "social_cost_stationary": lambda game: complete.stationary(game).social_cost,
    "social_cost_true_minimum": lambda game: complete.one_volunteer(game).social_cost,
    "beta_as_printed": lambda game: complete.beta_as_printed(complete.stationary(game)),
    "beta_corrected": lambda game: complete.beta_corrected(complete.stationary(game)),
    "q_as_printed": lambda game: terms_of(game, verbatim=True).constant_refund,
    "q_balanced": lambda game: terms_of(game, verbatim=False).constant_refund,
}


def test_the_vectors_hold_nothing_that_is_not_compared() -> None:
    for case in CASES:
        assert set(case["paper_mle"]) == set(COMPUTED)


@pytest.mark.parametrize("name", COMPUTED)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"n={len(case['input']['alpha'])}")
def test_reference(case: dict[str, Any], name: str) -> None:
    found = COMPUTED[name](game_of(case))
    np.testing.assert_allclose(found, case["paper_mle"][name], rtol=TOLERANCE, atol=0)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"n={len(case['input']['alpha'])}")
def test_the_mechanism_prices_with_the_same_beta(case: dict[str, Any]) -> None:
    game, expected = game_of(case), case["paper_mle"]
    for verbatim, name in ((True, "beta_as_printed"), (False, "beta_corrected")):
        found = beta_of(game, verbatim=verbatim)
        np.testing.assert_allclose(found, expected[name], rtol=TOLERANCE, atol=0)
    target = terms_of(game, verbatim=False).sigma
    assert target is not None
    np.testing.assert_allclose(target, expected["sigma_stationary"], rtol=TOLERANCE, atol=0)
