"""The local engine: the rounds of a plain loop, batches like single runs, and what prices bring."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.federations import DIGITS_LOSS, DIGITS_SCALE, Halfway, digits_task, plan, replica

from pigou import AccuracyLoss, Game, InvalidArgument, Setting, equilibrium, optimum
from pigou.federation.bills import bill, transfers
from pigou.federation.client import Cohort, Rows
from pigou.federation.conduct import (
    Conduct,
    Copycat,
    Dropout,
    Learning,
    Obedient,
    Ring,
    Selfish,
    Silent,
)
from pigou.federation.local import Ended, Passed, Task, begin, release_key, simulate
from pigou.federation.plan import Limits
from pigou.federation.randomness import simulated_noise
from pigou.federation.replica import Replica, Running, resumed, saved
from pigou.federation.task import Supervised
from pigou.mechanisms import Groves, Pigouvian, PostedPrice, Unpriced, billing
from pigou.mechanisms.base import Mechanism
from pigou.terms import Round

ALPHA = np.linspace(0.2, 0.8, 5)
SETTING = Setting(5, AccuracyLoss.bound(16.0, 2.0), 0.5)
DIGITS = Setting(20, DIGITS_LOSS, DIGITS_SCALE, spread=2e-5, divergence=6e-6)
DIGITS_ALPHA = np.random.default_rng(3).uniform(0.1, 0.9, 20)
Floats = NDArray[np.float64]


def ran(task: Task, replicas: Sequence[Replica]) -> tuple[list[list[Passed]], list[Ended]]:
    """All rounds of all replicas."""
    seen: list[list[Passed]] = [[] for _ in replicas]
    ended = simulate(
        task,
        [begin(task, each) for each in replicas],
        lambda passed: seen[passed.replica].append(passed),
    )
    return seen, ended


def test_a_run_is_the_plain_loop_of_training_clipping_noise_and_mean() -> None:
    task, rounds, seed = digits_task(clip=0.03), 4, 7
    alpha = np.linspace(0.1, 0.9, 20)
    (seen,), (ended,) = ran(
        task, [replica(DIGITS, Pigouvian(rounds=rounds), Obedient(), alpha, seed)]
    )
    sigma = optimum(Game(DIGITS, alpha)).sigma
    model = np.zeros(task.dim)
    for t in range(1, rounds + 1):
        trained = task.train(model.astype(np.float32)[None])[0][0].astype(np.float64)
        update = trained - model
        length = np.linalg.norm(update, axis=1, keepdims=True)
        assert (length > 0.03).any()  # the clip does something here
        update = np.where(length > 0.03, 0.03 * update / length, update)
        noise = np.stack([simulated_noise(seed, i, t)(task.dim) for i in range(20)])
        uploads = model + update + sigma[:, None] * noise
        model = uploads.mean(axis=0)
        judged = seen[t - 1].closed.judgement
        assert judged is not None
        terms = seen[t - 1].closed.terms
        expected = billing.statements(uploads, terms).charge
        # float32 uploads of size 0.3 and deviations of 0.01: relative 1e-5
        np.testing.assert_allclose(judged.settlement.charge, expected, rtol=1e-4, atol=2)
        assert judged.settlement.net.sum() == 0
    np.testing.assert_allclose(ended.model, model, atol=2e-6)
    assert len(seen) == rounds


def test_the_loss_that_is_told_is_that_of_the_weights() -> None:
    weights = np.arange(1.0, 21.0) / 210.0
    task = replace(digits_task(), weights=weights)
    models = np.random.default_rng(0).normal(0, 0.1, (3, task.dim)).astype(np.float32)
    each = [[alone(task, i, model) for i in range(20)] for model in models]
    # float32 scores of 70 samples: relative 1e-5
    np.testing.assert_allclose(task.train(models)[1], np.array(each) @ weights, rtol=1e-5)
    np.testing.assert_allclose(task.loss(models), np.array(each) @ weights, rtol=1e-5)


def alone(task: Supervised, client: int, model: Rows) -> float:
    """F_i of the squared SVM, in float64."""
    rows = slice(task.shards.starts[client], task.shards.starts[client + 1])
    wide = model.astype(np.float64)
    gaps = np.maximum(0.0, 1.0 - task.shards.y[rows] * (task.shards.x[rows] @ wide))
    return float(0.5 * np.square(gaps).mean() + 0.005 * wide @ wide)


def test_replicas_in_a_batch_are_the_same_runs_alone() -> None:
    task = digits_task()
    cases: list[tuple[Mechanism, Conduct, Floats]] = [
        (Pigouvian(rounds=5), Selfish(), DIGITS_ALPHA),
        (Unpriced(rounds=3), Selfish(), DIGITS_ALPHA[::-1].copy()),
        (PostedPrice(rounds=5), Dropout(rate=0.3), DIGITS_ALPHA),
        (Pigouvian(rounds=5), Silent(), DIGITS_ALPHA),
    ]
    replicas = [replica(DIGITS, *case, seed=seed) for seed, case in enumerate(cases)]
    together, _ = ran(task, replicas)
    for k, each in enumerate(replicas):
        (alone,), _ = ran(task, [each])
        assert len(alone) == len(together[k])
        for one, other in zip(alone, together[k], strict=True):
            np.testing.assert_array_equal(one.plays.absent, other.plays.absent)
            mine, theirs = bill(one.closed).statements, bill(other.closed).statements
            assert [s.client for s in mine] == [s.client for s in theirs]
            # the same products in batches of other shapes: relative 1e-5, and one micro-unit
            np.testing.assert_allclose(
                [s.charge for s in mine], [s.charge for s in theirs], rtol=1e-5, atol=1
            )
            assert one.loss == pytest.approx(other.loss, rel=1e-5)


def test_dropouts_caps_and_all_conducts_in_one_run() -> None:
    conducts: list[Conduct] = [
        Obedient(),
        Dropout(rate=0.5),
        Ring(),
        Copycat(),
        Silent(),
        Learning(),
    ]
    n, rounds = 3 * len(conducts), 12
    alpha = np.random.default_rng(0).uniform(0.1, 0.9, n)
    setting = Setting(n, SETTING.loss, 0.5)
    for mechanism in (Pigouvian(rounds=rounds), PostedPrice(rounds=rounds), Groves(rounds=rounds)):
        cohorts = tuple(
            Cohort.of(np.arange(3 * k, 3 * k + 3), alpha[3 * k : 3 * k + 3], conduct, cap=cap)
            for k, conduct in enumerate(conducts)
            for cap in [60.0 if k == 0 else np.inf]
        )
        (seen,), (ended,) = ran(
            Halfway(n), [Replica(plan=plan(setting, mechanism), cohorts=cohorts, seed=1)]
        )
        assert ended.stopped == ""
        assert len(seen) == rounds
        for passed in seen:
            assert sum(s.net for s in bill(passed.closed).statements) == 0
            np.testing.assert_array_equal(passed.closed.arrived, ~passed.plays.absent)
        assert (ended.cohorts[0].precision <= 60.0).all()
        assert seen[-1].plays.absent[:3].all()  # their budget is used up


class Kept:
    """Keeps what would be posted, as who runs an engine does, and can stop after so many rounds."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.rounds: list[Round] = []
        self.states: list[bytes] = []
        self.stop_after = stop_after

    def begun(self, running: Running) -> Running:
        """The same, from now on; its report transfers come first."""
        opened = self.goes_on(running).coordinator
        assert opened.terms is not None
        self._keep(transfers(running.replica.plan, opened.terms, opened.eligible))
        return running

    def goes_on(self, running: Running) -> Running:
        """The same, from now on."""
        self.running = running
        return running

    def __call__(self, passed: Passed) -> None:
        self._keep(None if passed.closed.void else bill(passed.closed))

    def _keep(self, settled: Round | None) -> None:
        if settled is None:
            return
        self.rounds.append(settled)
        self.states.append(saved(self.running))
        if self.stop_after is not None and len(self.rounds) > self.stop_after:
            raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("mechanism", "conduct"),
    [
        (Groves(rounds=6), Learning()),
        (PostedPrice(rounds=6), Dropout(rate=0.4)),
        (Pigouvian(rounds=6), Ring()),
        (Unpriced(rounds=6), Selfish()),
    ],
)
@pytest.mark.parametrize("at", [1, 4])
def test_a_run_that_was_interrupted_goes_on_to_the_bit(
    mechanism: Mechanism, conduct: Conduct, at: int
) -> None:
    task, whole = Halfway(), Kept()
    make = replica(SETTING, mechanism, conduct, ALPHA, seed=3)
    ended = simulate(task, [whole.begun(begin(task, make))], whole)[0]
    cut = Kept(stop_after=at)
    with pytest.raises(KeyboardInterrupt):
        simulate(task, [cut.begun(begin(task, make))], cut)
    rest = Kept()
    again = rest.goes_on(resumed(make, cut.states[-1]))
    second = simulate(task, [again], rest)[0]
    assert cut.rounds + rest.rounds == whole.rounds
    assert cut.states + rest.states == whole.states
    assert second.model.tobytes() == ended.model.tobytes()
    assert second.stopped == ended.stopped == ""


