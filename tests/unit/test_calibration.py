"""Calibration against least squares, where what noise costs is known in closed form."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.federations import digits_task
from tests.regression import Quadratic, regression_task

from pigou.errors import InvalidArgument
from pigou.federation.calibration import SPAN, averaged, calibrate, fit
from pigou.federation.task import Supervised

ROUNDS, DIM = 6, 6
ALIKE = np.tile(np.linspace(-1.0, 1.0, DIM), (5, 1))
coefficients = st.floats(0.0, 1e3).filter(lambda c: c == 0 or c > 1e-3)


def task(**parts: float) -> Supervised:
    return regression_task(ALIKE, 40, np.random.default_rng(5), **parts)


def test_it_recovers_the_known_cost_of_noise() -> None:
    here = task()
    truth = Quadratic.of(here).noise_cost(ROUNDS, here.step_size)
    found = calibrate(here, ROUNDS, np.random.default_rng(1), seeds=200)
    # each level's mean of 200 is within 4 of its standard errors of truth, float32 losses apart
    slack = 4.0 * found.excess_error + 1e-6
    assert (np.abs(found.excess - truth * np.square(found.levels)) < slack).all()
    assert found.loss.quadratic == pytest.approx(truth, abs=4.0 * found.loss_error[1])
    assert found.loss_error[1] < 0.1 * truth
    # nothing is linear in the error here
    assert found.loss.linear * found.levels[-1] < 0.05 * truth * found.levels[-1] ** 2
    np.testing.assert_allclose(found.fitted, [found.loss(level) for level in found.levels])


def test_the_cost_grows_with_the_rounds_as_it_should() -> None:
    """Steps shrink the noise of early rounds: the cost saturates instead of growing with T."""
    here = task(step_size=0.5)
    quadratic = Quadratic.of(here)
    for rounds in (1, 3, 12):
        found = calibrate(here, rounds, np.random.default_rng(2), seeds=200)
        truth = quadratic.noise_cost(rounds, here.step_size)
        assert found.excess[-1] == pytest.approx(
            truth * found.levels[-1] ** 2, abs=4.0 * found.excess_error[-1]
        )


def test_standard_errors_are_those_of_repeated_calibrations() -> None:
    here = task()
    repeats = [calibrate(here, 3, np.random.default_rng(k), seeds=12) for k in range(60)]
    fitted = np.array([each.loss.quadratic for each in repeats])
    said = np.array([each.loss_error[1] for each in repeats])
    # a standard deviation of 60 is known within 1/sqrt(120) = 9 %; twice that, and as much again
    # for the weights, which come from the same few seeds
    assert np.sqrt(np.square(said).mean()) == pytest.approx(fitted.std(ddof=1), rel=0.4)


def test_the_papers_bound_has_the_true_distance_and_smoothness() -> None:
    here = task()
    quadratic = Quadratic.of(here)
    found = calibrate(here, ROUNDS, np.random.default_rng(1), seeds=2)
    distance = np.linalg.norm(quadratic.end)
    assert found.distance == pytest.approx(distance, rel=1e-4)  # the long run's tolerance, float32
    smoothness = float(np.linalg.eigvalsh(quadratic.a)[-1])
    assert found.smoothness == pytest.approx(smoothness, rel=1e-5)
    assert found.bound.linear == pytest.approx(16.0 * found.distance)
    assert found.bound.quadratic == pytest.approx(8.0 * found.distance / found.smoothness)
    gap = quadratic.excess(quadratic.descended(ROUNDS, here.step_size))
    assert found.noiseless_gap == pytest.approx(gap, rel=1e-4)
    assert found.levels[-1] == pytest.approx(found.distance / np.sqrt(DIM))
    assert found.levels[-1] / found.levels[0] == pytest.approx(SPAN)
    assert found.rounds == ROUNDS


def test_the_bound_is_above_what_noise_costs() -> None:
    found = calibrate(digits_task(), 10, np.random.default_rng(0))
    assert (found.bounded > found.excess + 2.0 * found.excess_error).all()


@given(linear=coefficients, quadratic=coefficients, errors=st.floats(0.0, 1e-3))
def test_a_fit_to_exact_measurements_is_exact(
    linear: float, quadratic: float, errors: float
) -> None:
    if linear == quadratic == 0.0:
        return
    levels = np.geomspace(0.01, 3.0, 8)
    excess = linear * levels + quadratic * np.square(levels)
    found = fit(levels, excess, np.full(8, errors))
    at = np.array([found(float(level)) for level in levels])
    np.testing.assert_allclose(at, excess, rtol=1e-8)
    largest = max(linear, quadratic)
    assert found.linear == pytest.approx(linear, abs=1e-6 * largest)
    assert found.quadratic == pytest.approx(quadratic, abs=1e-6 * largest)


def test_neither_coefficient_is_negative_and_one_is_positive() -> None:
    levels = np.geomspace(0.01, 3.0, 8)
    steep = fit(levels, levels**3, np.full(8, 1e-9))  # a line through it would start below 0
    flat = fit(levels, np.sqrt(levels), np.full(8, 1e-9))
    assert (steep.linear, flat.quadratic) == (0.0, 0.0)
    assert min(steep.quadratic, flat.linear) > 0
    with pytest.raises(InvalidArgument, match="excess must grow with the noise"):
        fit(levels, -levels, np.full(8, 1e-9))


def test_noise_at_one_level_outweighs_no_other_level() -> None:
    """Where a measurement's standard error is large, the fit listens to the others."""
    levels = np.geomspace(0.01, 3.0, 8)
    excess, errors = 5.0 * np.square(levels), np.full(8, 1e-6)
    excess[3], errors[3] = 40.0, 30.0
    assert fit(levels, excess, errors).quadratic == pytest.approx(5.0, rel=1e-4)


def test_a_round_without_noise_is_the_weighted_mean_of_clipped_updates() -> None:
    here = task(clip=0.1)
    models = np.random.default_rng(3).standard_normal((2, DIM)).astype(np.float32)
    weights = np.array([0.1, 0.3, 0.2, 0.15, 0.25], dtype=np.float32)
    trained, _ = here.train(models)
    for model, own, after in zip(models, trained, averaged(here, models, weights), strict=True):
        update = (own - model).astype(np.float64)
        norms = np.linalg.norm(update, axis=1)
        assert (norms > 0.1).any()
        update *= np.minimum(1.0, 0.1 / norms)[:, None]
        np.testing.assert_allclose(after, model + weights @ update, rtol=1e-5, atol=1e-6)


def test_what_cannot_be_calibrated_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidArgument, match="rounds"):
        calibrate(task(), 0, rng)
    with pytest.raises(InvalidArgument, match="seeds must be a whole number >= 2"):
        calibrate(task(), 1, rng, seeds=1)
