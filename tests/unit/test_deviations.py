"""Deviations from the others' mean: any type, any layout, no copies, no silent nonsense."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import Floats, rngs

from pigou import InvalidArgument, TooFewClients
from pigou.canonical import digest
from pigou.mechanisms import deviations
from pigou.mechanisms.deviations import BLOCK, RUN, _two_passes, compare

EPS32, EPS64 = 2.0**-23, 2.0**-52
ALL = np.ones


def exact(updates: Any, active: np.ndarray | None = None) -> Floats:
    """||w_i - mean of the other active ones||^2 / d, as section 3 says, in long double."""
    rows = np.asarray(updates).astype(np.longdouble)
    who = np.ones(len(rows), np.bool_) if active is None else active
    total = rows[who].sum(axis=0)
    answer = np.zeros(len(rows))
    for i in np.flatnonzero(who):
        of_others = (total - rows[i]) / (who.sum() - 1)
        answer[i] = float(np.mean((rows[i] - of_others) ** 2))
    return answer


def assert_close(found: Floats, expected: Floats, updates: Any, eps: float) -> None:
    """Each difference to the mean is known to some 20 roundings of the largest number."""
    known = 20 * eps * float(np.abs(np.asarray(updates, np.float64)).max())
    slack = 2 * np.sqrt(expected) * known + known**2 + 100 * eps * expected
    assert (np.abs(found - expected) <= slack).all()


def everybody(updates: Any) -> np.ndarray:
    return np.ones(len(updates), np.bool_)


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 80), st.integers(1, 40), rngs())
def test_deviations_are_from_the_mean_of_the_others(
    n: int, d: int, rng: np.random.Generator
) -> None:
    updates = rng.standard_normal((n, d)) + 10.0 * rng.standard_normal(d)
    found = compare(updates, everybody(updates))
    assert_close(found.deviation, exact(updates), updates, EPS64)
    np.testing.assert_allclose(found.mean[0], updates.mean(axis=0), rtol=1e-13, atol=1e-13)


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 80), rngs())
def test_inactive_clients_are_not_there(n: int, rng: np.random.Generator) -> None:
    """Whatever they hold: not even NaN reaches the others."""
    updates = rng.standard_normal((n, 7))
    active = rng.random(n) < 0.5
    active[rng.permutation(n)[:2]] = True
    found = compare(np.where(active[:, None], updates, np.nan), active).deviation
    assert_close(found, exact(updates, active), updates, EPS64)
    listed = [[row] if here else None for row, here in zip(updates, active, strict=True)]
    assert_close(compare(listed, active).deviation, found, updates, EPS64)


DTYPES = [
    "f2",
    "f4",
    "f8",
    "g",
    "i1",
    "u1",
    "i2",
    "u2",
    "i4",
    "u4",
    "i8",
    "u8",
    ">f4",
    ">f8",
    ">i4",
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [3, 2 * RUN + 3])
def test_any_real_type(dtype: str, n: int) -> None:
    """Numbers that every type holds."""
    updates = np.random.default_rng(5).integers(0, 100, (n, 300)).astype(dtype)
    expected = exact(updates)
    single = np.result_type(np.float32, updates.dtype) == np.float32
    tolerance = 64 * EPS32 if single else 1e-13
    np.testing.assert_allclose(
        compare(updates, everybody(updates)).deviation, expected, rtol=tolerance
    )


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 2 * RUN), rngs(), st.sampled_from([np.float32, np.float64]))
def test_layers_and_one_array_give_the_same(
    n: int, rng: np.random.Generator, dtype: type[np.floating[Any]]
) -> None:
    shapes = [(3, 4), (), (5,), (0, 2), (2, 3, 2)]
    layers = [[rng.standard_normal(shape).astype(dtype) for shape in shapes] for _ in range(n)]
    flat = np.array([np.concatenate([part.ravel() for part in parts]) for parts in layers])
    whole, parts = compare(flat, everybody(flat)), compare(iter(layers), everybody(flat))
    eps = EPS32 if dtype is np.float32 else EPS64
    assert_close(parts.deviation, whole.deviation, flat, eps)
    assert [mean.shape for mean in parts.mean] == shapes
    joined = np.concatenate([mean.ravel() for mean in parts.mean])
    np.testing.assert_allclose(joined, whole.mean[0], rtol=64 * eps, atol=64 * eps)


def test_an_upload_may_be_one_array_or_lists_of_numbers() -> None:
    updates = np.array([[1.0, 2.0, 3.0], [4.0, 4.0, 4.0], [0.0, 0.0, 1.0]])
    expected = exact(updates)
    for form in (list(updates), [[row] for row in updates], updates.tolist()):
        np.testing.assert_allclose(
            compare(form, everybody(updates)).deviation, expected, rtol=1e-14
        )
    stacked = [row.reshape(3, 1) for row in updates]
    assert compare(stacked, everybody(updates)).mean[0].shape == (3, 1)


@pytest.mark.parametrize("order", ["C", "F"])
def test_layers_in_any_memory_order(order: Any) -> None:
    rng = np.random.default_rng(3)
    layers = [[rng.standard_normal((7, 5, 2))] for _ in range(4)]
    turned = [[np.asarray(parts[0], order=order).T.T] for parts in layers]
    strided = [[np.repeat(parts[0], 2, axis=1)[:, ::2]] for parts in layers]
    reversed_ = [[parts[0][::-1][::-1]] for parts in layers]
    expected = compare(layers, ALL(4, np.bool_))
    for form in (turned, strided, reversed_):
        found = compare(form, ALL(4, np.bool_))
        np.testing.assert_allclose(found.deviation, expected.deviation, rtol=1e-14)
        np.testing.assert_allclose(found.mean[0], expected.mean[0], rtol=1e-14)


def test_sums_of_float32_lose_next_to_nothing() -> None:
    """Runs of 65536 squares in float32, the rest in float64.

    Each of m additions is off by 2^-24 of the sum at most, either way: some sqrt(m) 2^-24 in all,
    whatever the order, and six times that is never seen.
    """
    rng = np.random.default_rng(11)
    updates = (0.3 * rng.standard_normal((RUN + 3, 2 * BLOCK + 5))).astype(np.float32)
    in_float64 = compare(updates.astype(np.float64), everybody(updates)).deviation
    found = compare(updates, everybody(updates)).deviation
    np.testing.assert_allclose(found, in_float64, rtol=6 * np.sqrt(BLOCK) * EPS32 / 2)


def test_several_blocks() -> None:
    rng = np.random.default_rng(14)
    updates = rng.standard_normal((4, 2 * BLOCK + 5)) + rng.standard_normal(2 * BLOCK + 5)
    found = compare(updates, everybody(updates))
    np.testing.assert_allclose(found.deviation, exact(updates), rtol=1e-12)
    np.testing.assert_allclose(found.mean[0], updates.mean(axis=0), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("share", [3e-2, 3e-3, 1e-5])
@pytest.mark.parametrize("listed", [False, True])
def test_a_common_part_much_larger_than_the_noise_does_not_swamp_it(
    share: float, listed: bool
) -> None:
    """float32 runs know the mean to e = 6e-8 of its size: deviations to 2 e / share at the most,
    which is 2e-5 at the share below which both passes are in float64."""
    rng = np.random.default_rng(12)
    common = 0.5 + 0.5 * rng.random(100)
    updates = (common + share * rng.standard_normal((400, common.size))).astype(np.float32)
    form: Any = [[row[:30], row[30:]] for row in updates] if listed else updates
    found = compare(form, everybody(updates)).deviation
    tolerance = 4e-6 if share > 1e-2 else 1e-9
    np.testing.assert_allclose(found, exact(updates), rtol=tolerance)


def test_float64_uploads_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    passes = []

    def counted(*given: Any) -> Any:
        passes.append(given)
        return _two_passes(*given)

    monkeypatch.setattr(deviations, "_two_passes", counted)
    close = 1.0 + 1e-6 * np.random.default_rng(0).standard_normal((4, 9))
    compare(close, everybody(close))
    assert len(passes) == 1


@pytest.mark.parametrize("scale", [1e-25, 1e-21, 1e-19, 1e19, 1e25, 1e37])
def test_float32_squares_that_float32_cannot_hold(scale: float) -> None:
    rng = np.random.default_rng(13)
    updates = (scale * rng.standard_normal((5, 50))).astype(np.float32)
    np.testing.assert_allclose(
        compare(updates, everybody(updates)).deviation, exact(updates), rtol=1e-6
    )


def test_equal_uploads_deviate_by_nothing() -> None:
    updates = np.tile(np.random.default_rng(1).standard_normal(100).astype(np.float32), (8, 1))
    assert compare(updates, everybody(updates)).deviation.max() < 1e-14


def peak(call: Any) -> int:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("form", ["array", "some inactive", "layers", "scattered layers"])
def test_uploads_are_never_copied(form: str) -> None:
    """100 MB of uploads: blocks take a few times 512 kB, whatever the uploads' size."""
    n, rows, columns = 100, 500, 500
    d = rows * columns
    updates = np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)
    active = ALL(n, np.bool_)
    given: Any = updates
    if form == "some inactive":
        active[::7] = False
    elif form == "layers":
        given = [[row.reshape(rows, columns)] for row in updates]
    elif form == "scattered layers":
        given = [[row.reshape(rows, columns).T] for row in updates]
    extra = peak(lambda: compare(given, active).mean_digest())
    assert extra < 8 * 8 * BLOCK + 10**6
    assert extra < updates.nbytes / 10


