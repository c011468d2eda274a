"""The menu: truth and obedience are best in expectation over the others' types (section 4)."""

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import Floats, losses, rngs
from tests.theorems.payoffs import Faced, least

from pigou import AccuracyLoss, Game, Setting, optimum
from pigou.mechanisms import Menu, Pigouvian
from pigou.mechanisms.menu_schedule import Schedule
from pigou.population import Finite, Uniform, discretise, two_point
from pigou.terms import RefundRule, Terms

REFUNDS: tuple[RefundRule, ...] = ("zero-sum", "constant")
GAIN = 1e-9  # of the type's own expected cost
VECTORS = 1e-8  # what the reference numbers are held to
ROUNDING = 1e-12
PAPER = AccuracyLoss.bound(16.0, 2.0)
CASES = json.loads((Path(__file__).parents[1] / "oracles" / "two_types.json").read_text())


def population(rng: np.random.Generator, types: int, low: float = 0.05) -> Finite:
    while True:
        values = np.sort(rng.uniform(low, 0.95, types))
        if np.diff(values).min(initial=1.0) > 0.02:
            return Finite(values, rng.dirichlet(np.full(types, 3.0)))


def profiles(menu: Menu, n: int) -> list[tuple[Floats, float]]:
    """All that clients 1 .. n-1 may report, and how likely each is."""
    finite = menu.finite
    return [
        (finite.types[list(chosen)], float(finite.probabilities[list(chosen)].prod()))
        for chosen in itertools.product(range(finite.types.size), repeat=n - 1)
    ]


class Interim:
    """What client 0 faces, not knowing the others' types: the average over all their profiles."""

    def __init__(self, menu: Menu, setting: Setting, present: Floats | None = None) -> None:
        self.menu, self.setting, self.present = menu, setting, present
        self.others = profiles(menu, setting.n)
        self.chances = np.array([chance for _, chance in self.others])

    def contracts(self, report: float) -> list[Terms]:
        reports = (np.append(report, others) for others, _ in self.others)
        return [self.menu.terms(self.setting, row, self.present) for row in reports]

    def faced(self, alpha: float, contracts: list[Terms]) -> Faced:
        game = Game(self.setting, np.append(alpha, np.full(self.setting.n - 1, 0.5)))
        return Faced.by(game, 0, contracts)

    def best(self, alpha: float, contracts: list[Terms]) -> tuple[float, float]:
        """The noise that is best against all profiles at once, and the expected total there."""
        faced = self.faced(alpha, contracts)

        def expected(noise: Floats) -> Floats:
            rows = np.broadcast_to(noise, (self.chances.size, noise.size))
            return np.asarray(self.chances @ faced.total(rows))[None, :].reshape(noise.shape)

        centre = self.setting.privacy_scale ** (1.0 / 3.0)
        noise, total = least(expected, 1, centre)
        return float(noise[0]), float(total[0])

    def at(self, alpha: float, contracts: list[Terms], noise: float) -> float:
        rows = np.full(self.chances.size, noise)
        return float(self.chances @ self.faced(alpha, contracts).total(rows))


@st.composite
def cases(draw: st.DrawFn) -> Interim:
    types, n = draw(st.sampled_from([(1, 4), (2, 3), (2, 5), (3, 3), (3, 4), (6, 3)]))
    rng, refund = draw(rngs()), draw(st.sampled_from(REFUNDS))
    spread = draw(st.sampled_from([0.0, 0.3]))
    menu = Menu(population(rng, types), money=7.0, refund=refund)
    scale = float(10.0 ** rng.uniform(-2.0, 1.0))
    setting = Setting(n, draw(losses()), scale, spread=spread, divergence=rng.choice([0.0, 1.0]))
    return Interim(menu, setting)


@given(interim=cases())
@settings(deadline=None, max_examples=30)
def test_no_type_gains_by_any_report_and_noise(interim: Interim) -> None:
    """All K^2 pairs of type and report, each with its best noise, by enumeration."""
    types = interim.menu.finite.types
    schedule = interim.menu.schedule(interim.setting)
    contracts = [interim.contracts(report) for report in types]
    for k, alpha in enumerate(types):
        honest = interim.at(alpha, contracts[k], schedule.sigma[k])
        totals = [interim.best(alpha, each)[1] for each in contracts]
        assert honest - min(totals) <= GAIN * schedule.costs[k, k]


