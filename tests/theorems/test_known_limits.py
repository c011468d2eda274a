"""Section 9: what copycats, rings and Sybils are billed, by formula and in training."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.federations import digits_task
from tests.strategies import rngs

from pigou import AccuracyLoss, InvalidArgument, Setting
from pigou.federation.attacks import Attack, Scene, loud_majority, measured
from pigou.federation.attacks.example import digits_scene
from pigou.federation.attacks.tables import copycat_bills, ring_bills
from pigou.federation.bills import bill
from pigou.federation.client import Cohort
from pigou.federation.conduct import Conduct, Copycat, Obedient
from pigou.federation.local import Passed, begin, simulate
from pigou.federation.plan import Plan
from pigou.federation.replica import Replica
from pigou.game import privacy_costs
from pigou.mechanisms import Groves, Pigouvian, PostedPrice, billing
from pigou.mechanisms.base import Mechanism
from pigou.terms import MICRO, Terms

DEVIATIONS = 6.0  # standard deviations: one false alarm in 5e8 draws
SEEDS, ROUNDS = 3, 20


@settings(deadline=None, max_examples=100)
@given(st.integers(3, 60), st.floats(0, 1))
def test_a_rings_slope(n: int, part: float) -> None:
    """(N - k)(N - 2k) / ((N - 1)(N - 2)) at unit price 1: zero at half, negative beyond."""
    k = 1 + int(part * (n - 2))
    net = ring_bills(n, k).net
    slope = (n - k) * (n - 2 * k) / ((n - 1) * (n - 2))
    rounding = 0.5 + 0.5 + 1.0  # micro-units: of a charge, of the others' charges, of a refund
    assert (np.abs(net[:k] - slope * MICRO) <= rounding).all()
    assert sum(net.tolist()) == 0
    if 2 * k > n:
        assert (net[:k] < 0).all()


@settings(deadline=None, max_examples=25)
@given(rngs(), st.integers(2, 20))
def test_the_slope_is_the_same_beside_honest_noise(rng: np.random.Generator, k: int) -> None:
    """One noise shared or not, the others' own: the bills' difference is that of the slope."""
    n, d, more = 24, 10_000, 3.0
    terms = Terms("m", np.full(n, 1.0 / n), np.ones(n))
    own, shared = rng.standard_normal((n, d)), rng.standard_normal(d)
    uploads = own.copy()
    uploads[:k] += np.sqrt(more) * shared
    before, after = billing.statements(own, terms).net, billing.statements(uploads, terms).net
    slope = (n - k) * (n - 2 * k) / ((n - 1) * (n - 2))
    rise = float((after - before)[:k].mean()) / MICRO
    # |shared|^2 / d is known to sqrt(2/d), its products with others' noise to 2 sqrt(more / d)
    assert abs(rise - slope * more) <= DEVIATIONS * (more * np.sqrt(2 / d) + 2 * np.sqrt(more / d))


@settings(deadline=None, max_examples=60)
@given(st.integers(3, 200), st.floats(0, 10))
def test_a_copycat_is_paid_where_progress_is_less_than_noise(n: int, progress: float) -> None:
    refunded, barred = copycat_bills(n, progress)
    unit = 1e-3  # per cent of a charge of some 10^6 micro-units: a few of them are rounding
    assert refunded <= unit if progress <= 1 else refunded >= -unit
    assert barred >= 0
    # D_c - D_h = (progress - 1)(1 - 1/(N-1)^2), over an honest N/(N-1)
    assert refunded == pytest.approx(100 * (progress - 1) * (n - 2) / (n - 1), abs=unit)


@pytest.mark.parametrize("progress", [0.0, 0.3, 2.0])
def test_the_copycats_bill_is_that_of_simulated_uploads(progress: float) -> None:
    n, d = 12, 200_000
    rng = np.random.default_rng(4)
    uploads = np.sqrt(progress) * rng.standard_normal(d) + rng.standard_normal((n, d))
    terms = Terms("m", np.full(n, 1.0 / n), np.ones(n))
    honest = billing.statements(uploads, terms).charge.mean()
    uploads[0] = 0.0
    for expected, barred in zip(copycat_bills(n, progress), ([], [0]), strict=True):
        found = 100 * billing.statements(uploads, terms, barred=barred).net[0] / honest
        # each deviation, of at most 1 + progress, is known to sqrt(2 / d)
        assert abs(found - expected) <= DEVIATIONS * 200 * (1 + progress) * np.sqrt(2 / d)


@cache
def found(posted: bool = False) -> dict[tuple[str, bool], Attack]:
    mechanism = PostedPrice(rounds=ROUNDS) if posted else Pigouvian(rounds=ROUNDS)
    scene = digits_scene(mechanism)
    attacks = (*measured(scene, SEEDS), *loud_majority(scene, SEEDS))
    return {(attack.name, attack.refund_rule): attack for attack in attacks}


def test_in_training_the_copycat_is_paid_and_caught() -> None:
    for attacks in (found(), found(posted=True)):
        copycat, away = attacks["copycat", False], attacks["stays away", False]
        assert copycat.bill < 0
        assert copycat.bill < copycat.honest_bill
        assert copycat.gain > away.gain + 3 * np.hypot(copycat.gain_error, away.gain_error)
        assert copycat.harm > 0
        assert copycat.caught == 1.0


def test_without_its_refund_it_pays_and_staying_away_is_as_good() -> None:
    attacks = found()
    copycat, away = attacks["copycat", True], attacks["stays away", True]
    assert copycat.bill > 0
    assert copycat.gain <= away.gain
    assert copycat.gain < attacks["copycat", False].gain
    assert copycat.harm < attacks["copycat", False].harm


def test_a_copycat_with_noise_is_billed_like_the_honest_and_never_found() -> None:
    for rule in (False, True):
        attack = found()["copycat with noise", rule]
        assert attack.caught == 0.0
        assert attack.gain > 0
        # expected deviations differ by progress - v - u: a hundredth of the noise here
        assert attack.bill == pytest.approx(attack.honest_bill, abs=0.05 * abs(attack.gain))


def test_sybils_are_paid_once_each_unless_refunds_are_barred() -> None:
    attacks = found()
    sybils, copycat = attacks["Sybils that copy", False], attacks["copycat", False]
    assert sybils.clients == 4
    assert sybils.bill < 2 * copycat.bill < 0
    assert sybils.caught == 1.0
    assert attacks["Sybils that copy", True].gain < 0


def test_rings() -> None:
    attacks = found()
    for name in ("ring sharing its noise", "ring of more than half"):
        assert attacks[name, False].bill < attacks[name, False].honest_bill
        assert attacks[name, True].bill > attacks[name, False].bill
    large, loud = (attacks[f"{name}ring of more than half", False] for name in ("", "loud "))
    assert loud.bill < large.bill < 0  # the more noise, the more they are paid
    assert loud.gain < large.gain < 0  # and it is their own accuracy that they lose
    assert loud.others_flagged > 0.9
    assert attacks["loud ring of more than half", True].bill == loud.bill  # nobody is left to bar


def test_posted_prices_have_no_refund_rule() -> None:
    assert {rule for _, rule in found(posted=True)} == {False}
    assert found(posted=True)["ring of more than half", False].caught == 0.0


def by_hand(scene: Scene, conduct: Conduct, seed: int) -> tuple[float, float]:
    """What client 0 pays, and all that it costs it, from its statements and the model."""
    n = scene.setting.n
    names = tuple(f"c{i}" for i in range(n))
    plan = Plan(
        consortium="c", run="r", clients=names, setting=scene.setting, mechanism=scene.mechanism
    )
    rest = np.arange(1, n)
    cohorts = (
        Cohort.of(np.arange(1), scene.alpha[:1], conduct),
        Cohort.of(rest, scene.alpha[rest], Obedient()),
    )
    owed: list[float] = []
    privacy: list[float] = []

    def watch(passed: Passed) -> None:
        mine = [s for s in bill(passed.closed).statements if s.client == "c0"]
        owed.extend(statement.net / MICRO for statement in mine)
        sigma = np.where(passed.plays.copies, np.inf, passed.plays.sigma)
        privacy.append(privacy_costs(scene.alpha, sigma, scene.setting.privacy_scale)[0])

    running = begin(scene.task, Replica(plan=plan, cohorts=cohorts, seed=seed))
    assert running.coordinator.terms is not None
    (ended,) = simulate(scene.task, [running], watch)
    paid = sum(owed) + float(running.coordinator.terms.transfers[0])
    return paid, (1 - scene.alpha[0]) * ended.loss + float(np.mean(privacy)) + paid


@pytest.mark.parametrize("mechanism", [Pigouvian(rounds=6), Groves(rounds=6)])
def test_the_gain_is_that_of_statements_and_losses(mechanism: Mechanism) -> None:
    scene = digits_scene(mechanism)
    copycat = next(attack for attack in measured(scene, 2) if attack.name == "copycat")
    honest = [by_hand(scene, Obedient(), seed) for seed in range(2)]
    cheating = [by_hand(scene, Copycat(), seed) for seed in range(2)]
    gains = [a[1] - b[1] for a, b in zip(honest, cheating, strict=True)]
    # float32 models in batches of other sizes: relative 1e-5 of the loss
    assert copycat.bill == pytest.approx(mean(cheating), abs=1e-5)
    assert copycat.honest_bill == pytest.approx(mean(honest), abs=1e-5)
    assert copycat.gain == pytest.approx(np.mean(gains), abs=2e-5)


def mean(runs: Sequence[tuple[float, float]]) -> float:
    return float(np.mean([paid for paid, _ in runs]))


def test_a_scene_is_checked() -> None:
    setting = Setting(4, AccuracyLoss(1.0, 1.0), 0.1)
    task = digits_task(4)
    with pytest.raises(InvalidArgument, match="n must be 5 or more"):
        Scene(task=task, setting=setting, alpha=np.full(4, 0.5), mechanism=Pigouvian())
    larger = Setting(6, AccuracyLoss(1.0, 1.0), 0.1)
    with pytest.raises(InvalidArgument, match="task must hold data for 6 clients"):
        Scene(task=task, setting=larger, alpha=np.full(6, 0.5), mechanism=Pigouvian())
    with pytest.raises(InvalidArgument, match="seeds must be a whole number >= 2"):
        measured(digits_scene(Pigouvian()), 1)
