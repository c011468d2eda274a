"""Groves: truth and obedience are best for every client, whatever the others' types (section 4)."""

from collections.abc import Callable, Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from tests.strategies import Floats, changed, games, rngs
from tests.theorems.payoffs import Faced, net_bill

from pigou import AccuracyLoss, Game, Setting, equilibrium, optimum
from pigou.mechanisms import Contract, Groves, Pigouvian, groves_exchange
from pigou.mechanisms.billing import expected_bills
from pigou.mechanisms.groves_exchange import cost_without
from pigou.terms import RefundRule, Terms

REFUNDS: tuple[RefundRule, ...] = ("zero-sum", "constant")
GAIN = 1e-9  # of the client's own cost: what rounding in sums of the size of SC may leave
ROUNDING = 1e-12  # of social cost: sums over at most a thousand clients
REPORTS = 12  # random misreports besides the extreme and the nearly true ones
PAPER = AccuracyLoss.bound(16.0, 2.0)

Rule = Callable[[Floats], Terms]


def announced(mechanism: Contract, setting: Setting) -> Rule:
    return lambda reports: mechanism.terms(setting, reports)


def misreports(rng: np.random.Generator, truth: float) -> Floats:
    near = np.clip(truth + np.array([-1e-2, -1e-4, 1e-4, 1e-2]), 0.0, 1.0)
    return np.concatenate([[0.0, 1.0], near, rng.uniform(0.0, 1.0, REPORTS)])


def largest_gain(
    game: Game, rule: Rule, truth: Floats, client: int, lies: Iterable[ArrayLike]
) -> float:
    """Best joint (report, noise) against truth and obedience, as a share of the client's cost."""
    honest = rule(truth)
    assert honest.sigma is not None
    contracts = [honest]
    for lie in lies:
        reports = truth.copy()
        reports[client] = lie
        contracts.append(rule(reports))
    faced = Faced.by(game, client, contracts)
    obedient = faced.total(np.full(len(contracts), honest.sigma[client]))[0]
    gain = obedient - faced.least()[1].min()
    return float(gain / game.costs(honest.sigma)[client])


def with_extremes(game: Game, rng: np.random.Generator, client: int) -> Game:
    """The same game where some of the others, not all, mind no noise, or nothing but noise."""
    alpha = game.alpha.copy()
    others = ~np.isin(np.arange(alpha.size), [client, (client + 1) % alpha.size])
    alpha[others & (rng.random(alpha.size) < 0.2)] = 0.0
    alpha[others & (rng.random(alpha.size) < 0.2)] = 1.0
    return Game(game.setting, alpha)


@given(game=games(least=3), rng=rngs(), refund=st.sampled_from(REFUNDS))
@settings(deadline=None, max_examples=80)
def test_no_report_and_no_noise_beats_the_truth(
    game: Game, rng: np.random.Generator, refund: RefundRule
) -> None:
    client = int(rng.integers(game.setting.n))
    game = with_extremes(game, rng, client)
    divergent = changed(game.setting, divergence=rng.uniform(0.0, 1.0, game.setting.n))
    game = Game(divergent, game.alpha)
    mechanism = Groves(money=250.0, refund=refund)
    lies = misreports(rng, game.alpha[client])
    rule = announced(mechanism, game.setting)
    assert largest_gain(game, rule, game.alpha, client, lies) <= GAIN


@given(game=games(least=3), rng=rngs())
@settings(deadline=None, max_examples=80)
def test_no_pair_of_reports_and_no_noise_beats_the_truth(
    game: Game, rng: np.random.Generator
) -> None:
    """With types that are pairs (alpha, v), lies may be about either or both."""
    client = int(rng.integers(game.setting.n))
    alpha, spread = float(game.alpha[client]), float(game.setting.spread[client])
    types = misreports(rng, alpha)
    spreads = spread * np.exp(rng.normal(0.0, 1.0, types.size)) + rng.uniform(0.0, 0.5, types.size)
    lies = [(alpha, 0.0), (alpha, 2.0 * spread + 0.1), *np.column_stack([types, spreads])]
    truth = np.column_stack([game.alpha, game.setting.spread])
    uninformed = changed(game.setting, spread=9.9)
    rule = announced(Groves(report_spread=True), uninformed)
    assert largest_gain(game, rule, truth, client, lies) <= GAIN


