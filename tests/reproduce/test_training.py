"""Trained trials: what is measured is the social cost of section 1, of clients who play."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.reproduce.trained import QUICK, on_digits, on_mnist

from pigou.federation.mnist import DataMissing
from pigou.game import AccuracyLoss, Game, Setting, privacy_costs
from pigou.mechanisms import Pigouvian, Unpriced
from pigou.paper import complete
from pigou.reproduce.fig1_training import TREATMENTS
from pigou.reproduce.part import Request
from pigou.reproduce.parts import PARTS
from pigou.reproduce.training import Measured, Trial, measure, seconds_alone, trial
from pigou.reproduce.training_task import ROUNDS, N, parameters, scenario
from pigou.reproduce.treatments import (
    CORRECTED,
    GROVES,
    MEAN_UNPRICED,
    POSTED,
    PRINTED,
    UNPRICED,
)
from pigou.runs import Ready
from pigou.scenario import load
from pigou.solve import equilibrium, optimum

ROOT = Path(__file__).parents[2]
ALPHA = np.random.default_rng(8).uniform(0.1, 0.9, N)


def game() -> Game:
    return Game(on_digits().setting, ALPHA)


@pytest.fixture(scope="module")
def found() -> Measured:
    """One trial of every treatment, in the order of ``TREATMENTS``."""
    return measure(on_digits().task, [trial(name, game(), ROUNDS, 3) for name in TREATMENTS])


def test_clients_play_the_equilibrium_of_each_treatment(found: Measured) -> None:
    """The loss is quadratic in the error alone: no best response waits for an estimate."""
    assert on_digits().setting.loss.linear == 0.0
    here = game()
    plain = Game(Setting(N, here.setting.loss, here.setting.privacy_scale), ALPHA)
    points = {
        UNPRICED: complete.equilibrium(plain),
        CORRECTED: complete.stationary(plain),
        MEAN_UNPRICED: equilibrium(here),
        GROVES: optimum(here),
    }
    predicted = dict(zip(TREATMENTS, found.predicted, strict=True))
    for name, point in points.items():
        assert predicted[name] == pytest.approx(point.social_cost, rel=1e-6), name
    assert predicted[POSTED] == pytest.approx(predicted[GROVES], rel=0.01)
    assert predicted[PRINTED] > predicted[CORRECTED]


def test_social_cost_is_measured_loss_and_privacy(found: Measured) -> None:
    best = optimum(game())
    k = TREATMENTS.index(GROVES)
    scale = game().setting.privacy_scale
    privacy = privacy_costs(ALPHA, best.sigma, scale).sum()
    assert found.privacy[k] == pytest.approx(privacy, rel=1e-6)
    cost = game().accuracy_weight * found.excess[k] + privacy
    assert found.social_cost[k] == pytest.approx(cost, rel=1e-6)
    assert (found.excess > 0).all()
    assert (found.accuracy < found.quiet_accuracy).all()


def test_the_excess_is_what_a_plain_loop_with_the_same_error_finds() -> None:
    """Over seeds: noise of the aggregate alone, in a loop without clients, bills or engine."""
    ready, seeds = on_digits(), 16
    task, best = ready.task, optimum(game())
    trials = [Trial(game(), Pigouvian(rounds=ROUNDS), seed) for seed in range(seeds)]
    engine = measure(task, trials).excess
    rng = np.random.default_rng(1)
    models = np.zeros((seeds + 1, task.dim), dtype=np.float32)
    error = np.full((seeds + 1, 1), best.error)
    error[0] = 0.0
    for _ in range(ROUNDS):
        update = task.train(models)[0] - models[:, None]
        length = np.linalg.norm(update, axis=2, keepdims=True)
        update *= np.minimum(1.0, task.clip / length)
        models = models + update.mean(axis=1) + error * rng.standard_normal(models.shape)
        models = models.astype(np.float32)
    loss = task.loss(models)
    plain = loss[1:] - loss[0]
    spread = np.hypot(engine.std(ddof=1), plain.std(ddof=1)) / np.sqrt(seeds)
    assert abs(engine.mean() - plain.mean()) < 4.0 * spread
    assert spread < 0.4 * plain.mean()


def test_a_batch_measures_what_single_runs_do(found: Measured) -> None:
    for k in (0, 4):
        one = measure(on_digits().task, [trial(TREATMENTS[k], game(), ROUNDS, 3)])
        # float32 products in batches of other shapes, over 30 rounds
        assert one.excess[0] == pytest.approx(found.excess[k], rel=1e-3)
        assert one.social_cost[0] == pytest.approx(found.social_cost[k], rel=1e-3)
        assert one.accuracy[0] == pytest.approx(found.accuracy[k], abs=0.01)


def test_rounds_are_told_and_time_is_taken() -> None:
    told: list[int] = []
    here = [trial(MEAN_UNPRICED, game(), 4, 0)]
    taken = measure(on_digits().task, here, told.append)
    assert told == [1, 2, 3, 4]
    assert taken.per_trial() == taken.seconds / 2 > 0
    assert seconds_alone(on_digits().task, here) > 0


def test_noise_costs_more_where_privacy_is_worth_more() -> None:
    here = game().setting
    scales = [factor * here.privacy_scale for factor in (0.01, 0.1, 1.0)]
    games = [Game(Setting(N, AccuracyLoss(0.0, 30.0), scale), ALPHA) for scale in scales]
    excess = measure(on_digits().task, [Trial(g, Unpriced(rounds=ROUNDS), 0) for g in games]).excess
    assert (np.diff(excess) > 0).all()


def test_the_task_is_that_of_the_example() -> None:
    assert scenario(Request()) == load(ROOT / "examples" / "mnist_hundred.toml")
    assert scenario(Request(seed=4)).seed == 4
    changed = scenario(QUICK, {"training": {"regularisation": 0.5}})
    assert changed.training is not None
    assert (changed.training.regularisation, changed.training.data) == (0.5, "digits")


def norms(ready: Ready) -> NDArray[np.float64]:
    """Of honest updates in round 1."""
    start = ready.task.initial()
    return np.asarray(np.linalg.norm(ready.task.train(start[None])[0][0] - start, axis=1))


def rounded_up(ready: Ready, step: float) -> bool:
    """Whether the clip is the largest norm, rounded up to a multiple of step."""
    largest, clip = float(norms(ready).max()), ready.task.clip
    return largest <= clip < largest + step


def test_the_clip_is_the_largest_honest_norm_rounded_up() -> None:
    assert rounded_up(on_digits(), 0.01)


@pytest.mark.long
def test_the_clip_on_mnist_is_the_largest_honest_norm_rounded_up() -> None:
    assert rounded_up(on_mnist(), 0.01)


def test_parameters_are_those_of_the_run() -> None:
    ready = on_digits()
    found = {each.symbol: each.value for each in parameters(ready, "somewhere")}
    assert float(found["step"]) == pytest.approx(1.0 / float(found["L_F"]), rel=1e-3)
    assert float(found["a = cS"]) == pytest.approx(
        np.sqrt(2 * np.log(1.25e5)) * float(found["C = S"]), rel=1e-3
    )


def test_missing_data_are_said_before_anything_starts(tmp_path: Path) -> None:
    trained = [part for part in PARTS if "training" in part.name or part.name == "accuracy"]
    assert len(trained) == 4
    for part in trained:
        with pytest.raises(DataMissing, match="pigou data fetch mnist"):
            part.check(Request(data=tmp_path))
        part.check(replace(QUICK, data=tmp_path))
