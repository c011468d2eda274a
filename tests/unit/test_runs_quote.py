"""Quotes: the bill that is told before joining, and how far from it a run may end."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.small_runs import ready_small
from tests.strategies import games, rngs

from pigou import Game, InvalidArgument, NotApplicable
from pigou.game import Setting
from pigou.mechanisms import Pigouvian, billing
from pigou.runs import arms, execute
from pigou.runs.quoting import net_deviation, quote
from pigou.terms import RefundRule, Terms

Floats = NDArray[np.float64]
RULES: tuple[RefundRule, ...] = ("zero-sum", "constant")


def nets(terms: Terms, uploads: Floats) -> Floats:
    """Net bills (runs, N), by section 3, from uploads (runs, rounds, N, d)."""
    n = uploads.shape[2]
    others = (uploads.sum(axis=2, keepdims=True) - uploads) / (n - 1)
    deviation = np.square(uploads - others).mean(axis=3)
    charge = terms.money / terms.rounds * (terms.charge * deviation).sum(axis=1)
    if terms.refund == "constant":
        return np.asarray(charge - terms.money * terms.constant_refund)
    return np.asarray(charge - (charge.sum(axis=1, keepdims=True) - charge) / (n - 1))


def test_the_range_covers_999_of_1000_runs() -> None:
    """Many runs of independent Gaussian noise at the target, billed by the formulas."""
    ready = ready_small()
    quotes = [quote(ready, name) for name in ready.scenario.clients]
    terms = ready.scenario.build_mechanism().terms(ready.setting, ready.game.alpha)
    sigma = np.array([each.sigma for each in quotes])
    assert terms.sigma is not None
    np.testing.assert_allclose(sigma, terms.sigma, rtol=1e-12)
    rng, runs, dim = np.random.default_rng(5), 20_000, ready.task.dim
    found = np.concatenate(
        [
            nets(terms, sigma[:, None] * rng.standard_normal((2000, terms.rounds, 4, dim)))
            for _ in range(runs // 2000)
        ]
    )
    for i, each in enumerate(quotes):
        spread = found[:, i].std()
        assert found[:, i].mean() == pytest.approx(each.net, abs=5 * spread / math.sqrt(runs))
        reach = (each.high - each.low) / 2 / 3.2905  # the 99.9 % quantile of both sides
        assert spread == pytest.approx(reach, rel=0.03)  # 5 standard errors of 1 / sqrt(2 runs)
        outside = np.mean((found[:, i] < each.low) | (found[:, i] > each.high))
        # 0.1 % and its sampling error; a sum of 260 squares has somewhat longer tails than a normal
        assert 0.0002 < outside < 0.0025


@given(games(least=3, most=7, spread="any"), st.sampled_from(RULES), rngs())
@settings(deadline=None, max_examples=80)
def test_the_deviation_is_that_of_a_quadratic_form(
    game: Game, rule: RefundRule, rng: np.random.Generator
) -> None:
    """Var x'Ax = 2 tr((A S)^2) for x ~ N(0, S), with the matrices written out."""
    terms = Pigouvian(rounds=3, money=2.0, refund=rule).terms(game.setting, game.alpha)
    n, dim = game.setting.n, 17
    sigma = rng.uniform(0.1, 2.0, n)
    s = np.square(sigma) + game.setting.spread
    compare = (n / (n - 1)) * np.eye(n) - np.full((n, n), 1.0 / (n - 1))
    for client in range(n):
        share = 1.0 / (n - 1) if rule == "zero-sum" else 0.0
        c = -share * terms.money * terms.charge
        c[client] = terms.money * terms.charge[client]
        form = compare.T @ np.diag(c) @ compare @ np.diag(s)
        variance = 2.0 * np.trace(form @ form) / (dim * 3)
        found = net_deviation(game.setting, terms, sigma, dim, client)
        assert found == pytest.approx(math.sqrt(variance), rel=1e-9)


