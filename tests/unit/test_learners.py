"""Learners against the formulas of the paper, finite differences, and scikit-learn."""

from typing import Any

import numpy as np
import pytest
import sklearn.linear_model
import sklearn.svm
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.strategies import rngs

from pigou.errors import InvalidArgument
from pigou.federation import shards as sharding
from pigou.federation.datasets import Dataset, digits, with_bias
from pigou.federation.learners import Learner, LogisticRegression, SquaredSVM
from pigou.federation.linear import LinearLearner
from pigou.federation.long_run import NotReached, long_run
from pigou.federation.shards import Shards
from pigou.federation.splits import iid, row_weights

Floats = NDArray[np.float64]
SINGLE = 2e-5  # relative rounding of float32 sums of some hundred terms, with room


def naive_loss(learner: LinearLearner, w: Floats, x: Any, y: Any) -> float:
    """F_i as the paper writes it, one sample at a time, in float64."""
    total = 0.0
    for sample, label in zip(np.asarray(x, dtype=np.float64), y, strict=True):
        if isinstance(learner, SquaredSVM):
            total += 0.5 * max(0.0, 1.0 - float(label) * float(w @ sample)) ** 2
        else:
            scores = w.reshape(learner.outputs, -1) @ sample
            total += float(np.logaddexp.reduce(scores) - scores[label])
    return learner.regularisation / 2 * float(w @ w) + total / len(y)


def naive_gradient(learner: LinearLearner, w: Floats, x: Any, y: Any) -> Floats:
    """Central differences of the naive loss."""
    step = 1e-6
    moved = [
        naive_loss(learner, w + step * e, x, y) - naive_loss(learner, w - step * e, x, y)
        for e in np.eye(w.size)
    ]
    return np.array(moved) / (2 * step)


@st.composite
def tasks(draw: st.DrawFn) -> tuple[LinearLearner, Shards, NDArray[np.float32]]:
    """A learner, ragged or equal clients, and R models."""
    rng, features = draw(rngs()), draw(st.integers(1, 5))
    strength = 10.0 ** draw(st.floats(-3, 0))
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=5))
    if draw(st.booleans()):
        sizes = [sizes[0]] * len(sizes)
    x = rng.random((sum(sizes), features), dtype=np.float32)
    learner: LinearLearner
    if draw(st.booleans()):
        learner, y = SquaredSVM(features, strength), rng.choice([-1.0, 1.0], sum(sizes))
        shards = Shards(x, y.astype(np.float32), np.cumsum([0, *sizes]))
    else:
        classes = draw(st.integers(2, 4))
        learner = LogisticRegression(features, strength, classes)
        shards = Shards(x, rng.integers(0, classes, sum(sizes)), np.cumsum([0, *sizes]))
    models = 2 * rng.standard_normal((draw(st.integers(1, 4)), learner.dim), dtype=np.float32)
    return learner, shards, models


def held(shards: Shards, client: int) -> tuple[Any, Any]:
    rows = slice(shards.starts[client], shards.starts[client + 1])
    return shards.x[rows], shards.y[rows]


def close(left: Any, right: Any, scale: float) -> None:
    np.testing.assert_allclose(left, right, rtol=SINGLE, atol=SINGLE * scale)


@settings(deadline=None, max_examples=60)
@given(tasks())
def test_losses_and_gradients_are_those_of_the_formula(
    task: tuple[LinearLearner, Shards, NDArray[np.float32]],
) -> None:
    learner, shards, models = task
    losses, gradients = learner.losses(models, shards), learner.gradients(models, shards)
    assert losses.shape == (len(models), shards.clients)
    assert gradients.shape == (len(models), shards.clients, learner.dim)
    for r, w in enumerate(models.astype(np.float64)):
        for i in range(shards.clients):
            close(losses[r, i], naive_loss(learner, w, *held(shards, i)), 1.0)
            expected = naive_gradient(learner, w, *held(shards, i))
            # a kink of the hinge within the step of the difference is off by 1e-6 at most
            close(gradients[r, i], expected, 1.0 + float(np.abs(expected).max()))


