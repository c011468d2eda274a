"""The posted price in detail: first terms, revisions, dropouts, refunds and bad input."""

from dataclasses import replace

import numpy as np
import pytest

from pigou import AccuracyLoss, Degenerate, Game, InvalidArgument, Setting, optimum
from pigou.mechanisms import PostedPrice
from pigou.mechanisms.billing import expected_bills, expected_deviations

LOSS = AccuracyLoss(2.0, 1.0)
SETTING = Setting(5, LOSS, 0.5, [0.3, 0.1, 0.2, 0.2, 0.2], spread=0.1, divergence=0.4)
SIGMA = np.linspace(0.3, 0.9, 5)


def test_first_price_is_that_of_equal_clients_of_the_assumed_type() -> None:
    terms = PostedPrice(0.3).terms(SETTING, reports=None)
    error = optimum(Game(SETTING, np.full(5, 0.3))).error
    slope = 2.0 / error + 2.0 * 1.0
    assert terms.error == error
    np.testing.assert_allclose(terms.unit_price, 4 * 0.7 * slope * SETTING.weights**2 / 2.0)
    assert terms.sigma is None and not terms.transfers.any()


def test_reports_are_not_looked_at() -> None:
    assert PostedPrice().terms(SETTING, reports=np.full(5, 0.9)) == PostedPrice().terms(SETTING)


def test_users_who_do_not_upload_count_in_the_harm() -> None:
    """b goes with n - 1, over everyone who uses the model, not with the number of uploads."""
    weights = [0.25, 0.25, 0.25, 0.25, 0.0, 0.0, 0.0]
    posted = PostedPrice()
    many = posted.revise(
        Setting(7, LOSS, 0.5, weights),
        posted.terms(Setting(7, LOSS, 0.5, weights)),
        np.append(np.ones(4), np.zeros(3)),
    )
    four = Setting(4, LOSS, 0.5)
    few = posted.revise(four, posted.terms(four), np.ones(4))
    assert many.error == pytest.approx(few.error)
    np.testing.assert_allclose(many.unit_price[:4], few.unit_price * 6 / 3)
    assert not many.unit_price[4:].any()


@pytest.mark.parametrize("scale", [0.0, 0.5, 0.99])
def test_an_estimate_below_the_floor_of_spread_keeps_the_last(scale: float) -> None:
    """Deviations of less than honest updates of the stated spread would make."""
    posted = PostedPrice()
    terms = posted.terms(SETTING)
    silent = expected_deviations(SETTING, np.zeros(5)) - SETTING.divergence
    revised = posted.revise(SETTING, terms, scale * silent + SETTING.divergence)
    assert revised.error == terms.error
    np.testing.assert_array_equal(revised.unit_price, terms.unit_price)
    above = posted.revise(SETTING, terms, 1.01 * silent + SETTING.divergence)
    floor = Game(SETTING, np.full(5, 0.5)).error(np.zeros(5))
    assert above.error == pytest.approx(1.01**0.5 * floor)


def test_two_clients_tell_nothing_apart() -> None:
    setting, posted = Setting(2, LOSS, 0.5), PostedPrice(refund="constant")
    terms = posted.terms(setting)
    assert posted.revise(setting, terms, [3.0, 3.0]).error == terms.error


def test_absence_scales_the_running_estimate() -> None:
    """As if all were alike: the error of n clients' mean goes with n^(-1/2)."""
    setting, posted = Setting(8, LOSS, 0.5), PostedPrice()
    running = posted.revise(setting, posted.terms(setting), np.full(8, 0.7))
    assert running.error is not None
    here = np.arange(8) < 4
    adapted = posted.adapt(setting, running, None, here)
    assert adapted.error == pytest.approx(running.error * 2.0**0.5)
    back = posted.adapt(setting, adapted, None, np.ones(8, np.bool_))
    np.testing.assert_allclose(back.unit_price, running.unit_price)


def test_revision_is_for_the_clients_of_the_terms() -> None:
    """The full setting and terms of some: weights, N and the floor are theirs."""
    here, posted = np.array([True, True, False, True, True]), PostedPrice()
    terms = posted.terms(SETTING, present=here)
    some = SETTING.restricted(here)
    shown = expected_deviations(some, SIGMA)
    revised = posted.revise(SETTING, terms, shown)
    assert revised.error == pytest.approx(Game(some, np.full(5, 0.5)).error(SIGMA))
    assert revised == posted.revise(some, terms, shown)


def test_constant_refund_gives_back_what_last_round_would_have_cost() -> None:
    posted = PostedPrice(refund="constant")
    revised = posted.revise(SETTING, posted.terms(SETTING), expected_deviations(SETTING, SIGMA))
    bills = expected_bills(SETTING, revised, SIGMA)
    assert bills.charge.sum() == pytest.approx(bills.refund.sum())


def test_first_constant_refund_is_for_equal_clients() -> None:
    setting = Setting(6, LOSS, 0.5, spread=0.1)
    terms = PostedPrice(0.4, refund="constant").terms(setting)
    alike = optimum(Game(setting, np.full(6, 0.4)))
    bills = expected_bills(setting, terms, alike.sigma)
    assert bills.net == pytest.approx(np.zeros(6), abs=1e-12)


def test_no_assumed_sensitivity_needs_spread_or_a_start() -> None:
    quiet = Setting(5, LOSS, 0.5)
    with pytest.raises(Degenerate, match="mean_alpha"):
        PostedPrice(0.0).terms(quiet)
    assert PostedPrice(0.0).terms(SETTING).unit_price.all()
    game = Game(quiet, np.full(5, 0.5))
    assert PostedPrice(0.0).converge(game, start=1.0).ratio[-1] > 1.0


@pytest.mark.parametrize("bad", [-0.1, 1.0, 2.0, float("nan"), "half", True])
def test_mean_alpha_is_checked(bad: float) -> None:
    with pytest.raises(InvalidArgument, match=r"mean_alpha must lie in \[0, 1\)"):
        PostedPrice(bad)


@pytest.mark.parametrize("bad", [[1.0] * 4, [1.0] * 4 + [-1.0], [1.0] * 4 + [np.nan], None])
def test_deviations_are_checked(bad: list[float]) -> None:
    posted = PostedPrice()
    with pytest.raises(InvalidArgument, match="deviations"):
        posted.revise(SETTING, posted.terms(SETTING), bad)


def test_terms_of_another_kind_are_refused() -> None:
    terms = replace(PostedPrice().terms(SETTING), error=None)
    with pytest.raises(InvalidArgument, match="error"):
        PostedPrice().revise(SETTING, terms, np.ones(5))


@pytest.mark.parametrize(("argument", "bad"), [("rounds", 0), ("start", 0.0), ("start", -1.0)])
def test_path_arguments_are_checked(argument: str, bad: float) -> None:
    game = Game(SETTING, np.full(5, 0.5))
    with pytest.raises(InvalidArgument, match=argument):
        PostedPrice().converge(game, **{argument: bad})  # type: ignore[arg-type]  # bad on purpose
