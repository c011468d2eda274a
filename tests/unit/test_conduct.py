"""Conducts: each does what its name says, knowing only what is announced and itself."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pigou import AccuracyLoss, Game, InvalidArgument, Setting, equilibrium, optimum
from pigou.federation.audit import AuditRule
from pigou.federation.conduct import (
    CONDUCTS,
    Conduct,
    Copycat,
    Dropout,
    Learning,
    Lying,
    Obedient,
    Outcome,
    Ring,
    Selfish,
    Silent,
    View,
)
from pigou.federation.protocol import Announcement
from pigou.mechanisms import Groves, Menu, Pigouvian, PostedPrice, Unpriced
from pigou.mechanisms.base import Mechanism
from pigou.population import two_point
from pigou.terms import Reports, Terms

N = 8
ALPHA = np.linspace(0.15, 0.85, N)
SETTING = Setting(N, AccuracyLoss.bound(16.0, 2.0), 0.5, spread=0.01)
Floats = NDArray[np.float64]


def announcement(
    terms: Terms | None,
    space: Reports | None = None,
    error: float | None = None,
    round_: int = 1,
) -> Announcement:
    return Announcement(
        consortium="c",
        run="r",
        round=round_,
        attempt=1,
        rounds=10 if terms is None else terms.rounds,
        clients=tuple("abcdefgh"),
        mechanism="m",
        report_space=space,
        loss=SETTING.loss,
        privacy_scale=SETTING.privacy_scale,
        spread=SETTING.spread,
        divergence=SETTING.divergence,
        currency="EUR",
        largest=1e6,
        audit=AuditRule(),
        terms=terms,
        error=error,
    )


def view(
    mechanism: Mechanism, error: float | None = None, round_: int = 1, members: Any = None
) -> View:
    terms = mechanism.terms(SETTING, None if mechanism.report_space is None else ALPHA)
    who = np.arange(N) if members is None else np.asarray(members)
    return View(announcement(terms, mechanism.report_space, error, round_), who, ALPHA[who], seed=5)


def test_the_obedient_play_the_target() -> None:
    here = view(Pigouvian())
    play = Obedient().play(here)
    np.testing.assert_array_equal(play.sigma, here.terms.sigma)
    assert not play.copies.any()
    assert not play.absent.any()
    assert play.noise_of.tolist() == list(range(N))


def test_best_responses_are_at_rest_in_the_equilibrium_and_nowhere_else() -> None:
    game = Game(SETTING, ALPHA)
    for price in (np.zeros(N), np.linspace(0.01, 0.3, N)):
        point = equilibrium(game, price)
        terms = Terms("m", SETTING.weights, price)
        there = View(announcement(terms, error=point.error), np.arange(N), ALPHA)
        np.testing.assert_allclose(Selfish().play(there).sigma, point.sigma, rtol=1e-9)
        off = View(announcement(terms, error=2 * point.error), np.arange(N), ALPHA)
        assert not np.allclose(Selfish().play(off).sigma, point.sigma, rtol=0.01)


def test_repeated_best_responses_reach_the_equilibrium_from_anywhere() -> None:
    game = Game(SETTING, ALPHA)
    price = np.full(N, 0.05)
    terms, error = Terms("m", SETTING.weights, price), 100.0
    for _ in range(40):  # each is a step of a contraction by 1/3 in log error: 3^-40 < 1e-19
        here = View(announcement(terms, error=error), np.arange(N), ALPHA)
        error = game.error(Selfish().play(here).sigma)
    assert error == pytest.approx(equilibrium(game, price).error, rel=1e-12)


def test_under_pigouvian_prices_the_selfish_are_obedient() -> None:
    best = optimum(Game(SETTING, ALPHA))
    here = view(Pigouvian(), error=best.error)
    np.testing.assert_allclose(Selfish().play(here).sigma, best.sigma, rtol=1e-9)


def test_before_any_error_is_announced_the_others_are_taken_to_be_alike() -> None:
    here = view(Unpriced())
    alike = equilibrium(Game(SETTING, np.full(N, 0.3)))
    there = view(Unpriced(), error=alike.error)
    np.testing.assert_array_equal(Selfish(belief=0.3).play(here).sigma, Selfish().play(there).sigma)


def test_nothing_to_protect_no_noise_and_nothing_to_lose_no_upload() -> None:
    here = view(Unpriced(), error=1.0)
    extremes = View(here.announcement, np.array([0, 1]), np.array([0.0, 1.0]))
    play = Selfish().play(extremes)
    assert play.sigma.tolist() == [0.0, np.inf]
    assert play.absent.tolist() == [False, True]


def test_reports_are_of_the_kind_that_is_asked_for() -> None:
    cases: list[tuple[Mechanism, list[Any]]] = [
        (Unpriced(), []),
        (Pigouvian(), ALPHA.tolist()),
        (Groves(report_spread=True), [(a, 0.01) for a in ALPHA.tolist()]),
        (Menu(two_point(0.25, 0.75, 0.5)), [0.25] * 4 + [0.75] * 4),
    ]
    for mechanism, wanted in cases:
        asked = View(announcement(None, mechanism.report_space), np.arange(N), ALPHA)
        assert Obedient().report(asked) == wanted
    liar = View(announcement(None, Pigouvian().report_space), np.arange(N), ALPHA)
    assert Lying(claim=0.9).report(liar) == [0.9] * N


def test_liars_play_what_they_say() -> None:
    here = view(Pigouvian())
    assert here.terms.sigma is not None
    np.testing.assert_array_equal(Lying(noise_factor=2.0).play(here).sigma, 2 * here.terms.sigma)


def test_the_silent_and_the_copycats() -> None:
    here = view(Pigouvian())
    assert not Silent().play(here).sigma.any()
    assert not Silent().play(here).copies.any()
    bare, noisy = Copycat().play(here), Copycat(noise_factor=1.0).play(here)
    assert bare.copies.all()
    assert not bare.sigma.any()
    assert noisy.copies.all()
    np.testing.assert_array_equal(noisy.sigma, here.terms.sigma)


def test_clients_of_weight_zero_stay_away_or_copy_without_a_warning() -> None:
    setting = Setting(N, SETTING.loss, 0.5, [0.0] + [1 / 7] * 7)
    terms = Pigouvian().terms(setting, ALPHA)
    here = View(announcement(terms), np.arange(N), ALPHA)
    assert Obedient().play(here).absent.tolist() == [True] + [False] * 7
    assert Copycat().play(here).sigma.tolist() == [0.0] * N


def test_dropouts_come_and_go_with_their_rate() -> None:
    away = np.array(
        [Dropout(rate=0.3).play(view(Pigouvian(), round_=t)).absent for t in range(400)]
    )
    # 3200 independent draws: 4 standard deviations of their mean
    assert abs(away.mean() - 0.3) < 4 * np.sqrt(0.21 / away.size)
    assert len({row.tobytes() for row in away}) > 100


def test_a_member_decides_alike_alone_and_in_a_group() -> None:
    for conduct in (Dropout(rate=0.5), Learning(), Selfish()):
        together = conduct.play(view(Pigouvian(), error=0.1))
        for i in range(N):
            alone = conduct.play(view(Pigouvian(), error=0.1, members=[i]))
            assert alone.sigma[0] == together.sigma[i]
            assert alone.absent[0] == together.absent[i]


@pytest.mark.parametrize("members", [[0, 1], [1, 2, 3], [0, 2, 4, 6, 7]])
def test_a_ring_does_what_is_best_for_the_ring(members: list[int]) -> None:
    """Brute force over the shared noise: costs and bills of the ring, at the announced error."""
    error, k = 0.2, len(members)
    here = view(Pigouvian(), error=error, members=members)
    play = Ring().play(here)
    assert play.noise_of.tolist() == [members[0]] * k
    (level,) = set(play.sigma.tolist())
    price = float(here.terms.unit_price[members].mean())
    slope = max(0.0, (N - k) * (N - 2 * k) / ((N - 1) * (N - 2)))
    harm = (1 - ALPHA[members]).sum() * SETTING.loss.slope_over_error(error) / 2

    def cost(sigma: Floats) -> Floats:  # accuracy to first order in Delta^2, as theory (1) has it
        accuracy = harm * (k * sigma / N) ** 2
        privacy = ALPHA[members].sum() * SETTING.privacy_scale / sigma
        return np.asarray(accuracy + privacy + k * price * slope * sigma**2)

    grid = level * np.exp(np.linspace(-1, 1, 2001))
    assert grid[np.argmin(cost(grid))] == pytest.approx(level, rel=1e-3)


def outcome_of(price: float, play_sigma: Floats, rounds: int) -> Outcome:
    """The bill of a client whose price is this and whose other terms do not move."""
    return Outcome((price * np.square(play_sigma) + 0.7) / rounds)


@pytest.mark.parametrize("start", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("price", [0.0, 0.05, 0.5])
def test_learning_finds_the_best_response_to_a_price_that_it_sees_in_bills_only(
    start: float, price: float
) -> None:
    hidden = Terms("m", SETTING.weights, np.zeros(N), rounds=60)  # announces no price
    told = Terms("m", SETTING.weights, np.full(N, price), rounds=60)
    best = Selfish().play(View(announcement(told, error=0.2), np.arange(N), ALPHA)).sigma
    conduct: Conduct = Learning(start=start)
    for t in range(1, 61):
        here = View(announcement(hidden, error=0.2, round_=t), np.arange(N), ALPHA, seed=2)
        play = conduct.play(here)
        conduct = conduct.learn(here, play, outcome_of(price, play.sigma, 60))
    assert isinstance(conduct, Learning)
    np.testing.assert_allclose(np.exp(conduct.centre), best, rtol=1e-3)


def test_learning_survives_rounds_without_a_bill() -> None:
    hidden = Terms("m", SETTING.weights, np.zeros(N), rounds=60)
    conduct: Conduct = Learning()
    rng = np.random.default_rng(0)
    for t in range(1, 121):
        here = View(announcement(hidden, error=0.2, round_=t), np.arange(N), ALPHA, seed=2)
        play = conduct.play(here)
        net = outcome_of(0.1, play.sigma, 60).net
        conduct = conduct.learn(here, play, Outcome(np.where(rng.random(N) < 0.3, np.nan, net)))
        assert np.isfinite(play.sigma).all()
    told = Terms("m", SETTING.weights, np.full(N, 0.1), rounds=60)
    best = Selfish().play(View(announcement(told, error=0.2), np.arange(N), ALPHA)).sigma
    assert isinstance(conduct, Learning)
    np.testing.assert_allclose(np.exp(conduct.centre), best, rtol=1e-3)


def test_learning_at_both_ends_of_the_types() -> None:
    """Nothing to protect: no noise. Nothing to lose but bills: what the price makes best."""
    types = np.array([0.0, 1.0])
    hidden = Terms("m", SETTING.weights, np.zeros(N), rounds=80)
    conduct: Conduct = Learning()
    for t in range(1, 81):
        here = View(announcement(hidden, error=0.2, round_=t), np.arange(2), types)
        play = conduct.play(here)
        conduct = conduct.learn(here, play, outcome_of(0.1, play.sigma, 80))
        assert play.sigma[0] == 0.0
        assert not play.absent.any()
    best = np.cbrt(SETTING.privacy_scale / 0.2)  # alpha = 1: theory (1) with the price alone
    assert isinstance(conduct, Learning)
    assert np.exp(conduct.centre[1]) == pytest.approx(best, rel=1e-3)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Selfish(belief=0.0),
        lambda: Selfish(belief=1.0),
        lambda: Obedient(belief=np.nan),
        lambda: Lying(claim=1.5),
        lambda: Lying(noise_factor=-1.0),
        lambda: Copycat(noise_factor=np.inf),
        lambda: Ring(noise_factor=-0.1),
        lambda: Dropout(rate=2.0),
        lambda: Learning(start=0.0),
        lambda: Learning(step=0.0),
        lambda: Learning(rate=1.1),
        lambda: Learning(memory=-0.1),
    ],
)
def test_parameters_are_checked_when_a_conduct_is_made(make: Any) -> None:
    with pytest.raises(InvalidArgument):
        make()


def test_every_conduct_has_its_name() -> None:
    assert {name: each().name for name, each in CONDUCTS.items()} == {n: n for n in CONDUCTS}


def test_posted_prices_announce_no_target_and_the_obedient_respond() -> None:
    here = view(PostedPrice(), error=0.2)
    np.testing.assert_array_equal(Obedient().play(here).sigma, Selfish().play(here).sigma)
