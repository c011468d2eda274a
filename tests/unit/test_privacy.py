"""Clipping, adding noise, and the account's own arithmetic."""

import dataclasses
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chi2, kstest
from tests.strategies import rngs

from pigou.errors import InvalidArgument
from pigou.privacy import PrivacyAccount, add_noise, clip, clip_rows

DTYPES = [np.float16, np.float32, np.float64]


def normals(rng: np.random.Generator) -> Any:
    return lambda size: rng.standard_normal(size, dtype=np.float32)


def length(parts: tuple[NDArray[Any], ...]) -> float:
    """Exact to 1e-19: sums of squares in extended precision, in units of the largest."""
    wide = np.concatenate([part.ravel() for part in parts]).astype(np.longdouble)
    largest = np.abs(wide).max()
    if largest == 0:
        return 0.0
    return float(largest * np.sqrt(np.square(wide / largest).sum()))


@settings(deadline=None, max_examples=200)
@given(
    rngs(),
    st.sampled_from(DTYPES),
    st.lists(st.integers(0, 300), min_size=1, max_size=4),
    st.floats(-3, 3),
    st.floats(-2, 2),
)
def test_a_clipped_update_is_never_longer_than_the_norm(
    rng: np.random.Generator, dtype: Any, sizes: list[int], scale: float, norm: float
) -> None:
    update = [(10.0**scale * rng.standard_normal(size)).astype(dtype) for size in (*sizes, 3)]
    before = [part.copy() for part in update]
    clipped = clip(update, 10.0**norm)
    assert length(clipped) <= 10.0**norm
    for part, old, new in zip(update, before, clipped, strict=True):
        np.testing.assert_array_equal(part, old)
        assert new.dtype == old.dtype
        assert new is not part
    if length(tuple(before)) < 10.0**norm * (1 - 1e-9):
        for old, new in zip(before, clipped, strict=True):
            np.testing.assert_array_equal(new, old)


@settings(deadline=None, max_examples=50)
@given(rngs(), st.floats(0.01, 0.99))
def test_clipping_keeps_the_direction_and_reaches_the_norm(
    rng: np.random.Generator, share: float
) -> None:
    update = rng.standard_normal(500)
    norm = share * float(np.linalg.norm(update))
    (clipped,) = clip([update], norm)
    # 4 ulp and 2 * 500 more of slack: 2.3e-13
    np.testing.assert_allclose(clipped, update * share, rtol=1e-12)


def test_layers_are_clipped_as_one_vector() -> None:
    rng = np.random.default_rng(3)
    layers = [rng.standard_normal(shape) for shape in ((4, 5), (7,), (), (2, 0), (2, 3, 2))]
    whole = np.concatenate([layer.ravel() for layer in layers])
    together = np.concatenate([layer.ravel() for layer in clip(layers, 0.7)])
    np.testing.assert_allclose(together, clip([whole], 0.7)[0], rtol=1e-14)
    assert [layer.shape for layer in clip(layers, 0.7)] == [layer.shape for layer in layers]


def test_clipping_twice_changes_nothing_more() -> None:
    rng = np.random.default_rng(4)
    for dtype in DTYPES:
        once = clip([rng.standard_normal(1000).astype(dtype)], 1.0)
        np.testing.assert_array_equal(clip(once, 1.0)[0], once[0])


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_lengths_whose_squares_leave_the_doubles(size: float) -> None:
    update = np.full(100, size)
    (clipped,) = clip([update], 5.0 * size)
    np.testing.assert_allclose(clipped, update / 2, rtol=1e-12)


def test_nothing_to_clip() -> None:
    (zero,) = clip([np.zeros(5, dtype=np.float32)], 1.0)
    np.testing.assert_array_equal(zero, 0)
    assert clip([], 1.0) == ()