BAD = [
    pytest.param(None, "updates", "an array or a list of uploads", id="none"),
    pytest.param(3.0, "updates", "an array or a list of uploads", id="a number"),
    pytest.param(
        np.zeros(3), "updates", r"two dimensions; received shape \(3,\)", id="one dimension"
    ),
    pytest.param(np.zeros((3, 2, 2)), "updates", "two dimensions", id="three dimensions"),
    pytest.param(
        np.zeros((2, 4)), "updates", "3 rows, one per client; received 2", id="too few rows"
    ),
    pytest.param(
        [[np.zeros(2)]] * 4,
        "updates",
        "3 uploads, one per client; received 4",
        id="too many uploads",
    ),
    pytest.param(np.zeros((3, 0)), "updates", "at least one number; received 0", id="no columns"),
    pytest.param([[], [], []], "updates", "at least one number; received 0", id="no layers"),
    pytest.param([[np.zeros(0)]] * 3, "updates", "at least one number", id="empty layers"),
    pytest.param(
        np.zeros((3, 2), complex),
        "updates",
        "real numbers; received dtype complex128",
        id="complex",
    ),
    pytest.param(
        np.zeros((3, 2), bool), "updates", "real numbers; received dtype bool", id="booleans"
    ),
    pytest.param(
        np.array([[None] * 2] * 3), "updates", "real numbers; received dtype object", id="objects"
    ),
    pytest.param(np.array([["a"]] * 3), "updates", "real numbers", id="text"),
    pytest.param([[1.0], [1j], [1.0]], "updates[1]", "real numbers", id="complex layer"),
    pytest.param([[1.0], [1.0], None], "updates[2]", "its weight is positive", id="missing upload"),
    pytest.param([[1.0], 2.0, [1.0]], "updates[1]", "a list of arrays", id="number as upload"),
    pytest.param(
        [[1.0], [[[1], [2, 3]]], [1.0]], "updates[1]", "a list of arrays", id="ragged layer"
    ),
    pytest.param(
        [np.zeros(2), np.zeros(3), np.zeros(2)],
        "updates[1]",
        r"client 0's, \[\(2,\)\]",
        id="longer",
    ),
    pytest.param(
        [[np.zeros(2)], [np.zeros(2)] * 2, [np.zeros(2)]],
        "updates[1]",
        "the shapes",
        id="more layers",
    ),
    pytest.param(
        [np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((3, 2))],
        "updates[2]",
        "shapes",
        id="other shape",
    ),
]


