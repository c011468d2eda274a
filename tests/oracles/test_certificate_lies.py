"""Planted lies that pay, found, and their gains against a dense search over reports and noise."""

import dataclasses
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.oracles.certificate_by_hand import least, paid, unpaid
from tests.strategies import changed

from pigou import AccuracyLoss, Game, Setting
from pigou.certificate import GAIN_TOLERANCE, Deviation, certify
from pigou.mechanisms import Pigouvian
from pigou.mechanisms.groves import Groves
from pigou.terms import Interval, Reports, Terms

Floats = NDArray[np.float64]
Rule = Callable[[Floats], Terms]
Plant = Callable[[Game, np.random.Generator], Rule]

UNIT = Interval(0.0, 1.0)


def random_games(seed: int, number: int, spread: bool = True) -> Iterator[Game]:
    rng = np.random.default_rng(seed)
    for _ in range(number):
        n = int(rng.integers(3, 5))
        linear, quadratic = 10.0 ** rng.uniform(-1.0, 1.0, 2)
        loss = AccuracyLoss(float(linear), float(quadratic))
        weights = rng.dirichlet(np.full(n, 5.0))
        v = rng.uniform(0.05, 0.5, n) if spread else 0.0
        yield Game(Setting(n, loss, 0.5, weights, v), rng.uniform(0.1, 0.9, n))


def groves(setting: Setting, report_spread: bool = False) -> Rule:
    """Groves, in a currency of which a unit of cost is worth 20."""
    return lambda reports: Groves(report_spread=report_spread, money=20.0).terms(setting, reports)


def subsidised(rule: Rule, client: int, subsidy: Callable[[Floats], float]) -> Rule:
    """The same rule, but one client is paid for what it reports."""

    def paying(reports: Floats) -> Terms:
        terms = rule(reports)
        transfers = terms.transfers.copy()
        transfers[client] -= subsidy(reports[client])
        return dataclasses.replace(terms, transfers=transfers)

    return paying


def no_transfers(game: Game, rng: np.random.Generator) -> Rule:
    """Prices (2) at the reports, and nothing for the truth."""
    return lambda reports: Pigouvian().terms(game.setting, reports)


def wrong_spread(game: Game, rng: np.random.Generator) -> Rule:
    """Groves, with a public spread half of the true one."""
    return groves(changed(game.setting, spread=0.5 * game.setting.spread))


def bump(game: Game, rng: np.random.Generator) -> Rule:
    """Groves, and a bonus for one client around one report."""
    centre, height = rng.uniform(0.0, 1.0), 0.3 * rng.uniform(0.5, 1.0)
    width = 0.1  # a bonus over less than the search's grid could be missed

    def bonus(report: Floats) -> float:
        return float(height * np.exp(-(((report - centre) / width) ** 2)))

    return subsidised(groves(game.setting), int(rng.integers(game.setting.n)), bonus)


def tiny_slope(game: Game, rng: np.random.Generator) -> Rule:
    """Groves, and so little for higher reports that only a small lie pays."""
    slope = float(rng.choice([-1.0, 1.0])) * 10.0 ** rng.uniform(-3.0, -1.5)
    rule = groves(game.setting)
    return subsidised(rule, int(rng.integers(game.setting.n)), lambda report: slope * float(report))


def step(game: Game, rng: np.random.Generator) -> Rule:
    """Groves, and a bonus for one client that reports less than half."""
    rule = groves(game.setting)
    return subsidised(rule, 0, lambda report: 0.5 if report < 0.5 else 0.0)


def gain_of(game: Game, rule: Rule, client: int, truth: Floats) -> Callable[[Floats], float]:
    """What a report gains one client with its best noise on a dense grid."""
    at_truth = rule(truth)
    assert at_truth.sigma is not None
    target = at_truth.sigma[[client]]
    honest = float(paid(game, at_truth, client)(target)[0])

    def gain(report: Floats) -> float:
        reports = truth.copy()
        reports[client] = np.squeeze(report)
        terms = rule(reports)
        assert terms.sigma is not None
        centre = max(float(terms.sigma[client]), 1e-3 * float(target[0]))
        return honest - least(paid(game, terms, client), centre, points=81)

    return gain