@settings(deadline=None, max_examples=50)
@given(rngs(), st.floats(-2, 2))
def test_rows_are_clipped_as_single_updates_are(rng: np.random.Generator, norm: float) -> None:
    rows = (rng.standard_normal((3, 4, 50)) * rng.uniform(0, 20, (3, 4, 1))).astype(np.float32)
    before = rows.copy()
    clipped = clip_rows(rows, 10.0**norm)
    np.testing.assert_array_equal(rows, before)
    for index in np.ndindex(3, 4):
        assert length((clipped[index],)) <= 10.0**norm
        # single precision takes 4 of its ulp off, double next to nothing
        np.testing.assert_allclose(clipped[index], clip([rows[index]], 10.0**norm)[0], rtol=1e-6)


def test_rows_too_long_for_single_precision_are_still_clipped() -> None:
    rows = np.full((1, 50), 1e38, dtype=np.float32)
    for norm in np.geomspace(1e-7, 1e-2, 60).tolist():  # factors down to 1e-46, below its range
        assert length((clip_rows(rows, norm)[0],)) <= norm


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_refused(bad: float) -> None:
    update = np.array([1.0, bad, 0.0], dtype=np.float32)
    with pytest.raises(InvalidArgument, match="update must be finite"):
        clip([np.ones(2), update], 1.0)
    with pytest.raises(InvalidArgument, match="updates must be finite"):
        clip_rows(update[np.newaxis], 1.0)


@pytest.mark.parametrize("norm", [0.0, -1.0, math.nan, math.inf, "1", True])
def test_a_norm_that_is_none_is_refused(norm: Any) -> None:
    with pytest.raises(InvalidArgument, match="norm must be a finite number > 0"):
        clip([np.ones(2)], norm)
    with pytest.raises(InvalidArgument, match="norm must be a finite number > 0"):
        clip_rows(np.ones((1, 2), dtype=np.float32), norm)


def test_layers_that_are_not_floating_point_are_refused() -> None:
    integers: Any = [np.ones(2), np.ones(2, dtype=np.int64)]
    with pytest.raises(InvalidArgument, match=r"update\[1\] must be a floating-point array"):
        clip(integers, 1.0)
    with pytest.raises(InvalidArgument, match=r"model\[1\] must be a floating-point array"):
        add_noise(integers, 1.0, normals(np.random.default_rng(0)))
    with pytest.raises(InvalidArgument, match="updates must be float32"):
        clip_rows(integers[0][np.newaxis], 1.0)


def test_noise_is_gaussian_of_the_stated_size() -> None:
    rng = np.random.default_rng(11)  # fixed: the bounds are at p = 1e-6 and either hold or not
    model = rng.standard_normal((500, 400))
    (noisy,) = add_noise([model], 0.3, normals(rng))
    noise = ((noisy - model) / 0.3).ravel()
    assert kstest(noise, "norm").pvalue > 1e-6
    squares = float(np.square(noise).sum())
    assert 5e-7 < float(chi2.cdf(squares, noise.size)) < 1 - 5e-7


def test_noise_does_not_depend_on_how_the_model_is_cut() -> None:
    rng = np.random.default_rng(5)
    layers = [rng.standard_normal(shape, dtype=np.float32) for shape in ((3, 5), (1,), (7, 2))]
    whole = np.concatenate([layer.ravel() for layer in layers])
    cut = add_noise(layers, 2.0, normals(np.random.default_rng(9)))
    (one,) = add_noise([whole], 2.0, normals(np.random.default_rng(9)))
    np.testing.assert_array_equal(np.concatenate([layer.ravel() for layer in cut]), one)
    assert [layer.shape for layer in cut] == [layer.shape for layer in layers]


@pytest.mark.parametrize("dtype", DTYPES)
def test_noise_keeps_the_type_and_leaves_the_model_alone(dtype: Any) -> None:
    model = np.ones(20, dtype=dtype)
    noisy = add_noise([model], 0.5, normals(np.random.default_rng(1)))[0]
    assert noisy.dtype == model.dtype
    np.testing.assert_array_equal(model, 1)
    assert (noisy != model).any()
    silent = add_noise([model], 0.0, normals(np.random.default_rng(1)))[0]
    np.testing.assert_array_equal(silent, model)
    assert silent is not model


