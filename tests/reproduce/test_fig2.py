"""Fig. 2 from the formulas: shapes as inequalities, gaps where there is nothing to draw."""

import itertools
import math
from collections.abc import Mapping

import numpy as np
import pytest

from pigou.comparison import play
from pigou.game import Game
from pigou.mechanisms import Groves, Mechanism, Menu, PostedPrice, Unpriced
from pigou.paper.errata.cases import HIGH, LOW
from pigou.population import two_point
from pigou.reproduce import fig2, formulas
from pigou.reproduce.chart import Series
from pigou.reproduce.fig2 import Model
from pigou.reproduce.fig2_chapter import peak
from pigou.reproduce.treatments import (
    CORRECTED,
    GROVES,
    MEAN_UNPRICED,
    MENU,
    POSTED,
    PRINTED,
    UNPRICED,
)

ETAS = fig2.QUICK_ETAS
PRICED = (CORRECTED, PRINTED, GROVES, POSTED, MENU)
ROUNDING = 1e-9


@pytest.fixture(scope="module")
def curves() -> Mapping[str, Series]:
    model = Model()
    theirs, _ = fig2.papers(model, ETAS)
    return {series.name: series for series in (*theirs, *fig2.repaired(model, ETAS))}


def test_every_curve_rises_to_a_peak_inside_and_falls(curves: Mapping[str, Series]) -> None:
    for series in curves.values():
        known = series.y[np.isfinite(series.y)]
        top = int(known.argmax())
        assert 0 < top < known.size - 1, series.name
        assert (np.diff(known[: top + 1]) > 0).all(), series.name
        assert (np.diff(known[top:]) < 0).all(), series.name


def test_the_unpriced_peak_is_right_of_one_half(curves: Mapping[str, Series]) -> None:
    """Measured: 0.72 on a finer grid; with mean weights, and with prices, closer to one half."""
    assert 0.6 < peak(curves[UNPRICED]) < 0.8
    for name in (MEAN_UNPRICED, *PRICED):
        assert abs(peak(curves[name]) - 0.5) < abs(peak(curves[UNPRICED]) - 0.5), name


def test_prices_save_at_every_eta(curves: Mapping[str, Series]) -> None:
    for name in PRICED:
        theirs = name in (CORRECTED, PRINTED)
        unpriced = curves[UNPRICED if theirs else MEAN_UNPRICED].y
        ratio = unpriced / curves[name].y
        assert np.nanmin(ratio) > 4.0, name


def test_the_repaired_ones_cost_less_than_the_papers(curves: Mapping[str, Series]) -> None:
    """Groves is the least for mean weights; the menu and the posted price cannot be below it."""
    for name in (POSTED, MENU, MEAN_UNPRICED):
        assert (curves[name].y >= curves[GROVES].y * (1.0 - ROUNDING)).all()
    for name in (GROVES, MENU):
        both = np.isfinite(curves[CORRECTED].y)
        assert (curves[name].y[both] < curves[CORRECTED].y[both]).all()


def test_at_one_half_the_papers_mechanism_is_a_gap_with_its_reason() -> None:
    series, notes = fig2.papers(Model(), (0.48, 0.5, 0.52))
    named = {each.name: each.y for each in series}
    for name in (CORRECTED, PRINTED):
        assert np.isnan(named[name]).tolist() == [False, True, False]
    assert np.isfinite(named[UNPRICED]).all()
    (note,) = notes
    assert (note.low, note.high, note.text) == (0.5, 0.5, fig2.SINGULAR)


def test_where_the_unpriced_branch_ends_there_is_a_gap_and_no_other_branch() -> None:
    series, notes = fig2.papers(Model(), (0.92, 0.94, 0.96, 0.98))
    named = {each.name: each.y for each in series}
    assert np.isnan(named[UNPRICED]).tolist() == [False, False, True, True]
    (note,) = notes
    assert (note.low, note.high, note.text) == (0.96, 0.98, fig2.GONE)


def test_where_the_papers_optimum_is_gone_so_are_both_priced_curves() -> None:
    series, notes = fig2.papers(Model(n=10), (0.3, 0.9))
    named = {each.name: each.y for each in series}
    for name in (CORRECTED, PRINTED):
        assert np.isnan(named[name]).tolist() == [False, True]
    assert (0.9, 0.9, fig2.LOST) in [(note.low, note.high, note.text) for note in notes]


def test_reasons_apart_are_two_notes() -> None:
    notes = list(fig2._notes((0.1, 0.2, 0.3, 0.4), [("x",), (fig2.GONE,), (), (fig2.GONE,)]))
    assert [(note.low, note.high) for note in notes] == [(0.2, 0.2), (0.4, 0.4)]


def test_expectations_are_those_over_all_profiles() -> None:
    """Every profile of five clients, one by one, with its probability."""
    n, eta = 5, 0.3
    model = Model(n=n)
    setting = formulas.setting(n)
    menu = Menu(two_point(LOW, HIGH, eta)).schedule(setting).sigma
    mechanisms: dict[str, Mechanism] = {
        MEAN_UNPRICED: Unpriced(),
        GROVES: Groves(),
        POSTED: PostedPrice(mean_alpha=fig2.ASSUMED),
    }
    expected = dict.fromkeys((*mechanisms, MENU), 0.0)
    for profile in itertools.product((LOW, HIGH), repeat=n):
        chance = math.prod(eta if alpha == LOW else 1.0 - eta for alpha in profile)
        game = Game(setting, profile)
        for name, mechanism in mechanisms.items():
            expected[name] += chance * play(game, mechanism).social_cost
        noise = [menu[0] if alpha == LOW else menu[1] for alpha in profile]
        expected[MENU] += chance * game.social_cost(np.array(noise))
    for series in fig2.repaired(model, (eta,)):
        assert series.y[0] == pytest.approx(expected[series.name], rel=1e-9)
