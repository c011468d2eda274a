"""Mechanisms side by side: what is played, whose lies are searched for, and what is not."""

from dataclasses import dataclass, replace
from importlib import import_module
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import ArrayLike
from tests.strategies import games

from pigou import AccuracyLoss, Degenerate, Game, NotApplicable, Setting, equilibrium, optimum
from pigou.comparison import QUICK, THOROUGH, Effort, NotHere, Row, compare, judge, play
from pigou.comparison.judging import LARGEST, PAIRS, SOME, whom
from pigou.comparison.play import truthful
from pigou.mechanisms import Groves, Menu, Pigouvian, PostedPrice, Unpriced
from pigou.mechanisms.billing import expected_deviations
from pigou.paper import PaperPricing
from pigou.population import Uniform, two_point
from pigou.scenario import MECHANISMS, Details
from pigou.terms import Terms

LOSS = AccuracyLoss.bound(16.0, 2.0)
GAIN = 1e-9
PAIR = two_point(0.25, 0.75, 0.3)
TYPES = np.array([0.25, 0.75, 0.75, 0.25, 0.75, 0.75, 0.25, 0.75, 0.75, 0.75])
GAME = Game(Setting(10, LOSS, 0.5), TYPES)


def rows_of(game: Game, details: Details | None = None, **more: object) -> dict[str, Row]:
    found = compare(game, details, **more)  # type: ignore[arg-type] # names or effort
    return {row.mechanism: row for row in found.applicable}


@settings(deadline=None, max_examples=6)
@given(games(least=3, most=6))
def test_in_any_game_the_repaired_leave_nothing_to_gain(game: Game) -> None:
    rows = rows_of(game, names=("unpriced", "pigouvian", "posted", "groves"))
    gains = [rows["posted"].disobeying, rows["groves"].disobeying, rows["groves"].lying]
    assert all(gain is not None and gain <= GAIN for gain in gains)
    assert rows["groves"].ratio == pytest.approx(1.0, rel=1e-12)
    assert rows["pigouvian"].ratio == pytest.approx(1.0, rel=1e-12)
    assert rows["posted"].ratio >= 1.0 - 1e-12
    selfish = equilibrium(game)
    assert rows["unpriced"].ratio == pytest.approx(
        selfish.social_cost / optimum(game).social_cost, rel=1e-9
    )
    assert rows["unpriced"].better_off == 0.0
    for name in ("pigouvian", "posted"):  # refunds sum to zero
        assert abs(rows[name].reserve) <= 1e-12


def test_what_holds_for_each_where_all_apply() -> None:
    found = compare(GAME, Details(population=PAIR))
    assert found.refused == ()
    assert found.optimum == optimum(GAME).social_cost
    rows = {row.mechanism: row for row in found.applicable}
    assert list(rows) == list(MECHANISMS)
    assert {name for name, row in rows.items() if (row.lying or 0.0) > GAIN} == {
        "pigouvian",
        "paper",
        "paper-two-types",
    }
    assert {name for name, row in rows.items() if not row.asks} == {"unpriced", "posted"}
    assert {name for name, row in rows.items() if row.on_average} == {"menu", "paper-two-types"}
    assert rows["menu"].types == rows["paper-two-types"].types == 2
    assert abs(rows["menu"].reserve) <= 1e-12
    assert {row.searched for row in rows.values()} == {0, 10}
    assert not any(row.unsearched for row in rows.values())


def test_what_does_not_apply_says_why() -> None:
    uneven = Game(Setting(3, LOSS, 0.5, [0.2, 0.3, 0.5], spread=0.1), [0.2, 0.5, 0.8])
    refused = {
        row.mechanism: row.reason for row in compare(uneven, Details(population=PAIR)).refused
    }
    assert set(refused) == {"menu", "paper-two-types"}
    assert refused["menu"].startswith("weights must be equal for all active clients")
    without = {row.mechanism: row.reason for row in compare(uneven).refused}
    assert without["menu"].startswith("population must be given")
    assert "None" not in without["menu"]


