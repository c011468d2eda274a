"""Canonical bytes: one form for one value, another for another."""

import hashlib
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pigou.canonical import BLOCK, canonical_bytes, digest

VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 0.1, 1.0, 0.1 + 1e-17 + 2e-17, float("inf"), float("nan"),
    "", "a", "é", [], [1], [1.0], [[1]], [1, [2]], {}, {"a": 1}, {"a": [1]}, {"b": 1},
    np.zeros(2), np.zeros(3), np.zeros((1, 2)), np.zeros((2, 1)), np.zeros(2, np.float32),
    np.zeros(0), np.zeros((0, 2)), np.array(0.0), np.ones(2), np.array([1, 0]),
    np.array([1, 0]) > 0,
]  # fmt: skip
ATOMS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text("abc")


def test_different_values_have_different_bytes() -> None:
    forms = [canonical_bytes(value) for value in VALUES]
    assert len(set(forms)) == len(VALUES)
    assert len({digest(value) for value in VALUES}) == len(VALUES)


@given(st.dictionaries(st.text("abc"), ATOMS | st.lists(ATOMS)))
def test_order_of_keys_and_kind_of_sequence_do_not_matter(value: dict[str, Any]) -> None:
    turned = {
        key: tuple(item) if isinstance(item, list) else item
        for key, item in reversed(value.items())
    }
    assert canonical_bytes(turned) == canonical_bytes(value)
    assert canonical_bytes(value).decode("ascii").count(" ") == 0


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_floats_are_told_apart_to_the_last_bit_but_not_by_the_sign_of_zero(
    one: float, other: float
) -> None:
    assert (canonical_bytes(one) == canonical_bytes(other)) == (one == other)
    arrays = np.array([one]), np.array([other])
    assert (canonical_bytes(arrays[0]) == canonical_bytes(arrays[1])) == (one == other)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i2", "i8", "u4"])
def test_memory_layout_does_not_matter(dtype: str) -> None:
    array = np.arange(24).reshape(4, 6).astype("<" + dtype)
    expected = canonical_bytes(array)
    assert canonical_bytes(array.astype(">" + dtype)) == expected
    assert canonical_bytes(np.asfortranarray(array)) == expected
    assert canonical_bytes(np.repeat(array, 2, axis=1)[:, ::2]) == expected
    row = np.broadcast_to(array[0], (3, 6))
    assert canonical_bytes(row) == canonical_bytes(row.copy())


def test_the_form_is_the_one_described() -> None:
    """Anyone can compute it: JSON, hexadecimal floats, sha256 of little-endian bytes."""
    array = np.array([1.0, -0.0], np.float32)
    content = hashlib.sha256(b"\0\0\x80\x3f" + b"\0\0\0\0").hexdigest()
    described = (
        '{"a":{"dtype":"<f4","sha256":"' + content + '","shape":[2]},"b":"0x1.8000000000000p+0"}'
    )
    assert canonical_bytes({"b": 1.5, "a": array}) == described.encode("ascii")
    assert digest({"b": 1.5, "a": array}) == hashlib.sha256(described.encode("ascii")).hexdigest()


@pytest.mark.parametrize(
    "value", [{1: 2}, {1, 2}, 1j, object(), np.array([None]), np.array([1j]), np.array(["a"])]
)
def test_what_has_no_canonical_form(value: object) -> None:
    with pytest.raises(TypeError, match="no canonical form"):
        canonical_bytes(value)


@pytest.mark.skipif(np.longdouble(0).itemsize == 8, reason="no wider float on this platform")
def test_wide_floats_have_none_because_of_their_padding() -> None:
    with pytest.raises(TypeError, match="no canonical form"):
        canonical_bytes(np.zeros(2, np.longdouble))


def test_the_array_is_left_as_it_was() -> None:
    array = np.array([-0.0, 1.0])
    canonical_bytes(array)
    assert np.signbit(array[0])


@pytest.mark.parametrize("shape", [(3 * BLOCK + 7,), (400, 500), ()])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_are_digested_by_blocks_without_a_copy(shape: tuple[int, ...], order: Any) -> None:
    array = np.asarray(np.random.default_rng(0).standard_normal(shape), order=order)
    array = np.asarray(np.where(array > 1, -0.0, array), order=order)
    plain = hashlib.sha256(np.ascontiguousarray(array + 0.0).tobytes()).hexdigest()
    assert f'"sha256":"{plain}"' in canonical_bytes(array).decode()
    tracemalloc.start()
    try:
        canonical_bytes(array)
        assert tracemalloc.get_traced_memory()[1] < 4 * 8 * BLOCK
    finally:
        tracemalloc.stop()
