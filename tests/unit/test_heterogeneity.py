"""Spread and divergence against regressions whose updates are known, and kept apart on digits."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.federations import digits_task
from tests.regression import regression_task

from pigou.errors import InvalidArgument
from pigou.federation.datasets import digits
from pigou.federation.heterogeneity import MOMENTS, Heterogeneity, heterogeneity
from pigou.federation.shards import Shards
from pigou.federation.splits import dirichlet
from pigou.federation.task import Supervised
from pigou.mechanisms.billing import compare

Floats = NDArray[np.float64]
N, DIM, SAMPLES = 8, 30, 200
STEP, NOISE = 0.1, 0.7


def updates(task: Supervised) -> Floats:
    start = task.initial()
    return np.asarray(task.train(start[None])[0][0] - start, dtype=np.float64)


def test_spread_is_the_variance_of_an_update_when_data_are_drawn_again() -> None:
    theta = np.tile(np.linspace(-0.5, 0.5, DIM), (N, 1))
    tasks = [
        regression_task(theta, SAMPLES, np.random.default_rng(k), noise=NOISE, step_size=STEP)
        for k in range(60)
    ]
    drawn_again = np.array([updates(task) for task in tasks]).var(axis=0, ddof=1).mean()
    # per coordinate k: step^2 / m times Var(x_k y) = |theta|^2 + noise^2 + theta_k^2
    norm = np.square(theta[0]).sum()
    known = STEP**2 / SAMPLES * (norm + NOISE**2 + norm / DIM)
    # 60 x 240 squares: within sqrt(2 / 14400) = 1.2 % of the truth, four times over
    assert drawn_again == pytest.approx(known, rel=0.05)
    rng = np.random.default_rng(0)
    for resamples in (2, 10):
        found = [heterogeneity(task, 1, rng, resamples).spread.mean() for task in tasks]
        assert np.mean(found) == pytest.approx(known, rel=0.05)


def test_divergence_is_the_distance_between_what_clients_would_learn() -> None:
    rng = np.random.default_rng(4)
    theta = rng.standard_normal((N, DIM)) * np.linspace(0.2, 3.0, N)[:, None]
    task = regression_task(theta, 4000, rng, noise=NOISE, step_size=STEP)
    found = heterogeneity(task, 1, rng, resamples=20)
    others = (theta.sum(axis=0) - theta) / (N - 1)
    known = STEP**2 * np.square(theta - others).mean(axis=1)
    # the update is theta seen through 4000 samples: a few percent of its size
    np.testing.assert_allclose(found.divergence, known, rtol=0.1)
    assert (found.spread < 0.05 * found.divergence).all()


def test_deviations_are_the_sum_of_both_as_theory_says() -> None:
    """E D_i = v_i + u_i + sum of the others' v / (N - 1)^2, over draws of the data (section 3)."""
    rng = np.random.default_rng(4)
    theta = 0.1 * rng.standard_normal((N, DIM))
    shown, said = [], []
    for k in range(40):
        draw = np.random.default_rng([k, 1])
        task = regression_task(theta, SAMPLES, draw, noise=NOISE, step_size=STEP)
        shown.append(compare(updates(task), np.ones(N, np.bool_)).deviation)
        found = heterogeneity(task, 1, draw)
        v, u = found.spread_by_round[0], found.divergence_by_round[0]
        said.append(v + u + (v.sum() - v) / (N - 1) ** 2)
    np.testing.assert_allclose(said, shown, rtol=1e-5)
    others = (theta.sum(axis=0) - theta) / (N - 1)
    norm = np.square(theta).sum(axis=1)
    v = STEP**2 / SAMPLES * (norm * (1 + 1 / DIM) + NOISE**2)
    known = v + STEP**2 * np.square(theta - others).mean(axis=1) + (v.sum() - v) / (N - 1) ** 2
    # 40 draws of 30 squares: sqrt(2 / 1200) = 4 %, four times over
    np.testing.assert_allclose(np.mean(shown, axis=0), known, rtol=0.17)


def test_alike_clients_have_spread_and_no_divergence() -> None:
    found = heterogeneity(digits_task(), 10, np.random.default_rng(0), resamples=30)
    # disjoint samples of one pool: what remains of the deviations is noise around 0
    left = found.divergence_by_round.mean(axis=0)
    error = left.std(ddof=1) / np.sqrt(left.size)
    assert abs(left.mean()) < 4.0 * error
    assert abs(left.mean()) < 0.25 * found.spread.mean()
    assert (found.spread > 0).all()


def skewed(concentration: float) -> Supervised:
    """The digits task with labels skewed among the clients."""
    data, base = digits(), digits_task()
    split = dirichlet(data, 20, concentration, np.random.default_rng(2), train=70, test=70)
    shards = Shards.gather(data.x, base.learner.targets(data), split.train)
    return replace(base, shards=shards)


def test_skewed_labels_raise_divergence_and_not_spread() -> None:
    alike, mild, strong = (
        heterogeneity(task, 10, np.random.default_rng(0), resamples=20)
        for task in (digits_task(), skewed(5.0), skewed(0.1))
    )
    u = [each.divergence.mean() for each in (alike, mild, strong)]
    v = [each.spread.mean() for each in (alike, mild, strong)]
    assert 3.0 * u[0] < u[1]
    assert 10.0 * u[1] < u[2]
    # pixels move together: one split's spread is known within some ten percent, not better; and
    # one-sided labels leave less to vary within a client
    assert v[1] == pytest.approx(v[0], rel=0.3)
    assert v[2] < v[0]


def test_it_is_measured_along_the_run() -> None:
    task = digits_task()
    found = heterogeneity(task, 10, np.random.default_rng(0))
    assert len(found.rounds) == MOMENTS
    assert (found.rounds[0], found.rounds[-1]) == (1, 10)
    assert found.spread_by_round.shape == found.divergence_by_round.shape == (MOMENTS, 20)
    np.testing.assert_allclose(found.spread, found.spread_by_round.mean(axis=0))
    one = heterogeneity(task, 1, np.random.default_rng(0))
    assert one.rounds == (1,)
    np.testing.assert_allclose(one.spread, found.spread_by_round[0], rtol=0.8)


def test_divergence_is_never_told_below_zero() -> None:
    found = Heterogeneity((1,), np.ones((1, 2)), np.array([[-0.5, 0.25]]))
    np.testing.assert_array_equal(found.divergence, [0.0, 0.25])


def test_what_cannot_be_measured_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="resamples must be a whole number >= 2"):
        heterogeneity(digits_task(), 2, np.random.default_rng(0), resamples=1)
    with pytest.raises(InvalidArgument, match="rounds"):
        heterogeneity(digits_task(), 0, np.random.default_rng(0))