@settings(deadline=None, max_examples=60)
@given(tasks(), st.integers(1, 4), st.floats(0.01, 0.5))
def test_local_steps_are_gradient_steps_of_each_client_alone(
    task: tuple[LinearLearner, Shards, NDArray[np.float32]], steps: int, size: float
) -> None:
    learner, shards, models = task
    before = models.copy()
    trained = learner.train(models, shards, steps, size)
    np.testing.assert_array_equal(models, before)
    assert trained.models.dtype == np.float32
    close(trained.losses, learner.losses(models, shards), 0.0)
    for i in range(shards.clients):
        x, y = held(shards, i)
        alone = Shards(x, y, np.array([0, len(x)]))
        current = models
        for _ in range(steps):
            rows = [learner.gradients(row[np.newaxis], alone)[0, 0] for row in current]
            current = (current - size * np.array(rows)).astype(np.float32)
        scale = 10.0 * float(np.abs(current).max() + 1)
        close(trained.models[:, i], current, scale)


@settings(deadline=None, max_examples=40)
@given(tasks(), st.integers(1, 3), st.integers(1, 400))
def test_blocks_do_not_matter(
    task: tuple[LinearLearner, Shards, NDArray[np.float32]], steps: int, size: int
) -> None:
    learner, shards, models = task
    whole = learner.train(models, shards, steps, 0.1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sharding, "BLOCK_BYTES", size)
        cut = learner.train(models, shards, steps, 0.1)
        blocks = [block.clients for block in shards.blocks()]
    assert [i for part in blocks for i in range(part.start, part.stop)] == list(
        range(shards.clients)
    )
    close(cut.models, whole.models, 1.0)
    close(cut.losses, whole.losses, 1.0)


@settings(deadline=None, max_examples=60)
@given(tasks(), rngs(), st.floats(0, 1))
def test_losses_are_convex_and_as_smooth_as_stated(
    task: tuple[LinearLearner, Shards, NDArray[np.float32]], rng: np.random.Generator, t: float
) -> None:
    learner, shards, _ = task
    x, y = held(shards, 0)
    alone = Shards(x, y, np.array([0, len(x)]))
    far = 10.0 ** rng.uniform(-1, 2)
    v, w = (far * rng.standard_normal((2, learner.dim))).astype(np.float32)
    middle = (np.float32(t) * v + (1 - np.float32(t)) * w)[np.newaxis]
    at_v, at_w, between = (
        float(learner.losses(m, alone)[0, 0]) for m in (v[None], w[None], middle)
    )
    # strong convexity with lambda, up to the rounding of the three losses and of the middle
    bonus = learner.regularisation / 2 * t * (1 - t) * float(np.square(v - w).sum())
    slack = 10 * SINGLE * (at_v + at_w)
    assert between <= t * at_v + (1 - t) * at_w - bonus + slack
    slopes = learner.gradients(np.array([v, w]), alone)[:, 0].astype(np.float64)
    change, distance = np.linalg.norm(slopes[0] - slopes[1]), np.linalg.norm(v - w)
    bound = learner.smoothness(x) * distance
    assert change <= bound + 10 * SINGLE * float(np.abs(slopes).max())


