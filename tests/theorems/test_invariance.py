"""What must not matter: the clients' order, the unit of money, the unit of the uploads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import Floats, changed, games, rngs

from pigou import AccuracyLoss, Game, Setting, equilibrium, optimum
from pigou.mechanisms import Pigouvian, billing

SOLVED = 1e-12  # relative: the same equations in other numbers
SCALES = st.floats(-6.0, 6.0).map(lambda x: 10.0**x)


@settings(deadline=None, max_examples=60)
@given(games(least=3), rngs())
def test_order_of_clients(game: Game, rng: np.random.Generator) -> None:
    setting = game.setting
    order = rng.permutation(setting.n)
    shuffled = Game(
        changed(setting, weights=setting.weights[order], spread=setting.spread[order]),
        game.alpha[order],
    )
    for solve in (equilibrium, optimum):
        one, other = solve(game), solve(shuffled)
        np.testing.assert_allclose(other.sigma, one.sigma[order], rtol=SOLVED)
        np.testing.assert_allclose(other.costs, one.costs[order], rtol=SOLVED)
        np.testing.assert_allclose(other.social_cost, one.social_cost, rtol=SOLVED)
    ours = Pigouvian().terms(setting, game.alpha)
    theirs = Pigouvian().terms(shuffled.setting, shuffled.alpha)
    np.testing.assert_allclose(theirs.unit_price, ours.unit_price[order], rtol=SOLVED)
    np.testing.assert_allclose(theirs.charge, ours.charge[order], rtol=SOLVED)


@settings(deadline=None, max_examples=60)
@given(games(least=3), SCALES, rngs())
def test_unit_of_cost(game: Game, scale: float, rng: np.random.Generator) -> None:
    """Loss and privacy priced in another unit: the same noise, all costs and prices scaled."""
    setting, loss = game.setting, game.setting.loss
    dearer = changed(
        setting,
        loss=AccuracyLoss(scale * loss.linear, scale * loss.quadratic),
        privacy_scale=scale * setting.privacy_scale,
    )
    price = rng.uniform(0, 2, setting.n)
    pairs = [
        (optimum(game), optimum(Game(dearer, game.alpha))),
        (equilibrium(game), equilibrium(Game(dearer, game.alpha))),
        (equilibrium(game, price), equilibrium(Game(dearer, game.alpha), scale * price)),
    ]
    for one, other in pairs:
        np.testing.assert_allclose(other.sigma, one.sigma, rtol=SOLVED)
        np.testing.assert_allclose(other.costs, scale * one.costs, rtol=SOLVED)
    ours = Pigouvian().terms(setting, game.alpha)
    theirs = Pigouvian().terms(dearer, game.alpha)
    np.testing.assert_allclose(theirs.unit_price, scale * ours.unit_price, rtol=SOLVED)


@settings(deadline=None, max_examples=60)
@given(games(least=3), SCALES)
def test_unit_of_the_uploads(game: Game, scale: float) -> None:
    """Uploads in another unit: noise scales, costs stay, a price per variance falls by scale^2."""
    setting, loss = game.setting, game.setting.loss
    other_unit = changed(
        setting,
        loss=AccuracyLoss(loss.linear / scale, loss.quadratic / scale**2),
        privacy_scale=scale * setting.privacy_scale,
        spread=scale**2 * setting.spread,
    )
    for solve in (equilibrium, optimum):
        one, other = solve(game), solve(Game(other_unit, game.alpha))
        np.testing.assert_allclose(other.sigma, scale * one.sigma, rtol=SOLVED)
        np.testing.assert_allclose(other.error, scale * one.error, rtol=SOLVED)
        np.testing.assert_allclose(other.costs, one.costs, rtol=SOLVED)
    ours = Pigouvian().terms(setting, game.alpha)
    theirs = Pigouvian().terms(other_unit, game.alpha)
    np.testing.assert_allclose(theirs.unit_price, ours.unit_price / scale**2, rtol=SOLVED)


@settings(deadline=None, max_examples=40)
@given(games(least=3, most=8), st.integers(1, 50), st.integers(1, 1000), rngs())
def test_rounds_and_currency_only_scale_the_bills(
    game: Game, count: int, money: int, rng: np.random.Generator
) -> None:
    plain = Pigouvian().terms(game.setting, game.alpha)
    scaled = Pigouvian(rounds=count, money=float(money)).terms(game.setting, game.alpha)
    np.testing.assert_array_equal(scaled.unit_price, plain.unit_price)
    np.testing.assert_array_equal(scaled.charge, plain.charge)
    assert scaled.sigma is not None
    one = billing.expected_bills(game.setting, plain, scaled.sigma)
    other = billing.expected_bills(game.setting, scaled, scaled.sigma)
    np.testing.assert_allclose(other.charge, money * one.charge, rtol=SOLVED)
    np.testing.assert_allclose(other.refund, money * one.refund, rtol=SOLVED)
    updates = rng.standard_normal((game.setting.n, 4))
    whole = billing.statements(updates, plain).charge.astype(float)
    part = billing.statements(updates, scaled).charge.astype(float)
    unit = money / count  # each side rounded to half a micro-unit
    np.testing.assert_allclose(part, whole * unit, rtol=SOLVED, atol=0.5 + 0.5 * unit)


@pytest.mark.parametrize("shift", [0.0, 1.0, 100.0])
def test_what_all_uploads_share_is_not_billed(shift: float) -> None:
    rng = np.random.default_rng(7)
    updates: Floats = rng.standard_normal((5, 1000))
    common = shift * rng.standard_normal(1000)
    terms = Pigouvian().terms(Setting(5, AccuracyLoss(1.0, 1.0), 0.5), [0.1, 0.3, 0.5, 0.7, 0.9])
    alone = billing.statements(updates, terms).deviation
    shared = billing.statements(updates + common, terms).deviation
    np.testing.assert_allclose(shared, alone, rtol=1e-12)  # 100 * 2^-52, and 1000 terms
