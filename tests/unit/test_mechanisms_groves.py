"""Groves in detail: report spaces, limits of the exchange, and bad input."""

import numpy as np
import pytest

from pigou import AccuracyLoss, Degenerate, Game, InvalidArgument, Setting, TooFewClients, optimum
from pigou.mechanisms import Groves
from pigou.mechanisms.groves_exchange import cost_without
from pigou.terms import Interval

LOSS = AccuracyLoss(2.0, 1.0)


def test_report_space_is_types_or_pairs() -> None:
    assert Groves().report_space == Interval(0.0, 1.0)
    pairs = Groves(report_spread=True).report_space
    assert isinstance(pairs, tuple) and pairs[0] == Interval(0.0, 1.0)
    assert isinstance(pairs[1], Interval) and pairs[1].low == 0.0


def test_reported_spread_takes_the_place_of_the_setting_s() -> None:
    alpha, spread = np.array([0.2, 0.5, 0.6, 0.9]), np.array([0.1, 0.4, 0.0, 0.2])
    pairs = np.column_stack([alpha, spread])
    told = Groves(report_spread=True).terms(Setting(4, LOSS, 0.5, spread=7.0), pairs)
    known = Groves().terms(Setting(4, LOSS, 0.5, spread=spread), alpha)
    np.testing.assert_array_equal(told.unit_price, known.unit_price)
    assert told.sigma is not None and known.sigma is not None
    np.testing.assert_array_equal(told.sigma, known.sigma)
    assert not np.allclose(told.transfers, known.transfers)  # h_i exchanges the spread as well


@pytest.mark.parametrize("n", [5, 500])
def test_the_others_cost_nothing_where_only_one_minds(n: int) -> None:
    """Noise or accuracy: without the only one who does, the least cost is 0."""
    alone = np.zeros(n)
    alone[0] = 0.6
    quiet = cost_without(optimum(Game(Setting(n, LOSS, 0.5), alone)), spread_reported=False)
    assert quiet[0] == 0.0 < quiet[1]
    careless = optimum(Game(Setting(n, LOSS, 0.5), 1.0 - alone))
    assert cost_without(careless, spread_reported=False)[0] == 0.0


def test_users_who_do_not_upload_pay_for_their_reports() -> None:
    """They move M, and so everybody's noise: inactive, but charged; no bill, no target."""
    setting = Setting(5, LOSS, 0.5, [0.25, 0.25, 0.25, 0.25, 0.0])
    low, high = (Groves().terms(setting, [0.2, 0.4, 0.6, 0.8, a]) for a in (0.1, 0.9))
    assert low.transfers[4] != high.transfers[4] != 0.0
    assert low.unit_price[4] == 0.0


def test_nobody_cares_about_accuracy() -> None:
    with pytest.raises(Degenerate):
        Groves().terms(Setting(4, LOSS, 0.5), np.ones(4))


@pytest.mark.parametrize("n", [1, 2])
def test_few_clients_are_refused_before_anything_is_solved(n: int) -> None:
    with pytest.raises(TooFewClients):
        Groves().terms(Setting(n, LOSS, 0.5), np.full(n, 0.5))


def test_two_clients_and_a_constant_refund() -> None:
    terms = Groves(refund="constant").terms(Setting(2, LOSS, 0.5), [0.3, 0.6])
    assert np.isfinite(terms.transfers).all()


@pytest.mark.parametrize("bad", [1, "yes", None])
def test_report_spread_is_a_choice(bad: bool) -> None:
    with pytest.raises(InvalidArgument, match="report_spread"):
        Groves(report_spread=bad)


def test_few_who_mind_among_many_are_exchanged_pair_by_pair() -> None:
    """Where one report may move the others' sums a lot, interpolation would show in the money."""
    n = 450
    alpha = np.where(np.arange(n) < 4, 0.5, 0.0)
    careless = np.where(np.arange(n) < 4, 0.5, 1.0)
    for types in (alpha, careless):
        best = optimum(Game(Setting(n, LOSS, 0.5), types))
        found = cost_without(best, spread_reported=False)
        for i in (0, n - 1):
            changed = np.tile(np.delete(types, i), (n - 1, 1))
            others = [
                optimum(Game(Setting(n, LOSS, 0.5), np.insert(rest, i, rest[k])))
                for k, rest in enumerate(changed)
            ]
            average = np.mean([each.social_cost - each.costs[i] for each in others])
            assert found[i] == pytest.approx(average, rel=1e-11)