@pytest.mark.parametrize("shape", [(50, 8), (8, 50), (2500, 3)])
def test_smoothness_is_the_largest_singular_value_squared(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    x = rng.random(shape, dtype=np.float32)
    norm = np.linalg.norm(x.astype(np.float64), 2) ** 2 / len(x)
    svm, logistic = SquaredSVM(shape[1], 0.3), LogisticRegression(shape[1], 0.3)
    assert norm + 0.3 <= svm.smoothness(x) == pytest.approx(norm + 0.3, rel=1e-10)
    assert logistic.smoothness(x) == pytest.approx(norm / 2 + 0.3, rel=1e-10)
    weights = rng.dirichlet(np.ones(len(x)))
    weighted = np.linalg.norm(x * np.sqrt(weights)[:, np.newaxis], 2) ** 2
    assert svm.smoothness(x, weights) == pytest.approx(weighted + 0.3, rel=1e-10)


def test_smoothness_is_reached_so_that_no_smaller_bound_would_do() -> None:
    """Along the first singular vector both losses curve by L_F, the logistic one for 2 classes."""
    rng = np.random.default_rng(1)
    x = rng.random((40, 3)).astype(np.float32)
    top = np.linalg.svd(x)[2][0]
    top *= np.sign(top.sum())
    step = np.float32(1e-3)
    svm = SquaredSVM(3, 0.1)
    start = -np.ones(3) * 10  # every hinge of a positive sample is active
    moved = np.array([start, start + step * top], dtype=np.float32)
    shards = Shards(x, np.ones(40, np.float32), np.array([0, 40]))
    slopes = svm.gradients(moved, shards)[:, 0]
    curvature = float((slopes[1] - slopes[0]) @ top) / step
    assert curvature == pytest.approx(svm.smoothness(x), rel=0.05)  # float32 differences
    logistic = LogisticRegression(3, 0.1, classes=2)
    both = np.concatenate([top, -top]) / np.sqrt(2)
    moved = np.array([-both * step, both * step], dtype=np.float32)
    shards = Shards(x, np.arange(40) % 2, np.array([0, 40]))
    slopes = logistic.gradients(moved, shards)[:, 0]
    curvature = float((slopes[1] - slopes[0]) @ both) / (2 * step)
    assert curvature == pytest.approx(logistic.smoothness(x), rel=0.05)


LEARNERS = [SquaredSVM(65), LogisticRegression(65)]


@pytest.mark.parametrize("learner", LEARNERS, ids=["svm", "logistic"])
def test_training_with_the_default_step_never_raises_the_loss(learner: LinearLearner) -> None:
    data = digits()
    split = iid(data, 5, np.random.default_rng(0), 200, 50)
    shards = Shards.gather(data.x, learner.targets(data), split.train)
    step = 1 / learner.smoothness(data.x, row_weights(split.train, len(data.x)))
    model, losses = learner.initial()[np.newaxis], []
    for _ in range(30):
        trained = learner.train(model, shards, 1, step)
        losses.append(float(trained.losses.mean()))
        model = trained.models.mean(axis=1)
    assert (np.diff(losses) < 0).all()
    rows = np.concatenate(split.test)
    majority = 0.5 if isinstance(learner, SquaredSVM) else 0.1
    share = learner.accuracy(model, data.x[rows], learner.targets(data)[rows])[0]
    assert share > majority + 0.2


@pytest.mark.parametrize("learner", LEARNERS, ids=["svm", "logistic"])
def test_accuracy_counts_right_answers(learner: LinearLearner) -> None:
    data, rng = digits(), np.random.default_rng(3)
    models = rng.standard_normal((3, learner.dim)).astype(np.float32)
    y, weights = learner.targets(data), rng.dirichlet(np.ones(len(data.y)))
    for r, w in enumerate(models):
        scores = data.x @ w.reshape(learner.outputs, -1).T
        guess = np.where(scores[:, 0] > 0, 1, -1) if learner.outputs == 1 else scores.argmax(axis=1)
        assert learner.accuracy(models, data.x, y)[r] == pytest.approx((guess == y).mean())
        weighted = learner.accuracy(models, data.x, y, weights)[r]
        assert weighted == pytest.approx(weights @ (guess == y))


def test_the_long_run_is_where_scikit_learn_ends() -> None:
    data, n, strength = digits(), 400, 0.01
    x, y = data.x[:n].astype(np.float64), data.y[:n]
    svm, logistic = SquaredSVM(65, strength), LogisticRegression(65, strength)
    signs = svm.targets(data)[:n]
    machine = sklearn.svm.LinearSVC(
        loss="squared_hinge", C=1 / (2 * n * strength), fit_intercept=False, dual=False, tol=1e-10
    )
    # ours: |w - w*| <= sqrt(2 gap / lambda) = 1.4e-6; theirs stop at comparable gradients
    ours = long_run(svm, data.x[:n], signs, tolerance=1e-14)
    np.testing.assert_allclose(ours.model, machine.fit(x, signs).coef_[0], atol=1e-5)
    theirs = sklearn.linear_model.LogisticRegression(
        C=1 / (n * strength), fit_intercept=False, tol=1e-9, max_iter=5000
    )
    model = long_run(logistic, data.x[:n], y, tolerance=1e-14).model.reshape(10, -1)
    np.testing.assert_allclose(model, theirs.fit(x, y).coef_, atol=1e-5)


@settings(deadline=None, max_examples=15)
@given(tasks(), rngs())
def test_nothing_is_below_the_long_run_by_more_than_its_gap(
    task: tuple[LinearLearner, Shards, NDArray[np.float32]], rng: np.random.Generator
) -> None:
    learner, shards, _ = task
    weights = rng.dirichlet(np.ones(len(shards.x)))
    end = long_run(learner, shards.x, shards.y, weights, tolerance=1e-8)

    def loss(w: Floats) -> float:
        each = [
            naive_loss(learner, w, shards.x[k : k + 1], shards.y[k : k + 1])
            for k in range(len(shards.x))
        ]
        return float(weights @ each)

    assert end.gap <= 1e-8
    assert end.loss == pytest.approx(loss(end.model), rel=1e-9)
    for _ in range(20):
        other = end.model + 10.0 ** rng.uniform(-6, 1) * rng.standard_normal(learner.dim)
        assert loss(other) >= end.loss - end.gap - 1e-13


def test_a_tolerance_out_of_reach_is_an_error() -> None:
    data, svm = digits(), SquaredSVM(65)
    with pytest.raises(NotReached, match="tolerance must be reachable: wanted 1e-60, proved"):
        long_run(svm, data.x, svm.targets(data), tolerance=1e-60)


def test_rows_are_gathered_client_by_client() -> None:
    data = digits()
    rows = [np.array([5, 5, 900]), np.array([0]), np.array([1796, 3])]
    shards = Shards.gather(data.x, data.y, rows)
    assert shards.sizes.tolist() == [3, 1, 2]
    for i, part in enumerate(rows):
        x, y = held(shards, i)
        np.testing.assert_array_equal(x, data.x[part])
        np.testing.assert_array_equal(y, data.y[part])


def made(classes: tuple[int, ...]) -> Dataset:
    k = len(classes)
    return Dataset(with_bias(np.zeros((k, 1))), np.arange(k), "made", classes)


@pytest.mark.parametrize(
    ("classes", "signs"),
    [
        ((0, 1, 2, 3), [1, -1, 1, -1]),
        ((-3, -2, 5), [-1, 1, -1]),
        ((0, 1), [-1, 1]),
        ((-1, 1), [-1, 1]),
        ((4, 8), [-1, 1]),
    ],
)
def test_the_svm_sets_even_against_odd_and_takes_two_classes_as_they_are(
    classes: tuple[int, ...], signs: list[int]
) -> None:
    targets = SquaredSVM(2).targets(made(classes))
    assert targets.tolist() == signs
    assert targets.dtype == np.float32


X = np.ones((2, 3), dtype=np.float32)
WIDE: Any = X.astype(np.float64)
TWO = Shards(X, np.ones(2, dtype=np.float32), np.array([0, 1, 2]))
SVM = SquaredSVM(3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SquaredSVM(0), "features must be a whole number >= 1"),
        (lambda: SquaredSVM(3, 0.0), "regularisation must be a finite number > 0"),
        (lambda: LogisticRegression(3, classes=1), "classes must be a whole number >= 2"),
        (lambda: SquaredSVM(2).targets(made((1, 3, 5))), "classes must hold even and odd labels"),
        (lambda: LogisticRegression(2).targets(made((1, 3))), "classes must be the data's 2"),
        (lambda: SVM.losses(X[:, :2], TWO), r"models must have the shape \(replicas, 3\)"),
        (lambda: SVM.losses(X[0], TWO), r"models must have the shape \(replicas, 3\)"),
        (lambda: SquaredSVM(4).losses(np.ones((1, 4), np.float32), TWO), "x must have 4 columns"),
        (lambda: SVM.train(X, TWO, 0, 0.1), "steps must be a whole number >= 1"),
        (lambda: SVM.train(X, TWO, 1, 0.0), "step_size must be a finite number > 0"),
        (lambda: long_run(SVM, X, TWO.y, tolerance=0.0), "tolerance must be a finite number > 0"),
        (lambda: Shards(X, TWO.y, np.array([0, 1])), "starts must run from 0 to 2"),
        (lambda: Shards(X, TWO.y[:1], np.array([0, 2])), "starts must run from 0 to 2"),
        (lambda: Shards(X, TWO.y, np.array([0, 0, 2])), "starts must leave no client empty"),
        (lambda: Shards(WIDE, TWO.y, np.array([0, 2])), "x must be float32"),
        (lambda: Shards.gather(X, TWO.y, []), "rows must be those of 1 client or more"),
        (lambda: Shards.gather(X, TWO.y, [np.array([2])]), r"rows must lie in \[0, 1\]"),
        (lambda: Shards.gather(X, TWO.y, [np.array([-1])]), r"rows must lie in \[0, 1\]"),
    ],
)
def test_mistakes_are_refused_by_name(call: Any, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        call()


def test_the_learners_are_learners() -> None:
    learners: list[Learner] = [SquaredSVM(3), LogisticRegression(3)]
    assert [learner.dim for learner in learners] == [3, 30]
    assert all((learner.initial() == 0).all() for learner in learners)
