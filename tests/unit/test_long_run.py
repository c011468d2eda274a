"""Where training ends, against normal equations and scikit-learn; and how curved losses are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.svm import LinearSVC
from tests.regression import Quadratic, regression_task

from pigou.errors import InvalidArgument
from pigou.federation.datasets import digits
from pigou.federation.learners import LogisticRegression, SquaredSVM
from pigou.federation.linear import LinearLearner
from pigou.federation.long_run import NotReached, long_run
from pigou.federation.shards import Shards
from pigou.federation.smoothness import largest_eigenvalue, second_moment

Floats = NDArray[np.float64]
STRENGTH = 0.05


def some_digits(n: int = 300) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    data = digits()
    return data.x[:n], data.y[:n]


def test_least_squares_end_where_the_normal_equations_say() -> None:
    task = regression_task(np.tile(np.arange(5.0), (3, 1)), 30, np.random.default_rng(0))
    assert isinstance(task.learner, LinearLearner)
    quadratic = Quadratic.of(task)
    found = long_run(task.learner, task.shards.x, task.shards.y, tolerance=1e-12)
    assert found.gap <= 1e-12
    # |w - w*| <= sqrt(2 gap / lambda), as strong convexity has it
    assert np.linalg.norm(found.model - quadratic.end) < np.sqrt(2e-12 / 0.1)
    assert quadratic.excess(found.model) <= found.gap * (1.0 + 1e-9) + 1e-15


def test_the_stated_gap_covers_the_true_one() -> None:
    x, labels = some_digits()
    learner = SquaredSVM(x.shape[1], STRENGTH)
    y = np.where(labels % 2 == 0, 1.0, -1.0).astype(np.float32)
    best = long_run(learner, x, y, tolerance=1e-13)
    passes = 0
    for tolerance in (1e-1, 1e-3, 1e-5, 1e-7):
        found = long_run(learner, x, y, tolerance=tolerance)
        assert found.loss - best.loss <= found.gap <= tolerance
        away = np.linalg.norm(found.model - best.model)
        assert away <= np.sqrt(2.0 * found.gap / STRENGTH) + np.sqrt(2e-13 / STRENGTH)
        assert found.passes >= passes
        passes = found.passes


def test_the_svm_ends_where_scikit_learns_does() -> None:
    x, labels = some_digits()
    y = np.where(labels % 2 == 0, 1.0, -1.0).astype(np.float32)
    found = long_run(SquaredSVM(x.shape[1], STRENGTH), x, y)
    # C sum hinge^2 + |w|^2 / 2 is ours over lambda, for C = 1 / (2 lambda n)
    theirs = LinearSVC(
        C=1.0 / (2.0 * STRENGTH * len(x)), fit_intercept=False, dual=False, tol=1e-10
    ).fit(x.astype(np.float64), y)
    np.testing.assert_allclose(found.model, theirs.coef_[0], atol=1e-4)


def test_logistic_regression_ends_where_scikit_learns_does() -> None:
    x, labels = some_digits()
    learner = LogisticRegression(x.shape[1], STRENGTH, classes=10)
    found = long_run(learner, x, labels)
    theirs = TheirLogistic(
        C=1.0 / (STRENGTH * len(x)), fit_intercept=False, tol=1e-10, max_iter=5000
    ).fit(x.astype(np.float64), labels)
    np.testing.assert_allclose(found.model.reshape(10, -1), theirs.coef_, atol=1e-4)


def test_weights_count_as_copies_of_samples() -> None:
    x, labels = some_digits(60)
    y = np.where(labels % 2 == 0, 1.0, -1.0).astype(np.float32)
    copies = np.random.default_rng(0).integers(1, 4, 60)
    learner = SquaredSVM(x.shape[1], STRENGTH)
    one = long_run(learner, x, y, copies / copies.sum())
    other = long_run(learner, np.repeat(x, copies, axis=0), np.repeat(y, copies))
    assert one.loss == pytest.approx(other.loss, abs=2e-10)
    np.testing.assert_allclose(one.model, other.model, atol=2 * np.sqrt(2e-10 / STRENGTH))


def test_a_tolerance_beyond_floating_point_is_said_to_be() -> None:
    x, labels = some_digits(60)
    learner = LogisticRegression(x.shape[1], STRENGTH, classes=10)
    with pytest.raises(NotReached, match="wanted 1e-60, proved"):
        long_run(learner, x, labels, tolerance=1e-60)
    with pytest.raises(InvalidArgument, match="tolerance"):
        long_run(learner, x, labels, tolerance=0.0)


@given(n=st.integers(1, 12), d=st.integers(1, 12), weighted=st.booleans(), seed=st.integers(0, 99))
def test_the_largest_eigenvalue_is_that_of_the_second_moment(
    n: int, d: int, weighted: bool, seed: int
) -> None:
    """From whichever Gram matrix is smaller."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d), dtype=np.float32)
    weights = rng.random(n) if weighted else None
    shares = np.full(n, 1.0 / n) if weights is None else weights
    moment = (x.T.astype(np.float64) * shares) @ x
    np.testing.assert_allclose(second_moment(x, weights), moment, rtol=1e-5, atol=1e-6)
    top = float(np.linalg.eigvalsh(moment)[-1])
    assert largest_eigenvalue(x, weights) == pytest.approx(top, rel=1e-5)


@pytest.mark.parametrize("kind", ["svm", "logistic"])
def test_no_gradient_moves_faster_than_the_smoothness(kind: str) -> None:
    x, labels = some_digits(200)
    y: NDArray[np.int64] | NDArray[np.float32] = labels
    learner: LinearLearner = LogisticRegression(x.shape[1], STRENGTH, classes=10)
    if kind == "svm":
        y = np.where(labels % 2 == 0, 1.0, -1.0).astype(np.float32)
        learner = SquaredSVM(x.shape[1], STRENGTH)
    shards = Shards(x, y, np.array([0, len(x)]))
    rng = np.random.default_rng(1)
    bound, fastest = learner.smoothness(x), 0.0
    top = np.linalg.eigh(second_moment(x))[1][:, -1]
    for size in (1e-2, 1e-1, 1.0):
        for _ in range(20):
            model = size * rng.standard_normal(learner.dim)
            along = np.kron(rng.standard_normal(learner.outputs), top)
            for step in (along, rng.standard_normal(learner.dim)):
                pair = np.stack([model, model + 0.1 * size * step]).astype(np.float32)
                moved = np.diff(learner.gradients(pair, shards)[:, 0].astype(np.float64), axis=0)
                length = np.linalg.norm(np.diff(pair.astype(np.float64), axis=0))
                fastest = max(fastest, float(np.linalg.norm(moved) / length))
    assert fastest <= bound * (1.0 + 1e-4)  # float32 gradients
    # reached by the SVM where all margins are open; softmax curves by half at two even classes only
    assert fastest > (0.9 if kind == "svm" else 0.1) * bound
