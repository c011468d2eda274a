"""Nothing that is passed in comes out changed, whatever is called with it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pigou import AccuracyLoss, Game, Setting, equilibrium, optimum
from pigou.canonical import canonical_bytes, digest
from pigou.mechanisms import Pigouvian, Unpriced, billing
from pigou.mechanisms.expected import balancing_refund
from pigou.terms import Terms

Array = NDArray[Any]
N, D = 5, 40
LOSS = AccuracyLoss(1.0, 2.0)
WEIGHTS = np.array([0.1, 0.2, 0.3, 0.4, 0.0])
SPREAD = np.array([0.1, 0.2, 0.0, 0.4, 0.5])
ALPHA = np.array([0.0, 0.2, 0.5, 0.8, 0.9])
PRICE = np.array([1.0, 2.0, 0.0, 3.0, 0.0])
SIGMA = np.array([0.3, 0.0, 2.0, 1.0, np.inf])
PRESENT = np.array([0, 1, 3, 2])
MASK = np.array([True, True, True, True, False])
DEVIATION = np.array([1.0, 0.0, 3.0, 2.0, 7.0])


def setting() -> Setting:
    return Setting(N, LOSS, 0.5, WEIGHTS, SPREAD)


def game() -> Game:
    return Game(setting(), ALPHA)


def terms() -> Terms:
    return Pigouvian().terms(setting(), ALPHA)


def updates(dtype: str = "f4") -> Array:
    return (10 * np.random.default_rng(0).standard_normal((N, D)) - 5).astype(dtype)


CALLS: dict[str, tuple[Callable[..., object], list[Array]]] = {
    "Setting": (lambda w, v, u: Setting(N, LOSS, 0.5, w, v, u), [WEIGHTS, SPREAD, SPREAD]),
    "Setting.data_size": (lambda s: Setting.data_size(s, LOSS, 0.5), [DEVIATION]),
    "Setting.restricted": (lambda p: setting().restricted(p), [PRESENT]),
    "Setting.restricted mask": (lambda p: setting().restricted(p), [MASK]),
    "Game": (lambda a: Game(setting(), a), [ALPHA]),
    "Game.costs": (lambda s: game().costs(s), [SIGMA]),
    "Game.error": (lambda s: game().error(s), [SIGMA]),
    "Game.social_cost": (lambda s: game().social_cost(s), [SIGMA]),
    "equilibrium": (lambda b: equilibrium(game(), b).costs, [PRICE]),
    "Terms": (lambda *arrays: Terms("any", *arrays), [WEIGHTS, PRICE, SIGMA, DEVIATION]),
    "Pigouvian.terms": (lambda a, p: Pigouvian().terms(setting(), a, p), [ALPHA, PRESENT]),
    "Unpriced.terms": (lambda a, p: Unpriced().terms(setting(), a, p), [ALPHA, MASK]),
    "statements": (lambda w, x: billing.statements(w, terms(), x), [updates(), PRESENT[:2]]),
    "statements f8": (lambda w, x: billing.statements(w, terms(), x), [updates("f8"), ~MASK]),
    "settle": (lambda d, x: billing.settle(d, terms(), x), [DEVIATION, PRESENT[:2]]),
    "compare": (lambda w, x: billing.compare(w, x), [updates("i2"), MASK]),
    "noise_estimates": (lambda d, x: billing.noise_estimates(d, x), [DEVIATION, MASK]),
    "expected_deviations": (lambda s: billing.expected_deviations(setting(), s), [SIGMA]),
    "expected_bills": (lambda s: billing.expected_bills(setting(), terms(), s), [SIGMA]),
    "balancing_refund": (lambda b, s: balancing_refund(setting(), b, s), [PRICE, SIGMA]),
    "canonical_bytes": (canonical_bytes, [updates()]),
    "digest": (digest, [DEVIATION]),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_arrays_passed_in_are_left_alone(name: str) -> None:
    call, arrays = CALLS[name]
    before = [array.tobytes() for array in arrays]
    call(*arrays)
    assert [array.tobytes() for array in arrays] == before
    frozen = [array.copy() for array in arrays]
    for array in frozen:
        array.flags.writeable = False
    call(*frozen)  # which raises if anything writes to them


def test_layers_passed_in_are_left_alone() -> None:
    layers = [[row[:10].reshape(2, 5), row[10:]] for row in updates()]
    before = [[part.tobytes() for part in parts] for parts in layers]
    billing.statements(layers, terms())
    assert [[part.tobytes() for part in parts] for parts in layers] == before


def test_a_game_is_the_same_after_it_was_solved() -> None:
    here = game()
    arrays = [here.alpha, here.setting.weights, here.setting.spread, here.setting.divergence]
    before = [array.tobytes() for array in arrays]
    for solved in (optimum(here), equilibrium(here), equilibrium(here, PRICE)):
        assert solved.game is here
        assert solved.costs.size == N
    assert [array.tobytes() for array in arrays] == before


def test_terms_are_the_same_after_they_were_used() -> None:
    here = terms()
    before = digest({name: getattr(here, name) for name in ("weights", "unit_price", "charge")})
    billing.statements(updates(), here, barred=[0])
    billing.expected_bills(setting(), here, SIGMA)
    after = digest({name: getattr(here, name) for name in ("weights", "unit_price", "charge")})
    assert after == before
