"""Errors name argument, constraint and value on one short line, and survive pickling."""

import copy
import pickle

import numpy as np
import pytest

from pigou import Degenerate, InvalidArgument, NotApplicable, PigouError, TooFewClients
from pigou.errors import LONGEST_VALUE, require, shown

KINDS = [InvalidArgument, Degenerate, TooFewClients, NotApplicable]
VALUES: list[object] = [
    np.float64(-0.5),
    np.linspace(0.0, 1.0, 50).reshape(5, 10),
    np.eye(3),
    list(range(10**5)),
    10**5000,
    "two\nlines",
    lambda: 0,
    (x for x in "ab"),
    None,
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_is_a_pigou_error_and_a_value_error(kind: type[InvalidArgument]) -> None:
    error = kind("alpha", "must lie in [0, 1]", 1.5)
    assert isinstance(error, PigouError)
    assert isinstance(error, ValueError)
    assert str(error) == "alpha must lie in [0, 1]; received 1.5"
    assert (error.argument, error.constraint, error.received) == (
        "alpha",
        "must lie in [0, 1]",
        "1.5",
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_any_error_crosses_processes(kind: type[InvalidArgument], value: object) -> None:
    """Whatever was received, even what cannot be pickled itself."""
    error = kind("updates", "must be finite", value)
    for twin in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
        assert type(twin) is kind
        assert str(twin) == str(error)
        assert vars(twin) == vars(error)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_is_shown_on_one_short_line(value: object) -> None:
    text = shown(value)
    assert "\n" not in text
    assert 0 < len(text) <= LONGEST_VALUE
    assert shown(text) == text


def test_numbers_are_shown_as_numbers() -> None:
    assert shown(np.float64(0.25)) == "0.25"
    assert shown(np.int64(3)) == "3"


def test_require() -> None:
    require(True, "n", "must be 1", 1)
    with pytest.raises(InvalidArgument, match="n must be 1; received 2"):
        require(False, "n", "must be 1", 2)