def test_without_the_transfers_lying_pays() -> None:
    """The same search finds a lie where there is one: prices alone do not buy the truth."""
    game = Game(Setting(5, PAPER, 0.5), [0.2, 0.4, 0.5, 0.6, 0.8])
    rule = announced(Pigouvian(), game.setting)
    gains = [largest_gain(game, rule, game.alpha, i, np.linspace(0, 1, 21)) for i in range(5)]
    assert min(gains) > 1e5 * GAIN


@pytest.mark.parametrize(
    ("n", "assumed", "least"), [(3, 0.5, 0.1), (3, 1.5, 0.03), (8, 0.5, 0.01), (8, 0.0, 0.05)]
)
def test_a_wrong_public_spread_makes_lies_pay(n: int, assumed: float, least: float) -> None:
    """The server assumes a spread ``assumed`` times the true one, 0.3."""
    game = Game(Setting(n, PAPER, 0.5, spread=0.3), np.linspace(0.1, 0.9, n))
    rule = announced(Groves(), changed(game.setting, spread=0.3 * assumed))
    lies = np.linspace(0.0, 1.0, 21)
    gains = [largest_gain(game, rule, game.alpha, i, lies) for i in range(n)]
    assert max(gains) > least
    right = announced(Groves(), game.setting)
    assert max(largest_gain(game, right, game.alpha, i, lies) for i in range(n)) <= GAIN


def test_two_clients_who_lie_together_can_gain() -> None:
    """The theorem is about one client: what two of five gain by both reporting 0."""
    alpha, pair = np.array([0.84, 0.87, 0.11, 0.79, 0.88]), [2, 3]
    game = Game(Setting(5, PAPER, 0.5), alpha)
    lie = alpha.copy()
    lie[pair] = 0.0
    rule = announced(Groves(), game.setting)
    honest, lied = rule(alpha), rule(lie)
    assert honest.sigma is not None and lied.sigma is not None

    def joint(terms: Terms, sigma: Floats) -> float:
        bills = sum(net_bill(game, terms, i, sigma) for i in pair)
        return float(game.costs(sigma)[pair].sum() + bills + terms.transfers[pair].sum())

    noise = lied.sigma.copy()
    noise[pair] = 0.166, 0.319
    gain = joint(honest, honest.sigma) - joint(lied, noise)
    assert gain > 0.15 * game.costs(honest.sigma)[pair].sum()
    for i in pair:  # alone, neither gains anything
        assert largest_gain(game, rule, alpha, i, [0.0]) <= GAIN


@given(game=games(least=3, most=8), rng=rngs(), spread_reported=st.booleans())
@settings(deadline=None, max_examples=60)
def test_exchange_is_the_optimum_of_each_changed_profile(
    game: Game, rng: np.random.Generator, spread_reported: bool
) -> None:
    """h_i as section 4 defines it: the others' cost with i's report replaced, on average.

    Types near 0 and 1 change the three sums by up to nine orders of magnitude.
    """
    n, setting = game.setting.n, game.setting
    extreme = rng.choice([1e-9, 1.0 - 1e-9], n)
    game = Game(setting, np.where(rng.random(n) < 0.3, extreme, game.alpha))
    expected = np.zeros(n)
    for i in range(n):
        for k in (k for k in range(n) if k != i):
            alpha, spread = game.alpha.copy(), setting.spread.copy()
            alpha[i] = alpha[k]
            spread[i] = spread[k] if spread_reported else spread[i]
            best = optimum(Game(changed(setting, spread=spread), alpha))
            expected[i] += (best.social_cost - best.costs[i]) / (n - 1)
    found = cost_without(optimum(game), spread_reported=spread_reported)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@given(game=games(least=3, most=8))
@settings(deadline=None, max_examples=40)
def test_transfer_is_the_others_cost_less_the_bill_less_the_exchange(game: Game) -> None:
    """Equation (3), in money."""
    terms = Groves(money=3.0).terms(game.setting, game.alpha)
    best = optimum(game)
    without = cost_without(best, spread_reported=False)
    bills = [net_bill(game, terms, i, best.sigma) for i in range(game.setting.n)]
    others = np.array([np.delete(best.costs, i).sum() for i in range(game.setting.n)])
    scale = 3.0 * best.social_cost
    np.testing.assert_allclose(
        terms.transfers / scale, (3.0 * (others - without) - bills) / scale, atol=ROUNDING
    )