@pytest.mark.parametrize("alpha", [[0.0] * 3, [1.0] * 3])
def test_a_game_without_an_optimum_is_refused(alpha: list[float]) -> None:
    with pytest.raises(Degenerate):
        compare(Game(Setting(3, LOSS, 0.5), alpha))


def test_the_posted_price_is_played_where_it_settles() -> None:
    settled = play(GAME, PostedPrice(0.3))
    shown = expected_deviations(GAME.setting, settled.sigma)
    again = PostedPrice(0.3).revise(GAME.setting, settled.terms, shown)
    np.testing.assert_allclose(again.unit_price, settled.terms.unit_price, rtol=1e-11)
    assert settled.reports is None
    assert settled.between == 0


def test_a_menu_s_targets_are_played_by_its_types_and_best_responses_by_others() -> None:
    menu = Menu(PAIR)
    on_it = play(GAME, menu)
    assert on_it.terms.sigma is not None
    np.testing.assert_array_equal(on_it.sigma, on_it.terms.sigma)
    between = play(Game(GAME.setting, TYPES + 0.01), menu)
    assert between.between == 10
    assert between.reports is not None
    np.testing.assert_array_equal(between.reports, TYPES)
    best = equilibrium(between.game, between.terms.unit_price).sigma
    np.testing.assert_array_equal(between.sigma, best)


def test_elsewhere_targets_are_asked_for_and_best_responses_played() -> None:
    """Under the paper's printed prices they differ: its targets are no equilibrium of them."""
    printed = play(GAME, PaperPricing(verbatim=True))
    best = equilibrium(printed.game, printed.terms.unit_price).sigma
    np.testing.assert_array_equal(printed.sigma, best)
    assert printed.terms.sigma is not None
    assert np.abs(np.log(printed.sigma / printed.terms.sigma)).max() > 0.01


def test_the_reserve_is_that_on_average_where_types_are_drawn() -> None:
    """Three low types of ten, where five are expected: this draw leaves money, the average none."""
    population = two_point(0.25, 0.75, 0.5)
    row = rows_of(GAME, Details(population=population, money=7.0), names=("menu",))["menu"]
    drawn = play(GAME, Menu(population))
    assert abs(drawn.reserve) > 1e-3 * drawn.social_cost
    assert abs(row.reserve) <= 1e-12


def test_true_reports_of_every_space() -> None:
    game = Game(Setting(3, LOSS, 0.5, spread=[0.1, 0.2, 0.3]), [0.2, 0.5, 0.8])
    assert truthful(game, None) is None
    np.testing.assert_array_equal(truthful(game, Groves().report_space), game.alpha)
    pairs = truthful(game, Groves(report_spread=True).report_space)
    np.testing.assert_array_equal(pairs, np.column_stack([game.alpha, game.setting.spread]))
    np.testing.assert_array_equal(truthful(game, (0.3, 0.75)), [0.3, 0.3, 0.75])


def test_what_is_owed_is_charges_less_refunds_and_transfers() -> None:
    for mechanism in (Unpriced(money=3.0), Groves(money=3.0), Menu(PAIR, money=3.0)):
        played = play(GAME, mechanism)
        net = played.bills.charge - played.bills.refund
        np.testing.assert_allclose(played.owed, net + played.terms.transfers)
        assert played.reserve == pytest.approx(played.owed.sum(), abs=1e-12)
        assert played.social_cost == pytest.approx(played.costs.sum())


@dataclass(frozen=True)
class PaysOne(Pigouvian):
    """Pays one client for reporting 1: a lie that pays it alone."""

    liar: int = 0

    def terms(
        self,
        setting: Setting,
        reports: ArrayLike | None = None,
        present: ArrayLike | None = None,
    ) -> Terms:
        terms = super().terms(setting, reports, present)
        told = np.asarray(reports)
        paid = np.where(np.arange(setting.n) == self.liar, -100.0 * told, 0.0)
        return replace(terms, transfers=paid)