@given(interim=cases())
@settings(deadline=None, max_examples=20)
def test_costs_and_payments_are_what_enumeration_gives(interim: Interim) -> None:
    """C_theta(k) - t_k, with t_k the payment less the rest of the bill, is the expected total."""
    menu, types = interim.menu, interim.menu.finite.types
    schedule = menu.schedule(interim.setting)
    contracts = [interim.contracts(report) for report in types]
    totals = np.array([[interim.best(alpha, each)[1] for each in contracts] for alpha in types])
    paid = schedule.costs - totals  # t_k, up to a constant: the same for every type that reports k
    largest = schedule.costs.max()
    np.testing.assert_allclose(paid, np.broadcast_to(paid[0], paid.shape), atol=1e-11 * largest)
    falls = 0.5 * (schedule.lower + schedule.upper)
    np.testing.assert_allclose(-np.diff(paid[0]), falls, atol=1e-11 * largest)


def test_search_finds_lies_where_payments_are_wrong() -> None:
    """A payment a little outside of its bounds is found out: the search above can fail."""
    interim = Interim(Menu(two_point(0.25, 0.75, 0.3)), Setting(4, PAPER, 0.5))
    schedule = interim.menu.schedule(interim.setting)
    width = float(schedule.upper[0] - schedule.lower[0])
    for sign, liar in ((1.0, 1), (-1.0, 0)):
        extra = np.array([sign * 0.55 * width, 0.0])
        wrong = [
            [
                replace(terms, transfers=terms.transfers - extra[k])
                for terms in interim.contracts(report)
            ]
            for k, report in enumerate((0.25, 0.75))
        ]
        alpha = (0.25, 0.75)[liar]
        honest = interim.at(alpha, wrong[liar], schedule.sigma[liar])
        assert honest - interim.best(alpha, wrong[1 - liar])[1] > 0.01 * width


@given(interim=cases())
@settings(deadline=None, max_examples=30)
def test_prices_fall_and_targets_rise_with_the_type(interim: Interim) -> None:
    schedule = interim.menu.schedule(interim.setting)
    price = schedule.unit_price
    assert (np.diff(schedule.sigma) > 0).all()
    if interim.setting.loss.linear == 0:
        np.testing.assert_allclose(price, price[0], rtol=ROUNDING)
    else:
        assert (np.diff(price) < ROUNDING * price[0]).all()
    assert (schedule.upper - schedule.lower >= -ROUNDING * schedule.costs.max()).all()


@given(interim=cases())
@settings(deadline=None, max_examples=30)
def test_transfers_and_bills_sum_to_zero_in_expectation(interim: Interim) -> None:
    """The bills do in every profile; the transfers in expectation over profiles."""
    finite = interim.menu.finite
    transfers = [interim.contracts(report)[0].transfers[0] for report in finite.types]
    gross = interim.menu.money * interim.menu.schedule(interim.setting).costs.max()
    assert abs(finite.probabilities @ transfers) <= ROUNDING * gross


@given(loss=losses(), rng=rngs())
@settings(deadline=None, max_examples=20)
def test_price_is_the_expected_harm_to_all_others(
    loss: AccuracyLoss, rng: np.random.Generator
) -> None:
    """(2) averaged over the others, of whom two use the model and do not upload."""
    setting = Setting(5, loss, 0.5, [1 / 3, 1 / 3, 1 / 3, 0.0, 0.0], spread=0.2)
    menu = Menu(population(rng, 2))
    schedule, types = menu.schedule(setting), menu.finite.types
    for k in range(2):
        expected = 0.0
        for chosen in itertools.product(range(2), repeat=4):
            chance = float(menu.finite.probabilities[list(chosen)].prod())
            uploads = [k, *chosen[:2]]
            error = float(np.sqrt((np.square(schedule.sigma[uploads]) + 0.2).sum())) / 3.0
            slope = loss.linear / error + 2.0 * loss.quadratic
            expected += chance * (1.0 - types[list(chosen)]).sum() * slope / 2.0 / 9.0
        assert schedule.unit_price[k] == pytest.approx(expected, rel=1e-11)


