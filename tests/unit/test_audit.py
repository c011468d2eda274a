"""The noise audit: honest clients are left alone, silent ones and copycats are found."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pigou import AccuracyLoss, InvalidArgument, Setting
from pigou.federation.audit import (
    Audit,
    AuditRule,
    Evidence,
    Flag,
    audit,
    detection_power,
    flag_chance,
    one_tail,
)
from pigou.mechanisms.billing import compare, settle
from pigou.terms import Terms

Floats = NDArray[np.float64]


def scene(
    n: int, sigma: Any = 1.0, spread: Any = 0.0, divergence: Any = 0.0, rounds: int = 1
) -> tuple[Setting, Terms]:
    setting = Setting(n, AccuracyLoss(1.0, 1.0), 1.0, spread=spread, divergence=divergence)
    target = np.broadcast_to(np.float64(sigma), (n,))
    return setting, Terms("m", setting.weights, np.zeros(n), sigma=target, rounds=rounds)


def judged(
    setting: Setting,
    terms: Terms,
    uploads: Floats,
    family_error: float = 0.01,
    earlier: Evidence | None = None,
    *,
    targets: bool = True,
) -> Audit:
    settlement = settle(compare(uploads, terms.active).deviation, terms)
    return audit(
        AuditRule(family_error=family_error),
        setting,
        terms.sigma if targets else None,
        terms.rounds,
        settlement=settlement,
        size=uploads.shape[1],
        earlier=Evidence.none(setting.n) if earlier is None else earlier,
    )


def offsets(rng: np.random.Generator, n: int, d: int, square: float) -> Floats:
    """How honest updates differ without noise: (n, d) with this square per coordinate."""
    given = rng.standard_normal((n, d))
    return np.asarray(given * np.sqrt(square / np.square(given).mean(axis=1, keepdims=True)))


@pytest.mark.parametrize(("n", "d", "rounds"), [(3, 40, 1), (3, 40, 4), (12, 20, 3)])
def test_honest_clients_are_flagged_no_more_often_than_the_family_error(
    n: int, d: int, rounds: int
) -> None:
    rate, runs = 0.2, 500
    sigma = np.linspace(0.5, 2.0, n)
    setting, terms = scene(n, sigma, rounds=rounds)
    rng = np.random.default_rng(n * d)
    alarms = 0
    for _ in range(runs):
        evidence, flagged = Evidence.none(n), False
        for _ in range(rounds):
            uploads = rng.standard_normal((n, d)) * sigma[:, None]
            found = judged(setting, terms, uploads, rate, evidence)
            evidence, flagged = found.evidence, flagged or bool(found.failing())
        alarms += flagged
    assert alarms <= rate * runs + 4 * np.sqrt(runs * rate * (1 - rate))  # 4 binomial deviations
    assert alarms >= 0.02 * runs  # the audit is no idle one: of chi-square tails, some are hit


def silent_among_a_hundred(
    spread: float, divergence: float, runs: int, rng: np.random.Generator
) -> tuple[int, int]:
    """d = 500, noise 1, 1 % for a run of 30 rounds: in how many first rounds client 7, who adds no
    noise, is missed, and how many honest clients are flagged."""
    n, d = 100, 500
    setting, terms = scene(n, 1.0, spread, divergence, rounds=30)
    missed = wrong = 0
    for _ in range(runs):
        uploads = rng.standard_normal((n, d))
        uploads[7] = 0.0
        uploads += np.sqrt(spread) * rng.standard_normal((n, d))  # finite data: another draw
        uploads += offsets(rng, n, d, divergence) if divergence else 0.0  # other data: so far off
        failing = judged(setting, terms, uploads).failing()
        missed += 7 not in failing
        wrong += len(set(failing) - {7})
    return missed, wrong


UP_TO_THE_NOISE = [(1.0, 0.0), (0.0, 1.0), (0.5, 0.5)]


def test_a_silent_client_is_found_in_one_round_up_to_a_spread_as_large_as_the_noise() -> None:
    rng = np.random.default_rng(1)
    found = [silent_among_a_hundred(*each, 20, rng) for each in UP_TO_THE_NOISE]
    # at 1 % for 30 rounds together, 60 rounds have a false alarm in 2 % of cases
    assert found == [(0, 0)] * 3
    assert detection_power(500, 100, 0.01, 1.0, rounds=30) > 0.9999
    assert detection_power(500, 100, 0.01, 1.0, rounds=1) > 0.9999


@pytest.mark.long
def test_a_silent_client_is_found_in_all_of_three_thousand_first_rounds() -> None:
    """And honest ones are flagged in 1 % of runs of 30: in one of 3,000 rounds, on average."""
    rng = np.random.default_rng(2)
    found = [silent_among_a_hundred(*each, 1000, rng) for each in UP_TO_THE_NOISE]
    assert [missed for missed, _ in found] == [0] * 3
    assert sum(wrong for _, wrong in found) <= 7  # a Poisson number of mean 1: 1e-5


def found_silent(n: int, d: int, excess: float, runs: int, rng: np.random.Generator) -> int:
    """In how many of the runs client 0, who adds no noise, is flagged; all of the excess is v."""
    setting, terms = scene(n, 1.0, excess)
    scale = np.full((n, 1), np.sqrt(1.0 + excess))
    scale[0] = np.sqrt(excess)
    found = (judged(setting, terms, scale * rng.standard_normal((n, d))) for _ in range(runs))
    return sum(0 in each.failing() for each in found)


def test_the_power_beyond_that_is_what_the_formula_says() -> None:
    n, d, runs, excess = 40, 500, 250, 4.0
    power = detection_power(d, n, 0.01, excess)
    assert 0.2 < power < 0.8
    found = found_silent(n, d, excess, runs, np.random.default_rng(2))
    # 4 binomial deviations, and what the benefit of the doubt about the background costs
    assert abs(found - power * runs) <= 4 * np.sqrt(runs * power * (1 - power)) + 0.02 * runs


@pytest.mark.long
@pytest.mark.parametrize("d", [500, 785])
@pytest.mark.parametrize("excess", [0.5, 1.0, 2.0, 3.0, 4.0, 6.0])
def test_the_table_of_the_power_is_what_simulations_give(d: int, excess: float) -> None:
    n, runs = 100, 400
    power = detection_power(d, n, 0.01, excess)
    found = found_silent(n, d, excess, runs, np.random.default_rng([d, int(10 * excess)]))
    assert abs(found - power * runs) <= 4 * np.sqrt(runs * power * (1 - power)) + 0.02 * runs


def test_power_falls_with_what_hides_the_noise_and_rises_with_the_dimension() -> None:
    powers = [detection_power(500, 100, 0.01, excess) for excess in (0.0, 1.0, 2.0, 3.0, 4.0, 8.0)]
    assert powers == sorted(powers, reverse=True)
    assert detection_power(2000, 100, 0.01, 4.0) > detection_power(500, 100, 0.01, 4.0)
    quiet, loud = flag_chance(500, 100, 0.01, 1.0)
    assert quiet == pytest.approx(one_tail(0.01, 100), rel=1e-9)
    assert loud == pytest.approx(one_tail(0.01, 100), rel=1e-6)


def test_a_copycat_is_found_without_noise_and_not_with_it() -> None:
    n, d = 50, 500
    rng = np.random.default_rng(3)
    progress = 0.05 * rng.standard_normal(d)  # |u|^2 / d = 0.0025, far below sigma^2 + v
    setting, terms = scene(n, 1.0, 0.01)
    uploads = progress + offsets(rng, n, d, 0.01) + rng.standard_normal((n, d))
    uploads[4] = 0.0
    uploads[5] = rng.standard_normal(d)
    flags = judged(setting, terms, uploads).flags
    assert flags[4] is Flag.NONE
    assert flags[5] is Flag.FINE


def test_the_wrong_noise_is_named() -> None:
    n, d = 20, 500
    rng = np.random.default_rng(4)
    scale = np.ones(n)
    scale[:4] = 0.0, 0.6, 1.0, 1.6
    setting, terms = scene(n, 1.0, 0.001)
    found = judged(setting, terms, rng.standard_normal((n, d)) * scale[:, None])
    assert found.flags[:4] == (Flag.NONE, Flag.TOO_LITTLE, Flag.FINE, Flag.TOO_MUCH)
    assert found.failing() == [0, 1, 3]
    assert found.failing(only_quiet=True) == [0, 1]


def test_what_one_round_cannot_show_many_rounds_do() -> None:
    n, d, rounds = 20, 500, 30
    rng = np.random.default_rng(5)
    setting, terms = scene(n, 1.0, rounds=rounds)
    scale = np.ones((n, 1))
    scale[3] = np.sqrt(0.9)  # a tenth less variance
    alone, _ = flag_chance(d, n, 0.01, 0.9, rounds)
    assert alone < 0.01
    evidence = Evidence.none(n)
    flags: tuple[Flag, ...] = ()
    for _ in range(rounds):
        found = judged(setting, terms, rng.standard_normal((n, d)) * scale, earlier=evidence)
        evidence, flags = found.evidence, found.flags
    assert flags[3] is Flag.TOO_LITTLE
    assert set(flags) == {Flag.FINE, Flag.TOO_LITTLE}
    assert evidence.rounds.tolist() == [rounds] * n


def test_one_loud_client_makes_nobody_else_look_loud() -> None:
    n, d = 10, 500
    rng = np.random.default_rng(6)
    setting, terms = scene(n)
    scale = np.ones((n, 1))
    scale[0] = 30.0  # 900 / 81 = 11 times the noise of everybody else in everybody's deviation
    for _ in range(50):
        found = judged(setting, terms, rng.standard_normal((n, d)) * scale)
        assert found.failing() == [0]
        assert found.flags[0] is Flag.TOO_MUCH


def test_many_silent_clients_make_nobody_else_look_quiet() -> None:
    n, d = 5, 500
    rng = np.random.default_rng(7)
    setting, terms = scene(n)
    scale = np.array([1.0, 0.0, 0.0, 0.0, 0.0])[:, None]
    for _ in range(50):
        found = judged(setting, terms, rng.standard_normal((n, d)) * scale)
        assert found.failing() == [1, 2, 3, 4]


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    n, d, runs = 12, 30, 400
    sigma = np.linspace(0.5, 1.5, n)
    setting, terms = scene(n, sigma)
    rng = np.random.default_rng(8)
    rate = 0.4  # a tail of 0.4 / 48 per side
    outside = 0
    for _ in range(runs):
        found = judged(setting, terms, rng.standard_normal((n, d)) * sigma[:, None], rate)
        outside += int(np.count_nonzero((sigma**2 < found.low) | (sigma**2 > found.high)))
    expected = 2 * one_tail(rate, n) * n * runs
    # clients of one round are all but independent; 10 % for the background, which is estimated
    assert abs(outside - expected) <= 4 * np.sqrt(expected) + 0.1 * expected


def test_without_targets_the_bulk_is_the_measure() -> None:
    n, d = 40, 500
    rng = np.random.default_rng(9)
    setting, terms = scene(n)
    sigma = rng.uniform(0.8, 1.2, n)[:, None]
    sigma[:3, 0] = 0.0, 5.0, 1.0
    found = judged(setting, terms, rng.standard_normal((n, d)) * sigma, targets=False)
    assert found.flags[:3] == (Flag.TOO_LITTLE, Flag.TOO_MUCH, Flag.FINE)
    assert found.failing() == [0, 1]
    assert found.evidence.rounds.sum() == 0
    alike = judged(setting, terms, rng.standard_normal((n, d)), targets=False)
    assert alike.failing() == []


def test_clients_that_were_not_compared_are_not_judged() -> None:
    n, d = 6, 200
    weights = np.array([0.25, 0.25, 0.25, 0.25, 0.0, 0.0])
    setting = Setting(n, AccuracyLoss(1.0, 1.0), 1.0, weights)
    target = np.where(weights > 0, 1.0, np.inf)
    terms = Terms("m", weights, np.zeros(n), sigma=target)
    uploads = np.random.default_rng(10).standard_normal((n, d))
    found = judged(setting, terms, uploads)
    assert found.flags[4:] == (Flag.UNKNOWN, Flag.UNKNOWN)
    assert np.isnan(found.low[4:]).all()
    assert found.evidence.rounds.tolist() == [1, 1, 1, 1, 0, 0]
    pair = Setting(n, AccuracyLoss(1.0, 1.0), 1.0, [0.5, 0.5, 0, 0, 0, 0])
    two = Terms("m", pair.weights, np.zeros(n))
    assert set(judged(pair, two, uploads).flags) == {Flag.UNKNOWN}


def test_nothing_at_all_is_as_announced_where_nothing_was_announced() -> None:
    setting, terms = scene(4, 0.0)
    assert set(judged(setting, terms, np.zeros((4, 8))).flags) == {Flag.FINE}


@pytest.mark.parametrize("rate", [0.0, 1.0, -0.1, np.nan, "x"])
def test_the_family_error_is_a_probability(rate: Any) -> None:
    with pytest.raises(InvalidArgument, match="family_error"):
        AuditRule(family_error=rate)


def test_whether_refunds_are_barred_is_yes_or_no() -> None:
    with pytest.raises(InvalidArgument, match="bar_refund"):
        AuditRule(bar_refund=1)  # type: ignore[arg-type]