@pytest.mark.parametrize("sigma", [-1.0, math.nan, math.inf])
def test_noise_of_no_size_is_refused(sigma: float) -> None:
    with pytest.raises(InvalidArgument, match="sigma must be a finite number >= 0"):
        add_noise([np.ones(2)], sigma, normals(np.random.default_rng(0)))


def test_a_cap_stops_the_release_that_would_break_it_and_not_the_one_before() -> None:
    account, delta, sigma = PrivacyAccount(1.0), 1e-5, 4.0
    cap = account.after(sigma, 10).epsilon(delta)
    taken = 0
    while not account.would_exceed(sigma, cap, delta):
        account, taken = account.after(sigma), taken + 1
    assert taken == 10
    assert account.epsilon(delta) <= cap
    assert account.would_exceed(sigma, cap, delta)
    assert not account.would_exceed(math.inf, cap, delta)
    assert PrivacyAccount(1.0).would_exceed(0.0, 1e300, delta)


def test_an_account_changes_by_replacement_only() -> None:
    account = PrivacyAccount(1.5, "replace").after(2.0)
    later = account.after(3.0, 2)
    assert account.releases == (2.0,)
    assert later.releases == (2.0, 3.0, 3.0)
    assert later.sensitivity == 3.0
    assert later.after(1.0, 0) == later
    assert later == PrivacyAccount(**dataclasses.asdict(later))
    assert later == pickle.loads(pickle.dumps(later))
    with pytest.raises(dataclasses.FrozenInstanceError):
        later.clip = 1.0  # type: ignore[misc]  # that it fails is the point


def test_the_papers_bound_is_that_of_the_least_noisy_release() -> None:
    account = PrivacyAccount(2.0, releases=(40.0, 10.0, math.inf))
    paper = account.paper_bound(1e-5)
    assert paper.epsilon == pytest.approx(math.sqrt(2 * math.log(1.25e5)) * 2.0 / 10.0)
    assert paper.condition_held
    assert PrivacyAccount(1.0).paper_bound(1e-5).epsilon == 0
    assert PrivacyAccount(1.0, releases=(0.0,)).paper_bound(1e-5).epsilon == math.inf


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"clip": 0.0}, "clip must be a finite number > 0"),
        ({"clip": math.inf}, "clip must be a finite number > 0"),
        ({"adjacency": "record"}, "adjacency must be"),
        ({"releases": (1.0, -1.0)}, "sigma must be a number >= 0 or infinity; received -1.0"),
        ({"releases": (math.nan,)}, "sigma must be a number >= 0 or infinity; received nan"),
        ({"releases": ("1",)}, "sigma must be"),
    ],
)
def test_an_account_of_nonsense_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        PrivacyAccount(**{"clip": 1.0, **change})


@pytest.mark.parametrize("delta", [-0.1, 1.1, math.nan, "0", True])
def test_a_delta_outside_its_range_is_refused(delta: Any) -> None:
    with pytest.raises(InvalidArgument, match="delta must be"):
        PrivacyAccount(1.0).after(1.0).epsilon(delta)


def test_other_arguments_are_refused_by_name() -> None:
    account = PrivacyAccount(1.0).after(1.0)
    with pytest.raises(InvalidArgument, match="epsilon must be a number >= 0"):
        account.delta(-1.0)
    with pytest.raises(InvalidArgument, match="cap must be a finite number >= 0"):
        account.would_exceed(1.0, math.nan, 1e-5)
    with pytest.raises(InvalidArgument, match="times must be a whole number >= 0"):
        account.after(1.0, -1)
    with pytest.raises(InvalidArgument, match="delta must be below 1"):
        account.paper_bound(1.0)