def test_transfers_are_posted_before_the_first_round() -> None:
    task, kept = Halfway(), Kept()
    make = replica(SETTING, Groves(rounds=2), Obedient(), ALPHA)
    simulate(task, [kept.begun(begin(task, make))], kept)
    assert [(r.kind, r.round) for r in kept.rounds] == [
        ("transfers", 0),
        ("round", 1),
        ("round", 2),
    ]


def test_void_rounds_are_repeated_with_fresh_noise_and_not_posted() -> None:
    class Late(Obedient):
        """Comes at the second attempt only."""

        name = "late"

        def play(self, view: Any) -> Any:
            away = np.full(view.members.size, view.announcement.attempt == 1)
            return replace(super().play(view), absent=away)

    cohorts = (
        Cohort.of(np.arange(2), ALPHA[:2], Obedient()),
        Cohort.of(np.arange(2, 5), ALPHA[2:], Late()),
    )
    rules = plan(SETTING, Pigouvian(rounds=2), limits=Limits(min_clients=3))
    task, kept = Halfway(), Kept()
    seen: list[Passed] = []
    running = kept.begun(begin(task, Replica(plan=rules, cohorts=cohorts, seed=0)))

    def watch(passed: Passed) -> None:
        seen.append(passed)
        kept(passed)

    (ended,) = simulate(task, [running], watch)
    assert [(p.announcement.round, p.announcement.attempt, p.closed.void) for p in seen] == [
        (1, 1, True),
        (1, 2, False),
        (2, 1, True),
        (2, 2, False),
    ]
    assert [r.round for r in kept.rounds] == [1, 2]
    assert ended.stopped == ""
    assert ended.cohorts[0].precision[0] == pytest.approx(4 * seen[0].plays.sigma[0] ** -2)
    first, second = (seen[k].closed.intake.upload_of(0)[0] for k in (0, 1))
    assert np.abs(first - second).min() > 0
    assert release_key(1, 2) != release_key(2, 1)