@pytest.mark.parametrize("spread_reported", [False, True])
@pytest.mark.parametrize("n", [7, 500])
def test_nobody_moves_its_own_exchange(n: int, spread_reported: bool) -> None:
    rng = np.random.default_rng(5)
    alpha, spread = rng.uniform(0.1, 0.9, n), rng.exponential(0.3, n)
    weights = rng.dirichlet(np.full(n, 3.0))

    def without(alpha: Floats, spread: Floats) -> Floats:
        setting = Setting(n, PAPER, 0.5, weights, spread)
        return cost_without(optimum(Game(setting, alpha)), spread_reported=spread_reported)

    before = without(alpha, spread)
    for client in (0, n // 2, n - 1):
        lie, wide = alpha.copy(), spread.copy()
        lie[client] = 0.99
        wide[client] = 1e3 if spread_reported else spread[client]
        after = without(lie, wide)
        assert after[client] == pytest.approx(before[client], rel=ROUNDING)
        assert abs(np.delete(after - before, client)).min() > 0


@pytest.mark.parametrize("heavy", [False, True])
@pytest.mark.parametrize(("spread", "relative"), [("none", 1e-13), ("one", 1e-13), ("many", 1e-6)])
def test_interpolation_agrees_with_all_pairs(
    monkeypatch: pytest.MonkeyPatch, spread: str, relative: float, heavy: bool
) -> None:
    """Types to rounding; reported spreads to third order in one client's share, at most 0.5 %."""
    n, rng = 450, np.random.default_rng(6)
    v = {"none": np.zeros(n), "one": np.full(n, 0.3), "many": rng.exponential(0.3, n)}[spread]
    share = rng.dirichlet(np.full(n, 3.0))
    weights = np.append(0.3, 0.7 * share[1:] / share[1:].sum()) if heavy else share
    best = optimum(Game(Setting(n, PAPER, 0.5, weights, v), rng.uniform(0.0, 1.0, n)))
    fast = cost_without(best, spread_reported=True)
    monkeypatch.setattr(groves_exchange, "PAIRS", n)
    exact = cost_without(best, spread_reported=True)
    np.testing.assert_allclose(fast, exact, rtol=relative)


@pytest.mark.parametrize("spread", [0.0, 0.3])
@pytest.mark.parametrize("n", [100, 1000])
def test_residual_is_small_and_everybody_gains_from_100_clients_on(n: int, spread: float) -> None:
    rng = np.random.default_rng(n)
    setting = Setting(n, PAPER, 0.5, spread=spread)
    for _ in range(20):
        game = Game(setting, rng.uniform(0.1, 0.9, n))
        terms, best = Groves().terms(setting, game.alpha), optimum(game)
        assert abs(terms.transfers.sum()) <= 1e-3 * best.social_cost
        paid = best.costs + terms.transfers + expected_bills(setting, terms, best.sigma).net
        assert (paid < equilibrium(game).costs).all()


def test_absence_changes_prices_and_keeps_transfers() -> None:
    """Transfers are charged once, when reports close; who stays away later still owes them."""
    setting = Setting(6, PAPER, 0.5, [0.1, 0.1, 0.2, 0.2, 0.2, 0.2], spread=0.1)
    alpha = np.array([0.2, 0.3, 0.5, 0.6, 0.7, 0.9])
    everybody = Groves().terms(setting, alpha)
    present = np.array([True, True, True, False, True, False])
    some = Groves().terms(setting, alpha, present)
    priced = Pigouvian().terms(setting, alpha, present)
    np.testing.assert_array_equal(some.transfers, everybody.transfers)
    np.testing.assert_array_equal(some.unit_price, priced.unit_price)
    assert some.sigma is not None and priced.sigma is not None
    np.testing.assert_array_equal(some.sigma[present], priced.sigma[present])
    assert not np.allclose(some.unit_price[present], everybody.unit_price[present])
