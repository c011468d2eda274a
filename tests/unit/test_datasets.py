"""Data sets: what a Dataset promises, and what is refused before it becomes one."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from tests.strategies import rngs

from pigou.errors import InvalidArgument
from pigou.federation.datasets import Dataset, digits, from_npz, load, with_bias


def saved(folder: Path, **arrays: Any) -> Path:
    path = folder / "own.npz"
    np.savez(path, **arrays)
    return path


def test_digits_are_those_of_scikit_learn_with_a_bias() -> None:
    data, source = digits(), load_digits()
    assert (data.x.shape, data.dim, data.name) == ((1797, 65), 65, "digits")
    np.testing.assert_array_equal(data.x[:, :-1] * 16, source.data)  # sixteenths are exact
    np.testing.assert_array_equal(data.x[:, -1], 1)
    np.testing.assert_array_equal(np.array(data.classes)[data.y], source.target)
    assert data.test_from is None


@settings(deadline=None, max_examples=50)
@given(rngs(), st.integers(2, 30), st.integers(1, 6), st.floats(-300, 300))
def test_own_arrays_are_scaled_to_the_unit_interval(
    tmp_path_factory: pytest.TempPathFactory,
    rng: np.random.Generator,
    n: int,
    columns: int,
    size: float,
) -> None:
    x = 10.0**size * rng.standard_normal((n, columns))
    labels = np.concatenate([[-5, 70], rng.choice([-5, 3, 70], n - 2)])
    data = from_npz(saved(tmp_path_factory.mktemp("own"), x=x, y=labels))
    assert data.x.min() >= 0
    assert data.x.max() == 1
    np.testing.assert_array_equal(np.array(data.classes)[data.y], labels)
    outside = (x < 0).any(axis=0) | (x > 1).any(axis=0)
    for k in np.flatnonzero(outside):  # an affine map: order and ratios of gaps are kept
        width = x[:, k].max() - x[:, k].min()
        expected = (x[:, k] - x[:, k].min()) / width
        np.testing.assert_allclose(data.x[:, k], expected, atol=2e-7)
    np.testing.assert_array_equal(data.x[:, :-1][:, ~outside], x[:, ~outside].astype(np.float32))


def test_values_within_the_unit_interval_stay_as_they_are(tmp_path: Path) -> None:
    x = np.array([[0.2, 3.0, 7.0], [0.5, 1.0, 7.0]])
    data = from_npz(saved(tmp_path, x=x, y=[0, 1]))
    expected = np.array([[0.2, 1, 0, 1], [0.5, 0, 0, 1]], dtype=np.float32)
    np.testing.assert_array_equal(data.x, expected)
    assert data.name == "own"


@pytest.mark.parametrize(
    "labels", [[True, False], np.array([2.0, -1.0]), np.array([7, 9], np.uint8)]
)
def test_labels_may_be_any_whole_numbers(tmp_path: Path, labels: Any) -> None:
    data = load(str(saved(tmp_path, x=np.zeros((2, 1)), y=labels)))
    np.testing.assert_array_equal(np.array(data.classes)[data.y], np.int64(labels))


GOOD = np.zeros((3, 2))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": GOOD}, r"own\.npz must hold exactly the arrays x and y; received \('x',\)"),
        ({"x": GOOD, "y": [0, 1, 0], "z": [1]}, "must hold exactly the arrays x and y"),
        ({"x": [1.0, 2.0], "y": [0, 1]}, "x must be a two-dimensional array"),
        ({"x": np.zeros((0, 2)), "y": []}, "x must be a two-dimensional array"),
        ({"x": np.zeros((3, 2), complex), "y": [0, 1, 0]}, "x must be .* real numbers"),
        ({"x": [["a", "b"]], "y": [0]}, "x must be .* real numbers"),
        ({"x": [[1.0], [np.nan]], "y": [0, 1]}, "x must be finite"),
        ({"x": [[1.0], [-np.inf]], "y": [0, 1]}, "x must be finite"),
        ({"x": GOOD, "y": [0, 1]}, "y must hold 3 labels"),
        ({"x": GOOD, "y": GOOD}, "y must hold 3 labels"),
        ({"x": GOOD, "y": [0.5, 1.0, 2.0]}, "y must hold whole numbers"),
        ({"x": GOOD, "y": [0.0, np.nan, 2.0]}, "y must hold whole numbers"),
        ({"x": GOOD, "y": [0.0, np.inf, 2.0]}, "y must hold whole numbers"),
        ({"x": GOOD, "y": ["a", "b", "a"]}, "y must hold whole numbers"),
        ({"x": GOOD, "y": [4, 4, 4]}, "y must name 2 classes or more"),
        ({"x": np.array([[{}]]), "y": [0]}, r"own\.npz must hold plain numeric arrays"),
    ],
)
def test_arrays_that_are_no_data_set_are_refused(
    tmp_path: Path, arrays: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidArgument, match=message):
        from_npz(saved(tmp_path, **arrays))


def test_files_that_are_no_npz_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.npz"
    with pytest.raises(InvalidArgument, match=r"must be a readable \.npz file"):
        from_npz(path)
    for content in (b"", b"PK\x03\x04 not a zip", b"text"):
        path.write_bytes(content)
        with pytest.raises(InvalidArgument, match=r"own\.npz must"):
            from_npz(path)
    with path.open("wb") as single:
        np.save(single, GOOD)
    with pytest.raises(InvalidArgument, match=r"must be an \.npz file"):
        from_npz(path)
    whole = saved(
        tmp_path, x=np.random.default_rng(0).random((50, 5)), y=np.arange(50)
    ).read_bytes()
    for kept in (len(whole) // 3, len(whole) - 30):
        path.write_bytes(whole[:kept])
        with pytest.raises(InvalidArgument, match=r"own\.npz must"):
            from_npz(path)


def test_damage_inside_a_compressed_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.npz"
    x = np.random.default_rng(0).integers(0, 4, (200, 5)) / 4.0
    np.savez_compressed(path, x=x, y=np.arange(200))
    whole = path.read_bytes()
    for place in range(60, 360, 10):  # within the compressed x
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        path.write_bytes(damaged)
        with pytest.raises(InvalidArgument, match=r"own\.npz must"):
            from_npz(path)


def test_unknown_sources_are_refused() -> None:
    with pytest.raises(InvalidArgument, match='data must be "digits", "mnist" or'):
        load("cifar")


def test_a_dataset_cannot_be_changed() -> None:
    data = digits()
    with pytest.raises(ValueError, match="read-only"):
        data.x[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        data.y[0] = 1


X = with_bias(np.zeros((4, 2)))
Y = np.array([0, 1, 0, 1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": X.astype(np.float64)}, "x must be float32"),
        ({"x": X[:, :1]}, "x must be float32 of shape"),
        ({"x": X[0]}, "x must be float32 of shape"),
        ({"x": np.array([[np.nan, 1]] * 4, np.float32)}, "x must be finite"),
        ({"x": np.zeros((4, 3), np.float32)}, "x must end in a column of ones"),
        ({"y": Y[:3]}, "y must hold 4 int64"),
        ({"y": Y.astype(np.int32)}, "y must hold 4 int64"),
        ({"y": Y + 1}, r"y must lie in \[0, 1\]"),
        ({"classes": (0,)}, "classes must be 2 or more"),
        ({"test_from": 0}, "test_from must lie strictly between 0 and 4"),
        ({"test_from": 4}, "test_from must lie strictly between 0 and 4"),
    ],
)
def test_a_dataset_checks_itself(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        Dataset(**{"x": X, "y": Y, "name": "own", "classes": (0, 1), **change})