@pytest.mark.parametrize(("updates", "argument", "why"), BAD)
def test_what_are_no_uploads(updates: Any, argument: str, why: str) -> None:
    with pytest.raises(InvalidArgument, match=why) as caught:
        compare(updates, ALL(3, np.bool_))
    assert caught.value.argument == argument


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("listed", [False, True])
def test_the_client_whose_upload_is_not_finite_is_named(
    bad: float, dtype: type[np.floating[Any]], listed: bool
) -> None:
    updates = np.zeros((2 * RUN, 3), dtype)
    updates[40, 1] = bad
    form: Any = [[row] for row in updates] if listed else updates
    with pytest.raises(InvalidArgument, match=r"updates\[40\] must be finite"):
        compare(form, everybody(updates))


def test_the_client_whose_upload_is_too_large_is_named() -> None:
    updates = np.ones((5, 3))
    updates[3, 2] = -1e200
    with pytest.raises(InvalidArgument, match=r"updates\[3\] must be small enough.*1e\+200"):
        compare(updates, everybody(updates))


@pytest.mark.parametrize("active", [[False] * 3, [True, False, False]])
def test_a_comparison_takes_two(active: list[bool]) -> None:
    with pytest.raises(TooFewClients, match="updates must come from 2 active clients or more"):
        compare(np.ones((3, 2)), np.array(active))


def test_the_means_digest_is_that_of_the_mean() -> None:
    rng = np.random.default_rng(4)
    shapes = [(2 * BLOCK + 3,), (30, 40), (), (0, 2)]
    uploads = [[np.asarray(rng.standard_normal(s), np.float32) for s in shapes] for _ in range(5)]
    uploads[3] = [np.array(part, order="F") for part in uploads[3]]
    found = compare(uploads, ALL(5, np.bool_))
    assert [part.shape for part in found.mean] == shapes
    assert found.mean_digest() == digest(list(found.mean))
    assert found.size == sum(part.size for part in uploads[0])
