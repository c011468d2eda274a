"""What the door lets in, and in what form it comes out."""

import numpy as np
import pytest
from numpy.typing import ArrayLike

from pigou import InvalidArgument, checks


@pytest.mark.parametrize("value", [0, 1.5, np.float32(2.0), np.int8(3), 1e308])
def test_numbers(value: float) -> None:
    assert checks.number("x", value) == float(value)
    assert type(checks.number("x", value)) is float


@pytest.mark.parametrize(
    "value", [-1, -1e-300, float("nan"), float("inf"), True, "1", None, 1j, [1.0], 10**400]
)
def test_what_is_no_number(value: object) -> None:
    with pytest.raises(InvalidArgument, match=r"^x must be a finite number >= 0; received "):
        checks.number("x", value)


def test_zero_is_refused_where_it_has_to_be_positive() -> None:
    with pytest.raises(InvalidArgument, match="x must be a finite number > 0; received 0"):
        checks.number("x", 0, above_zero=True)


@pytest.mark.parametrize("value", [0, 2.0, True, "3", None, float("nan")])
def test_what_is_no_count(value: object) -> None:
    with pytest.raises(InvalidArgument, match="n must be a whole number >= 1"):
        checks.count("n", value)


BAD_VECTORS: list[tuple[object, str]] = [
    ([], "must not be empty"),
    (0.5, "one-dimensional"),
    ([[0.1], [0.2]], "one-dimensional"),
    ([0.1, float("nan")], "must be finite"),
    ([0.1, float("inf"), -float("inf")], "must be finite"),
    (["0.1", "0.2"], "must hold real numbers"),
    ([True, False], "must hold real numbers"),
    ([0.1 + 0j], "must hold real numbers"),
    (np.array([0.1 + 1j]), "must hold real numbers"),
    ([0.1, None], "must hold real numbers"),
    ([10**400], "must hold real numbers"),
    ([[0.1], [0.2, 0.3]], "must be a list of numbers"),
    (np.array(["2024-01-01"], dtype="datetime64[D]"), "must hold real numbers"),
    ({"a": 1}, "must hold real numbers"),
]


@pytest.mark.parametrize(("values", "why"), BAD_VECTORS, ids=[why for _, why in BAD_VECTORS])
def test_what_is_no_vector(values: ArrayLike, why: str) -> None:
    with pytest.raises(InvalidArgument, match=why) as caught:
        checks.vector("alpha", values)
    assert caught.value.argument == "alpha"


@pytest.mark.parametrize(
    "values", [[1e308, 1e308], (1, 2), np.array([0.5], np.float32), [2**70, 1]]
)
def test_vectors_are_read_only_copies(values: ArrayLike) -> None:
    vector = checks.vector("x", values)
    assert vector.dtype == np.float64
    assert not vector.flags.writeable
    np.testing.assert_array_equal(vector, np.asarray(values, dtype=float))
    assert not np.shares_memory(vector, np.asarray(values))


def test_one_number_stands_for_many_without_copies() -> None:
    many = checks.non_negative("spread", 0.5, 10**9)
    assert many.shape == (10**9,)
    assert many.strides == (0,)
    assert checks.non_negative("spread", many, 10**9).strides == (0,)
    with pytest.raises(InvalidArgument, match="spread must hold 3 values, one per client"):
        checks.non_negative("spread", many[:4], 3)


@pytest.mark.parametrize(
    ("values", "why"),
    [([1, -2], "not be negative; received -2"), ([1.0], "must hold 2"), (-1, ">= 0")],
)
def test_what_is_not_non_negative(values: ArrayLike, why: str) -> None:
    with pytest.raises(InvalidArgument, match=why):
        checks.non_negative("spread", values, 2)


def test_shares_sum_to_1_within_a_billionth() -> None:
    checks.simplex("weights", [0.5, 0.5 + 0.9e-9], 2)
    with pytest.raises(InvalidArgument, match=r"weights must sum to 1 within 1e-09.* sum 1\.5"):
        checks.simplex("weights", [0.5, 1.0], 2)
    with pytest.raises(InvalidArgument, match=r"sum 1\.0000000011"):
        checks.simplex("weights", [0.5, 0.5 + 1.1e-9], 2)
    with pytest.raises(InvalidArgument, match="sum inf"):
        checks.simplex("weights", [1e308, 1e308], 2)
    with pytest.raises(InvalidArgument, match="must not be negative"):
        checks.simplex("weights", [-0.5, 1.5], 2)


@pytest.mark.parametrize(("alpha", "outside"), [([0.5, 1.5], "1.5"), ([-0.1, 2.0], "-0.1")])
def test_types_outside_their_range(alpha: ArrayLike, outside: str) -> None:
    with pytest.raises(InvalidArgument, match=rf"alpha must lie in \[0, 1\]; received {outside}"):
        checks.sensitivities("alpha", alpha, 2)


@pytest.mark.parametrize("alpha", [[0.1, np.nan], [-np.inf, 0.5], [-1.0, np.inf]])
def test_types_that_are_not_finite(alpha: ArrayLike) -> None:
    with pytest.raises(InvalidArgument, match="alpha must be finite"):
        checks.sensitivities("alpha", alpha, 2)


def test_noise_may_be_unlimited_but_nothing_else() -> None:
    np.testing.assert_array_equal(checks.noise_levels("sigma", [0, np.inf], 2), [0, np.inf])
    given = np.array([0.1, 0.2])
    assert checks.noise_levels("sigma", given, 2) is given
    for bad in ([0.1], [0.1, -1.0], [0.1, np.nan], [[0.1, 0.2]], ["a", "b"], [1j, 0]):
        with pytest.raises(InvalidArgument, match=r"^sigma "):
            checks.noise_levels("sigma", bad, 2)


@pytest.mark.parametrize("clients", [[0, 2], (2, 0), np.array([True, False, True]), [2, 0, 2]])
def test_sets_of_clients(clients: ArrayLike) -> None:
    np.testing.assert_array_equal(checks.presence("present", clients, 3), [True, False, True])


def test_nobody_is_a_set_too() -> None:
    assert not checks.presence("barred", [], 3).any()


@pytest.mark.parametrize(
    "clients", [[3], [-1], [0.5], [True, False], ["a"], [[0], [1, 2]], 1, None, [[0, 1]], [2**70]]
)
def test_what_is_no_set_of_clients(clients: ArrayLike) -> None:
    with pytest.raises(InvalidArgument, match=r"^barred must "):
        checks.presence("barred", clients, 3)