def densest(gain: Callable[[Floats], float], high: Floats, sizes: tuple[int, ...]) -> float:
    """The largest gain on a grid from 0 to ``high``, refined around its best again and again."""
    low, top, best = np.zeros(high.size), high, 0.0
    for size in sizes:
        axes = [np.linspace(low[k], top[k], size) for k in range(high.size)]
        points = [np.array(point) for point in product(*axes)]
        gains = [gain(point) for point in points]
        at, cell = points[int(np.argmax(gains))], (top - low) / (size - 1)
        low, top = np.maximum(at - cell, 0.0), np.minimum(at + cell, high)
        best = max(best, *gains)
    return best


def assert_found(game: Game, rule: Rule, space: Reports, gains: list[float]) -> Deviation:
    """The certificate fails, and its gain is that of brute force, client by client the largest."""
    terms = rule(game.alpha)
    certificate = certify(game, terms, rule=rule, report_space=space)
    shares = [gain / unpaid(game, terms, client) for client, gain in enumerate(gains)]
    found = certificate.report
    assert found is not None
    assert found.relative == pytest.approx(max(shares), rel=0.01)
    assert found.gain == pytest.approx(gains[found.client], rel=0.01)
    assert shares[found.client] >= 0.99 * max(shares)
    assert not certificate.ok
    assert f"client {found.client} reports " in certificate.explain()
    return found


@pytest.mark.parametrize("plant", [no_transfers, wrong_spread, bump, tiny_slope, step])
def test_lies_that_pay_are_found(plant: Plant) -> None:
    rng = np.random.default_rng(5)
    for game in random_games(seed=17, number=2):
        rule = plant(game, rng)
        clients = range(game.setting.n)
        every = [gain_of(game, rule, client, game.alpha) for client in clients]
        gains = [densest(gain, np.ones(1), (101, 41, 41)) for gain in every]
        assert_found(game, rule, UNIT, gains)


def test_lies_that_pay_are_found_on_a_menu() -> None:
    menu = (0.1, 0.3, 0.5, 0.9)
    rng = np.random.default_rng(6)
    for game in random_games(seed=23, number=10):
        game = Game(game.setting, rng.choice(menu, game.setting.n))
        client = int(rng.integers(game.setting.n))
        lie = float(rng.choice([value for value in menu if value != game.alpha[client]]))
        rule = rewarded(game, client, lie)
        clients = range(game.setting.n)
        every = [gain_of(game, rule, client, game.alpha) for client in clients]
        gains = [max(gain(np.array([value])) for value in menu) for gain in every]
        found = assert_found(game, rule, menu, gains)
        assert (found.client, found.report) == (client, lie)


def rewarded(game: Game, client: int, lie: float) -> Rule:
    """Groves, and a reward for one client that reports one type."""
    return subsidised(groves(game.setting), client, lambda report: 3.0 * float(report == lie))


def slope_over_pairs(rng: np.random.Generator) -> Callable[[Floats], float]:
    return lambda report: float(report @ [0.02, -0.05])


def bump_over_pairs(rng: np.random.Generator) -> Callable[[Floats], float]:
    centre = np.array([rng.uniform(0.2, 0.8), rng.uniform(0.1, 0.5)])
    return lambda report: float(
        0.3 * np.exp(-np.square((report - centre) / [0.2, 0.3]).sum()),
    )


@pytest.mark.parametrize("plant", [slope_over_pairs, bump_over_pairs])
def test_lies_about_type_and_spread_together_are_found(
    plant: Callable[[np.random.Generator], Callable[[Floats], float]],
) -> None:
    space = (UNIT, Interval(0.0, 1e6))
    rng = np.random.default_rng(8)
    for game in random_games(seed=29, number=2):
        client = int(rng.integers(game.setting.n))
        rule = subsidised(groves(game.setting, report_spread=True), client, plant(rng))
        truth = np.column_stack([game.alpha, game.setting.spread])
        best = densest(gain_of(game, rule, client, truth), np.array([1.0, 2.0]), (13, 13, 13, 13))
        found = certify(game, rule(truth), rule=rule, report_space=space).report
        assert found is not None
        assert found.client == client
        assert found.relative > GAIN_TOLERANCE
        assert found.gain == pytest.approx(best, rel=0.01)


def test_truth_passes_where_it_is_optimal() -> None:
    for game in random_games(seed=31, number=4):
        rule = groves(game.setting)
        certificate = certify(game, rule(game.alpha), rule=rule, report_space=UNIT)
        assert certificate.ok, certificate.explain()
        assert certificate.report is not None
        assert "in report and noise" in certificate.explain()
