"""Planted faults, found, and their gains against a dense search that shares no code with it."""

import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.oracles.certificate_by_hand import least, paid, unpaid

from pigou import AccuracyLoss, Game, Setting
from pigou.certificate import GAIN_TOLERANCE, certify
from pigou.mechanisms import Pigouvian
from pigou.terms import Terms

Floats = NDArray[np.float64]

GAMES = 250  # of each kind of fault and each seed: 1,000 in all


def random_games(seed: int) -> Iterator[tuple[Game, Terms, int, np.random.Generator]]:
    """A game, its honest terms, and the client that gets the fault."""
    rng = np.random.default_rng(seed)
    for _ in range(GAMES):
        n = int(rng.integers(3, 8))
        size = 10.0 ** rng.uniform(-2.0, 2.0, 2)
        linear, quadratic = size * [(1, 1), (1, 0), (0, 1)][int(rng.integers(3))]
        setting = Setting(
            n=n,
            loss=AccuracyLoss(float(linear), float(quadratic)),
            privacy_scale=float(10.0 ** rng.uniform(-2.0, 1.0)),
            weights="mean" if rng.random() < 0.5 else rng.dirichlet(np.full(n, 3.0)),
            spread=0.0 if rng.random() < 0.5 else rng.uniform(0.01, 1.0, n),
            divergence=float(rng.uniform(0.0, 0.5)),
        )
        game = Game(setting, rng.uniform(0.05, 0.95, n))
        yield game, Pigouvian().terms(setting, game.alpha), int(rng.integers(n)), rng


def brute_force(game: Game, terms: Terms) -> tuple[Floats, Floats]:
    """Each client's gain by dense search over three decades either way, and as a share of cost."""
    assert terms.sigma is not None
    gains, shares = [], []
    for client, obeyed in enumerate(terms.sigma):
        total = paid(game, terms, client)
        gains.append(float(total(terms.sigma[[client]])[0]) - least(total, obeyed))
        shares.append(gains[-1] / unpaid(game, terms, client))
    return np.array(gains), np.array(shares)


def assert_found(game: Game, terms: Terms, faulty: int) -> None:
    certificate = certify(game, terms)
    gains, shares = brute_force(game, terms)
    worst = certificate.worst
    assert not certificate.ok
    assert certificate.max_gain > GAIN_TOLERANCE
    assert worst.client == int(np.argmax(shares)) == faulty
    assert worst.gain == pytest.approx(gains[faulty], rel=0.01)
    assert certificate.max_gain == pytest.approx(shares[faulty], rel=0.01)
    assert f"FAILS: client {faulty} plays noise" in certificate.explain()


@pytest.mark.parametrize("seed", [1, 2])
def test_a_price_wrong_by_a_factor_is_found(seed: int) -> None:
    found = 0
    for game, terms, faulty, rng in random_games(seed):
        price = terms.unit_price.copy()
        price[faulty] *= 1.1 if rng.random() < 0.5 else 1.0 / 1.1
        assert_found(game, dataclasses.replace(terms, unit_price=price), faulty)
        found += 1
    assert found == GAMES


@pytest.mark.parametrize("seed", [3, 4])
def test_a_target_that_is_no_equilibrium_is_found(seed: int) -> None:
    found = 0
    for game, terms, faulty, rng in random_games(seed):
        assert terms.sigma is not None
        target = terms.sigma.copy()
        target[faulty] *= np.exp(rng.choice([-1.0, 1.0]) * rng.uniform(0.1, 1.0))
        assert_found(game, dataclasses.replace(terms, sigma=target), faulty)
        found += 1
    assert found == GAMES


def test_the_brute_force_finds_nothing_where_there_is_nothing() -> None:
    games = random_games(5)
    for game, terms, _, _ in [next(games) for _ in range(20)]:
        gains, shares = brute_force(game, terms)
        assert shares.max() < 1e-12  # the rounding of sums of up to 7 bills
        assert gains.size == game.setting.n
