"""The search over reports: where it looks, what it follows up, what it leaves out."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pigou import AccuracyLoss, Game, Setting
from pigou.certificate import certify
from pigou.certificate.report_search import best_report
from pigou.errors import Degenerate, InvalidArgument, TooFewClients
from pigou.mechanisms.groves import Groves
from pigou.terms import Interval, Terms

Floats = NDArray[np.float64]

UNIT = Interval(0.0, 1.0)
ONE = np.ones(1)
GAME = Game(Setting(3, AccuracyLoss.bound(16.0, 2.0), 0.5, spread=0.1), [0.2, 0.5, 0.8])


class Gains:
    """A function of reports as an attempt, and the reports it was asked about."""

    def __init__(self, **parts: float) -> None:
        self.asked: list[list[float]] = []
        self.parts = parts

    def __call__(self, reports: Floats) -> tuple[Floats, Floats]:
        self.asked += reports.tolist()
        centre, width = self.parts["centre"], self.parts["width"]
        gain = 1.0 - np.square((reports - centre) / width).sum(axis=1)
        return gain, np.full(len(reports), 0.3)


@settings(deadline=None, max_examples=100)
@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_the_peak_of_a_smooth_gain_is_found(truth: float, centre: float) -> None:
    found = best_report(UNIT, np.array([truth]), ONE, Gains(centre=centre, width=0.1), 0.0)
    assert found.report[0] == pytest.approx(centre, abs=1e-3)
    assert found.gain == pytest.approx(1.0, abs=1e-3)


@settings(deadline=None, max_examples=100)
@given(st.floats(0.0, 1.0), st.floats(-12.0, -1.0), st.sampled_from([-1.0, 1.0]))
def test_small_lies_are_found_where_only_small_ones_pay(
    truth: float, exponent: float, side: float
) -> None:
    """A gain of d (2 c - d) from a lie of d: its best is c^2 at d = c."""
    best = 10.0**exponent
    centre = truth + side * best
    if not 0 <= centre <= 1:
        centre = truth - side * best

    def attempt(reports: Floats) -> tuple[Floats, Floats]:
        away = reports[:, 0] - truth
        return away * (2.0 * (centre - truth) - away), np.zeros(len(reports))

    found = best_report(UNIT, np.array([truth]), ONE, attempt, 0.0)
    # Lies under half of the least distance tried, 1e-5, gain no more than its square: 2.5e-11.
    assert found.gain >= 0.99 * best**2 - 2.5e-11


def test_the_truth_wins_among_equals() -> None:
    def nothing(reports: Floats) -> tuple[Floats, Floats]:
        return np.zeros(len(reports)), np.zeros(len(reports))

    for space in (UNIT, (0.1, 0.37, 0.9)):
        assert best_report(space, np.array([0.37]), ONE, nothing, 0.0).report.tolist() == [0.37]


def test_a_menu_is_tried_once_each_and_nothing_else() -> None:
    gains = Gains(centre=0.2, width=1.0)
    found = best_report((0.1, 0.3, 0.9), np.array([0.3]), ONE, gains, 0.0)
    assert sorted(gains.asked) == [[0.1], [0.3], [0.9]]
    assert found.report.tolist() in ([0.1], [0.3])


def test_both_ends_of_an_interval_are_tried_and_nothing_beyond() -> None:
    gains = Gains(centre=7.0, width=1.0)
    found = best_report(Interval(0.2, 0.7), np.array([0.7]), ONE, gains, -100.0)
    asked = np.array(gains.asked)
    assert asked.min() == 0.2
    assert asked.max() == 0.7
    assert found.report.tolist() == [0.7]


def test_a_wide_interval_is_searched_at_the_scale_of_reports_and_at_its_end() -> None:
    pair = (UNIT, Interval(0.0, 1e6))
    gains = Gains(centre=0.4, width=0.5)
    found = best_report(pair, np.array([0.9, 0.1]), np.array([1.0, 0.3]), gains, 0.0)
    np.testing.assert_allclose(found.report, 0.4, atol=2e-3)
    assert max(report[1] for report in gains.asked) == 1e6


def test_a_loss_is_not_followed_up() -> None:
    followed, left = Gains(centre=0.4, width=0.1), Gains(centre=0.4, width=0.1)
    best_report(UNIT, np.array([0.9]), ONE, followed, 0.0)
    best_report(UNIT, np.array([0.9]), ONE, left, 2.0)
    assert len(followed.asked) > len(left.asked) < 30


@pytest.mark.parametrize("refusal", [Degenerate, TooFewClients])
def test_reports_that_the_rule_refuses_are_no_way_to_gain(refusal: type[InvalidArgument]) -> None:
    def rule(reports: Floats) -> Terms:
        if reports.max() > 0.9:
            raise refusal("reports", "must be at most 0.9", reports)
        terms = Groves().terms(GAME.setting, reports)
        return dataclasses.replace(terms, transfers=terms.transfers - 0.1 * reports)

    found = certify(GAME, rule(GAME.alpha), rule=rule, report_space=UNIT).report
    assert found is not None
    assert isinstance(found.report, float)
    assert found.report <= 0.9
    assert found.relative > 1e-9


def test_other_errors_of_the_rule_are_the_callers_to_see() -> None:
    def rule(reports: Floats) -> Terms:
        if (reports != GAME.alpha).any():
            raise InvalidArgument("reports", "must be the truth", reports)
        return Groves().terms(GAME.setting, reports)

    with pytest.raises(InvalidArgument, match="must be the truth"):
        certify(GAME, rule(GAME.alpha), rule=rule, report_space=UNIT)


def test_the_rule_gets_arrays_of_its_own() -> None:
    def rule(reports: Floats) -> Terms:
        terms = Groves().terms(GAME.setting, reports.copy())
        reports[:] = 0.5
        return terms

    certificate = certify(GAME, rule(GAME.alpha.copy()), rule=rule, report_space=UNIT)
    assert certificate.ok, certificate.explain()
