"""The menu in detail: what it covers, what it refuses, and what it makes once."""

import numpy as np
import pytest

from pigou import AccuracyLoss, Degenerate, InvalidArgument, NotApplicable, Setting, TooFewClients
from pigou.mechanisms import Menu
from pigou.population import (
    Beta,
    Finite,
    TruncatedNormal,
    Uniform,
    discretise,
    two_point,
)

LOSS = AccuracyLoss(2.0, 1.0)
PAIR = two_point(0.25, 0.75, 0.3)
SETTING = Setting(5, LOSS, 0.5)
TYPES = [0.25, 0.25, 0.75, 0.75, 0.75]


def test_terms_are_the_schedule_by_report() -> None:
    menu = Menu(PAIR, money=3.0)
    schedule, terms = menu.schedule(SETTING), menu.terms(SETTING, TYPES)
    who = np.array([0, 0, 1, 1, 1])
    assert terms.sigma is not None
    np.testing.assert_array_equal(terms.sigma, schedule.sigma[who])
    np.testing.assert_array_equal(terms.unit_price, schedule.unit_price[who])
    np.testing.assert_array_equal(terms.transfers, -3.0 * schedule.payment[who])


def test_a_schedule_is_made_once_per_setting() -> None:
    menu = Menu(PAIR)
    again = Setting(5, AccuracyLoss(2.0, 1.0), 0.5, np.full(5, 0.2))
    assert menu.schedule(SETTING) is menu.schedule(again)
    assert menu.schedule(Setting(5, LOSS, 0.6)) is not menu.schedule(SETTING)
    assert menu.schedule(Setting(6, LOSS, 0.5)) is not menu.schedule(SETTING)
    assert menu == Menu(PAIR)


@pytest.mark.parametrize(
    "population", [Uniform(0.1, 0.9), Beta(2.0, 3.0), TruncatedNormal(0.5, 0.2)]
)
def test_a_continuous_population_is_cut_into_quantiles(population: Uniform) -> None:
    menu = Menu(population, points=4)
    assert menu.report_space == tuple(discretise(population, 4).types)
    assert len(menu.report_space) == 4
    terms = menu.terms(SETTING, np.resize(menu.report_space, 5))
    assert (np.diff(terms.unit_price[:4]) < 0).all()


def test_the_menu_is_the_same_for_few_points_and_many_where_types_are_few() -> None:
    assert Menu(PAIR, points=50).report_space == (0.25, 0.75)


def test_users_who_do_not_upload_raise_prices_and_pay_nothing() -> None:
    """They count in M in expectation; their reports move nothing, so they owe nothing."""
    some = Setting(7, LOSS, 0.5, [0.2] * 5 + [0.0, 0.0])
    menu = Menu(PAIR)
    terms = menu.terms(some, [*TYPES, 0.25, 0.75])
    assert (terms.unit_price[:5] > menu.terms(SETTING, TYPES).unit_price).all()
    assert not terms.transfers[5:].any() and not terms.unit_price[5:].any()


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("weights", Setting(5, LOSS, 0.5, [0.1, 0.3, 0.2, 0.2, 0.2])),
        ("spread", Setting(5, LOSS, 0.5, spread=[0.1, 0.2, 0.1, 0.1, 0.1])),
        ("divergence", Setting(5, LOSS, 0.5, divergence=[0.1, 0.0, 0.0, 0.0, 0.0])),
    ],
)
def test_clients_that_differ_are_not_covered(name: str, setting: Setting) -> None:
    with pytest.raises(NotApplicable, match=f"{name} must be equal"):
        Menu(PAIR).terms(setting, TYPES)


def test_populations_without_an_answer_are_named() -> None:
    silent = Menu(Finite([0.0, 0.5], [0.5, 0.5]))
    with pytest.raises(Degenerate, match="no type 0"):
        silent.terms(SETTING, [0.0, 0.5, 0.5, 0.5, 0.5])
    careless = Menu(Finite([1.0], [1.0]))
    with pytest.raises(Degenerate, match="below 1"):
        careless.terms(SETTING, np.ones(5))


@pytest.mark.parametrize("report", [0.5, 0.25 + 1e-6, 0.0, 1.0])
def test_reports_are_types_of_the_menu(report: float) -> None:
    with pytest.raises(InvalidArgument, match=r"reports must be types of the menu, \[0.25 0.75\]"):
        Menu(PAIR).terms(SETTING, [report, *TYPES[1:]])


def test_a_report_may_be_rounded_in_its_tenth_digit() -> None:
    third = Menu(two_point(1 / 3, 2 / 3, 0.5))
    written = [0.3333333333, 0.6666666667, 0.3333333333, 1 / 3, 2 / 3]
    exact = [1 / 3, 2 / 3, 1 / 3, 1 / 3, 2 / 3]
    assert third.terms(SETTING, written) == third.terms(SETTING, exact)


@pytest.mark.parametrize("n", [1, 2])
def test_few_clients_are_refused(n: int) -> None:
    with pytest.raises(TooFewClients):
        Menu(PAIR).terms(Setting(n, LOSS, 0.5), np.full(n, 0.25))


def test_two_clients_and_a_constant_refund() -> None:
    terms = Menu(PAIR, refund="constant").terms(Setting(2, LOSS, 0.5), [0.25, 0.75])
    assert terms.unit_price[0] > terms.unit_price[1] > 0 and terms.constant_refund > 0


def test_population_and_points_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="population"):
        Menu([0.25, 0.75])  # type: ignore[arg-type]  # a list is not a population
    with pytest.raises(InvalidArgument, match="points"):
        Menu(Uniform(0.1, 0.9), points=0)