def test_section_3_approximates_it() -> None:
    """sqrt(2 / dT) sqrt((b ED)_i^2 + sum (b ED)_j^2 / (N - 1)^2): off by terms of order 1 / N."""
    rng = np.random.default_rng(2)
    n = 200
    base = ready_small().setting
    setting = Setting(n, base.loss, base.privacy_scale)
    game = Game(setting, rng.uniform(0.2, 0.8, n))
    terms = Pigouvian(rounds=30).terms(setting, game.alpha)
    assert terms.sigma is not None
    each = terms.charge * billing.expected_deviations(setting, terms.sigma)
    others = (np.square(each).sum() - np.square(each)) / (n - 1) ** 2
    approximate = np.sqrt(2 / (785 * 30) * (np.square(each) + others))
    for client in (0, 57, 199):
        exact = net_deviation(setting, terms, terms.sigma, 785, client)
        assert exact == pytest.approx(approximate[client], rel=3 / n)


def test_inactive_clients_owe_nothing() -> None:
    ready = ready_small(("rounds = 4", "rounds = 4\nweights = [0.3, 0.3, 0.4, 0.0]"))
    found = quote(ready, "West")
    assert (found.charge, found.refund, found.low, found.high) == (0, 0, 0, 0)
    assert found.sigma == math.inf
    assert found.epsilon == 0


def test_bills_of_trainings_fall_within_the_range() -> None:
    """Of clients that play their targets; the others' data move bills by far less than noise."""
    names = ("North", "East, far", "South", "West")
    lines = [f'name = "{name}"\n' for name in names]
    ready = ready_small(*((line, line + 'conduct = "obedient"\n') for line in lines))
    quotes = [quote(ready, name) for name in names]
    chosen = [arms(ready.with_seed(seed), ["priced"])[0] for seed in range(50)]
    total = np.array([record.total for record in execute(ready, chosen)])
    low, high = (np.array([getattr(each, end) for each in quotes]) for end in ("low", "high"))
    assert ((total < low) | (total > high)).sum() <= 2  # of 200, 0.2 expected
    wide = total.std(axis=0) / (high - low)  # 1 / 6.58 expected, within 10 % at 50 runs
    assert ((wide > 0.10) & (wide < 0.22)).all()


def test_privacy_and_caps() -> None:
    free = quote(ready_small(), "North")
    account = ready_small().account.after(free.sigma, 4)
    assert free.epsilon == account.epsilon(1e-5)
    assert free.uploads == 4
    one = ready_small().account.after(free.sigma).epsilon(1e-5)
    capped = quote(ready_small(("clip = 0.2", f"clip = 0.2\nepsilon_cap = {one * 1.01}")), "North")
    assert capped.uploads == 1
    less = quote(ready_small(("clip = 0.2", f"clip = 0.2\nepsilon_cap = {one * 0.99}")), "North")
    assert less.uploads == 0


def test_who_cannot_be_quoted() -> None:
    with pytest.raises(
        InvalidArgument, match="client must be one of North, East, far, South, West"
    ):
        quote(ready_small(), "Nowhere")
    unpriced = ready_small(("money = 100.0", 'money = 100.0\nname = "unpriced"'))
    with pytest.raises(NotApplicable, match="must price something"):
        quote(unpriced, "North")


def test_posted_prices_are_quoted_at_their_equilibrium() -> None:
    posted = ready_small(("money = 100.0", 'money = 100.0\nname = "posted"'))
    found = quote(posted, "West")
    assert found.mechanism == "posted"
    assert 0 < found.low < found.high
    assert found.transfer == 0


def test_transfers_for_reports_are_part_of_the_net() -> None:
    groves = ready_small(("money = 100.0", 'money = 100.0\nname = "groves"'))
    found = quote(groves, "West")
    assert found.transfer != 0
    assert found.net == found.charge - found.refund + found.transfer
    assert (found.low + found.high) / 2 == pytest.approx(found.net)
