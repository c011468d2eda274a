"""Tiny and huge numbers, against the same equations in 60 digits (mpmath)."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf, sqrt
from tests.strategies import Floats

from pigou import AccuracyLoss, Game, Setting, equilibrium, optimum
from pigou.fixed_point import closed_form

SAME = 1e-12  # logarithms of 1e150 are 345: 345 * 2^-52, a few times over
SMALLEST, LARGEST = mpf(2) ** -1022, mpf(2) ** 1024
DECADES = 150


def precise(game: Game, harm: list[mpf], price: Floats) -> tuple[mpf, list[mpf]]:
    """Theory (1) by plain iteration of T, which gains half a digit a step or more."""
    setting = game.setting
    linear, quadratic, a = map(
        mpf, (setting.loss.linear, setting.loss.quadratic, setting.privacy_scale)
    )
    rows = [
        (mpf(float(r)) ** 2, mpf(float(v)), mpf(float(x)) * a, w, 2 * mpf(float(b)))
        for r, v, x, w, b in zip(
            setting.weights, setting.spread, game.alpha, harm, price, strict=True
        )
    ]
    error, before = mpf(1), mpf(0)
    sigma: list[mpf] = []
    while abs(error - before) > mpf(10) ** -30 * error:
        before, phi = error, linear / error + 2 * quadratic
        sigma = [
            (x / (w * r2 * phi + b)) ** (mpf(1) / 3) if x else mpf(0) for r2, _, x, w, b in rows
        ]
        error = sqrt(sum(r2 * (s**2 + v) for (r2, v, *_), s in zip(rows, sigma, strict=True)))
    return error, sigma


def assert_same(computed: float, exact: mpf) -> None:
    """To 1e-12, or beyond the range of floats on the same side."""
    if exact > LARGEST:
        assert computed == math.inf
    elif exact < SMALLEST:
        assert 0.0 <= computed <= float(SMALLEST)
    else:
        assert abs(mpf(float(computed)) / exact - 1) < SAME


def random_game(rng: np.random.Generator) -> Game:
    """Everything over 300 decades: loss, scale, spreads, weights, and types near 0 and near 1."""
    n = int(rng.integers(1, 6))

    def size(count: int | None = None) -> Floats:
        return np.asarray(10.0 ** rng.uniform(-DECADES, DECADES, count))

    near_0 = 10.0 ** rng.uniform(-DECADES, 0, n)
    near_1 = 1.0 - 10.0 ** rng.uniform(-15, 0, n)
    alpha = np.choose(rng.integers(0, 3, n), [near_0, near_1, rng.random(n)])
    weights = 10.0 ** rng.uniform(-DECADES * rng.integers(0, 2), 0, n)
    spread = size(n) * rng.integers(0, 2, n) * rng.integers(0, 2)
    kind = rng.integers(0, 3)
    loss = AccuracyLoss(float(size()) * (kind > 0), float(size()) * (kind < 2))
    return Game(Setting(n, loss, float(size()), weights / weights.sum(), spread), alpha)


@pytest.mark.parametrize("seed", range(60))
def test_over_300_decades(seed: int) -> None:
    rng = np.random.default_rng(seed)
    game = random_game(rng)
    n = game.setting.n
    own = [1 - mpf(float(x)) for x in game.alpha]
    free, price = np.zeros(n), 10.0 ** rng.uniform(-DECADES, DECADES, n) * rng.integers(0, 2, n)
    with mp.workdps(60):
        cases = [
            (equilibrium(game), precise(game, own, free)),
            (equilibrium(game, price), precise(game, own, price)),
            (optimum(game), precise(game, [mp.fsum(own)] * n, free)),
        ]
        for computed, (error, sigma) in cases:
            assert_same(computed.error, error)
            for one, exact in zip(computed.sigma, sigma, strict=True):
                assert_same(one, exact)


@pytest.mark.parametrize("log_c", [-700, -40, -3, -0.96, -0.95, -0.94, 0, 5, 17, 19, 40, 700])
def test_the_cubic_in_every_regime(log_c: float) -> None:
    """linear K^2 + 2 quadratic H K^3 = a H: c = 2 quadratic sqrt(a) H^1.5 / linear^1.5."""
    with mp.workdps(60):
        quadratic = math.exp(log_c) / 2.0
        log_k = mp.findroot(lambda y: 2 * y + mp.log(1 + 2 * quadratic * mp.exp(y)), 0)
        found = closed_form(AccuracyLoss(1.0, quadratic), 0.0, 0.0).log_error
        assert_same(math.exp(found), mp.exp(log_k))


@pytest.mark.parametrize("spread", [1e-300, 1e-30, 1.0, 1e30, 1e300])
def test_spreads_alone_over_all_floats(spread: float) -> None:
    game = Game(Setting(2, AccuracyLoss(1.0, 1.0), 0.5, [0.5, 0.5], spread), [0.0, 0.0])
    assert equilibrium(game).error == pytest.approx(math.sqrt(spread / 2.0), rel=SAME)


def test_a_spread_that_only_a_tiny_weight_carries_is_not_lost() -> None:
    setting = Setting(2, AccuracyLoss(1.0, 1.0), 0.5, [1.0, 1e-150], [0.0, 1e-100])
    assert optimum(Game(setting, [0.0, 0.0])).error == pytest.approx(1e-200, rel=SAME)


def test_a_common_factor_beyond_all_floats() -> None:
    """The factor K of section 2 overflows, and so does one client's noise, but not the other's."""
    setting = Setting(2, AccuracyLoss(5e-324, 0.0), 1e308, [0.5, 0.5])
    game = Game(setting, [0.5, 1e-300])
    own = [1 - mpf(float(x)) for x in game.alpha]
    with mp.workdps(60):
        _, sigma = precise(game, own, np.zeros(2))
        found = equilibrium(game)
        for one, exact in zip(found.sigma, sigma, strict=True):
            assert_same(one, exact)
    assert found.sigma[0] == math.inf
    assert found.sigma[1] < 1e250


@pytest.mark.parametrize("n", [10**5])
def test_many_clients(n: int) -> None:
    """Sums over 10^5 clients, against math.fsum in the conditions of the game."""
    rng = np.random.default_rng(n)
    weights = rng.dirichlet(np.ones(n))
    game = Game(Setting(n, AccuracyLoss(1.0, 1.0), 0.5, weights, 0.3), rng.uniform(0.1, 0.9, n))
    found = optimum(game)
    error = math.sqrt(math.fsum(weights**2 * (found.sigma**2 + 0.3)))
    assert found.error == pytest.approx(error, rel=SAME)
    phi = game.setting.loss.slope_over_error(error)
    m = math.fsum(1.0 - game.alpha)
    np.testing.assert_allclose(found.sigma**3 * m * weights**2 * phi, 0.5 * game.alpha, rtol=1e-11)