@pytest.mark.parametrize("n", [5, 60])
def test_the_liar_is_named_by_its_place_among_all(n: int) -> None:
    """Where only some are searched, too: the heaviest client is one of them."""
    rng = np.random.default_rng(n)
    liar = n - 2
    weights = rng.dirichlet(np.full(n, 3.0)) * 0.5
    weights[liar] += 0.5
    game = Game(Setting(n, LOSS, 0.5, weights), rng.uniform(0.1, 0.9, n))
    found = judge(play(game, PaysOne(liar=liar)), MECHANISMS["pigouvian"], QUICK, lies=True)
    assert found.certificate.report is not None
    assert found.certificate.report.client == liar
    assert len(found.searched) == (n if n <= QUICK.everyone else SOME)
    assert not found.certificate.ok


def test_lies_are_searched_for_only_where_asked() -> None:
    played = play(GAME, Pigouvian())
    assert judge(played, MECHANISMS["pigouvian"], QUICK, lies=False).certificate.report is None
    assert not judge(played, MECHANISMS["pigouvian"], QUICK, lies=True).certificate.ok


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("effort", [QUICK, THOROUGH])
@pytest.mark.parametrize("n", [3, 8, 20, 40, 41, 100, 101, 5_000, 90_000, 200_000])
def test_how_many_are_searched_is_bounded(n: int, effort: Effort, pairs: bool) -> None:
    rng = np.random.default_rng(n)
    weights = rng.dirichlet(np.ones(n))
    game = Game(Setting(n, LOSS, 0.5, weights), rng.uniform(0.1, 0.9, n))
    chosen = whom(game, effort, pairs=pairs)
    assert list(chosen) == sorted(set(chosen))
    assert all(0 <= client < n for client in chosen)
    share = effort.everyone // (PAIRS if pairs else 1)
    if n <= share:
        assert len(chosen) == n
    else:
        assert len(chosen) * n * (PAIRS if pairs else 1) <= max(LARGEST, SOME * share * n)
        assert not chosen or int(np.argmax(weights)) in chosen


def test_too_many_clients_are_said_not_to_be_searched() -> None:
    n = LARGEST + 1
    game = Game(Setting(n, LOSS, 0.5), np.linspace(0.1, 0.9, n))
    row = rows_of(game, names=("pigouvian",))["pigouvian"]
    assert row.lying is None
    assert row.searched == 0
    assert row.unsearched == "there are too many clients"
    assert row.disobeying is not None and row.disobeying <= GAIN


def test_too_many_cases_on_average_are_said_not_to_be_searched() -> None:
    details = Details(population=Uniform(0.1, 0.9), points=5)
    game = Game(Setting(30, LOSS, 0.5), np.linspace(0.1, 0.9, 30))
    row = rows_of(game, details, names=("menu",))["menu"]
    assert row.lying is None and row.disobeying is None
    assert "population must leave at most 4,000 cases" in row.unsearched
    assert row.ratio < 1.01
    with pytest.raises(NotApplicable, match="give fewer types"):
        judge(play(game, Menu(Uniform(0.1, 0.9), 5)), MECHANISMS["menu"], QUICK, lies=True)


def test_a_mechanism_that_refuses_its_own_terms_is_not_applicable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(**_: object) -> Pigouvian:
        raise NotApplicable("weights", "must please me", None)

    kinds = {**MECHANISMS, "pigouvian": replace(MECHANISMS["pigouvian"], make=refuse)}
    module = import_module("pigou.comparison.compare")
    monkeypatch.setattr(module, "MECHANISMS", MappingProxyType(kinds))
    found = compare(GAME, names=("pigouvian", "posted"))
    assert found.rows[0] == NotHere("pigouvian", "weights must please me")
    assert [row.mechanism for row in found.applicable] == ["posted"]