def test_a_run_whose_rounds_stay_void_says_so() -> None:
    limits = Limits(min_clients=3, max_attempts=2)
    make = replica(SETTING, Pigouvian(rounds=2), Dropout(rate=1.0), ALPHA, limits=limits)
    (seen,), (ended,) = ran(Halfway(), [make])
    assert len(seen) == 2
    assert ended.stopped == "round 1 was void 2 times"


@pytest.mark.parametrize(
    ("groups", "task"),
    [
        ([[0, 1, 2]], Halfway()),
        ([[0, 1, 2, 3, 4], [4]], Halfway()),
        ([[0, 1, 2, 3, 4]], Halfway(6)),
    ],
)
def test_every_client_is_simulated_once_and_has_data(groups: list[list[int]], task: Task) -> None:
    cohorts = tuple(Cohort.of(np.array(g), ALPHA[: len(g)], Obedient()) for g in groups)
    with pytest.raises(InvalidArgument):
        begin(task, Replica(plan=plan(SETTING, Pigouvian()), cohorts=cohorts, seed=0))


def ratios(seen: list[Passed], reference: float) -> Floats:
    """Social cost of what was played, round by round, over a reference."""
    game = Game(DIGITS, DIGITS_ALPHA)
    return np.array([game.social_cost(p.plays.sigma) / reference for p in seen])


def test_selfish_clients_drift_to_the_equilibrium_and_prices_lead_them_to_the_optimum() -> None:
    """On real training: noise, error and training loss."""
    rounds, seeds = 25, 3
    game = Game(DIGITS, DIGITS_ALPHA)
    best, drifted = optimum(game), equilibrium(game)
    mechanisms = (Pigouvian(rounds=rounds), PostedPrice(rounds=rounds), Unpriced(rounds=rounds))
    quiet = replica(DIGITS, Unpriced(rounds=rounds), Silent(), DIGITS_ALPHA)
    replicas = [quiet] + [
        replica(DIGITS, mechanism, Selfish(), DIGITS_ALPHA, seed)
        for mechanism in mechanisms
        for seed in range(seeds)
    ]
    seen, ended = ran(digits_task(), replicas)
    starts = {"pigouvian": 1, "posted": 1 + seeds, "unpriced": 1 + 2 * seeds}
    for name, point, slack in (
        # the announced error is an estimate, with a relative error of 1/sqrt(2 N d) = 2 %, and best
        # responses move by a third of it at most; posted prices also take all M_-i for alike
        ("pigouvian", best, 0.02),
        ("posted", best, 0.06),
        ("unpriced", drifted, 0.04),
    ):
        for k in range(starts[name], starts[name] + seeds):
            played = np.array([passed.plays.sigma for passed in seen[k][-8:]]).mean(axis=0)
            np.testing.assert_allclose(played, point.sigma, rtol=slack)
            assert ratios(seen[k][-8:], point.social_cost).mean() == pytest.approx(1, abs=0.01)
    loss = {
        name: np.mean([end.loss for end in ended[start : start + seeds]])
        for name, start in starts.items()
    }
    noiseless = ended[0].loss
    assert drifted.social_cost > 2 * best.social_cost
    for name in ("pigouvian", "posted"):
        assert 0 < loss[name] - noiseless < 0.5 * (loss["unpriced"] - noiseless)