@given(interim=cases(), rng=rngs())
@settings(deadline=None, max_examples=20)
def test_targets_are_the_least_expected_social_cost(
    interim: Interim, rng: np.random.Generator
) -> None:
    """E[SC] is convex in (sigma_k): its minimum is where no direction lowers it."""
    finite, setting = interim.menu.finite, interim.setting
    sigma = interim.menu.schedule(setting).sigma

    def expected(noise: Floats) -> float:
        total = 0.0
        for chosen in itertools.product(range(finite.types.size), repeat=setting.n):
            who = list(chosen)
            chance = float(finite.probabilities[who].prod())
            total += chance * Game(setting, finite.types[who]).social_cost(noise[who])
        return total

    best = expected(sigma)
    for _ in range(5):
        direction = np.exp(1e-3 * rng.normal(0.0, 1.0, sigma.size))
        assert expected(sigma * direction) >= best
        assert expected(sigma / direction) >= best


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"N={case['N']},eta={case['eta']}")
def test_two_types_are_the_reference_numbers(case: dict[str, float]) -> None:
    n, known = int(case["N"]), CASES[CASES.index(case)]["interim_mean"]
    loss = AccuracyLoss.bound(case["kappa"], case["smoothness"])
    menu = Menu(two_point(case["alpha_L"], case["alpha_H"], case["eta"]))
    schedule = menu.schedule(Setting(n, loss, case["privacy_scale"]))
    beta = schedule.unit_price * (n / (n - 1)) ** 2
    np.testing.assert_allclose(schedule.sigma, known["sigma"], rtol=VECTORS)
    np.testing.assert_allclose(beta, known["beta"], rtol=VECTORS)
    np.testing.assert_allclose(schedule.costs, known["cost"], rtol=VECTORS)
    assert schedule.lower[0] == pytest.approx(known["lower"], abs=VECTORS)
    assert schedule.upper[0] == pytest.approx(known["upper"], abs=VECTORS)


def test_one_type_is_complete_information() -> None:
    setting = Setting(7, PAPER, 0.5, spread=0.2, divergence=0.4)
    menu = Menu(Finite([0.4], [1.0])).terms(setting, np.full(7, 0.4))
    known = Pigouvian().terms(setting, np.full(7, 0.4))
    np.testing.assert_allclose(menu.unit_price, known.unit_price, rtol=ROUNDING)
    assert menu.sigma is not None and known.sigma is not None
    np.testing.assert_allclose(menu.sigma, known.sigma, rtol=ROUNDING)
    np.testing.assert_allclose(menu.transfers, 0.0, atol=ROUNDING)


def test_near_the_optimum_when_many_clients_average_out() -> None:
    """Not knowing the profile costs little among many: ex-ante targets against the optimum."""
    rng = np.random.default_rng(3)
    finite = discretise(Uniform(0.1, 0.9), 6)
    setting = Setting(500, PAPER, 0.5)
    terms = Menu(finite).terms(setting, reports := finite.sample(500, rng))
    game = Game(setting, reports)
    assert terms.sigma is not None
    assert game.social_cost(terms.sigma) / optimum(game).social_cost - 1.0 < 1e-3


def test_absence_changes_prices_and_keeps_transfers() -> None:
    """For those present the menu is made anew; truthful obedience stays their best noise."""
    setting, here = Setting(5, PAPER, 0.5, spread=0.1), np.array([True, True, False, True, True])
    menu = Menu(two_point(0.25, 0.75, 0.3))
    interim = Interim(menu, setting, here)
    reports = np.array([0.25, 0.25, 0.75, 0.75, 0.75])
    everybody, some = menu.terms(setting, reports), menu.terms(setting, reports, here)
    np.testing.assert_array_equal(some.transfers, everybody.transfers)
    assert some.unit_price[2] == 0.0 < some.unit_price[1] != everybody.unit_price[1]
    assert some.sigma is not None
    noise, _ = interim.best(0.25, interim.contracts(0.25))
    assert noise == pytest.approx(some.sigma[0], rel=1e-7)  # a minimum is flat to sqrt(rounding)


def test_a_type_that_minds_no_noise_adds_none_where_there_is_spread() -> None:
    setting = Setting(4, PAPER, 0.5, spread=0.2)
    menu = Menu(Finite([0.0, 0.5, 1.0], [0.2, 0.5, 0.3]))
    schedule: Schedule = menu.schedule(setting)
    assert schedule.sigma[0] == 0.0 < schedule.sigma[1] < schedule.sigma[2]
    interim = Interim(menu, setting)
    contracts = [interim.contracts(report) for report in menu.finite.types]
    for k, alpha in enumerate(menu.finite.types):
        honest = interim.at(alpha, contracts[k], schedule.sigma[k])
        totals = [interim.best(alpha, each)[1] for each in contracts]
        assert honest - min(totals) <= GAIN * schedule.costs[k, k]
