"""Terms: what they accept, what they make of it, and when two of them are the same."""

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest

from pigou import InvalidArgument, PigouError, TooFewClients
from pigou.canonical import digest
from pigou.terms import Interval, Round, Settlement, Statement, Terms

GOOD: dict[str, Any] = {
    "mechanism": "any",
    "weights": [0.2, 0.3, 0.5],
    "unit_price": [1.0, 2.0, 3.0],
    "sigma": [0.1, 0.2, 0.3],
    "transfers": [1.0, -2.0, 0.0],
    "rounds": 4,
    "money": 2.0,
    "refund": "zero-sum",
    "constant_refund": 0.0,
    "error": 0.7,
}
NAN, INF = float("nan"), float("inf")


def terms(**changes: Any) -> Terms:
    return Terms(**{**GOOD, **changes})


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("mechanism", 3),
        ("weights", [0.2, 0.3, 0.6]),
        ("weights", [-0.2, 0.7, 0.5]),
        ("weights", [[0.2], [0.3, 0.5]]),
        ("weights", 1.0),
        ("weights", []),
        ("unit_price", [1.0, 2.0]),
        ("unit_price", [1.0, -2.0, 3.0]),
        ("unit_price", [1.0, NAN, 3.0]),
        ("unit_price", [1e308, 1e308, 1e308]),
        ("sigma", [0.1, 0.2]),
        ("sigma", [0.1, -0.2, 0.3]),
        ("sigma", [0.1, NAN, 0.3]),
        ("sigma", [0.1, INF, 0.3]),
        ("sigma", "abc"),
        ("transfers", [1.0]),
        ("transfers", [[1.0], [2.0, 3.0]]),
        ("transfers", [1.0, INF, 0.0]),
        ("rounds", 0),
        ("rounds", 1.5),
        ("money", 0.0),
        ("money", NAN),
        ("refund", "all"),
        ("constant_refund", -1.0),
        ("constant_refund", NAN),
        ("error", -0.1),
        ("error", INF),
    ],
)
def test_inconsistent_terms_are_refused(argument: str, value: object) -> None:
    with pytest.raises(InvalidArgument) as caught:
        terms(**{argument: value})
    assert caught.value.argument == argument


def test_an_inactive_client_has_no_price_but_may_hide_all() -> None:
    idle = [0.4, 0.0, 0.3, 0.3]
    with pytest.raises(InvalidArgument, match="unit_price must be 0 where weight is 0"):
        Terms("any", np.array(idle), np.ones(4))
    quiet = Terms("any", np.array(idle), np.array([1.0, 0, 1, 1]), np.array([1.0, INF, 1, 1]))
    assert quiet.charge[1] == 0.0
    assert quiet.active.tolist() == [True, False, True, True]


@pytest.mark.parametrize("weights", [[0.5, 0.5], [1.0], [0.5, 0.5, 0.0]])
def test_zero_sum_refunds_take_three_active_clients(weights: list[float]) -> None:
    active = (np.array(weights) > 0).astype(float)
    with pytest.raises(TooFewClients, match="weights must be positive for 3 clients or more"):
        Terms("any", np.array(weights), active)
    for fine in (
        Terms("any", np.array(weights), 0.0 * active),
        Terms("any", np.array(weights), active, refund="constant"),
    ):
        np.testing.assert_array_equal(fine.charge, fine.unit_price)


def test_a_refund_that_does_not_move_needs_no_correction() -> None:
    np.testing.assert_array_equal(terms(refund="constant").charge, [1.0, 2.0, 3.0])
    assert (terms().charge > terms().unit_price).all()


def test_the_same_terms_are_equal_however_they_were_made() -> None:
    one, other = terms(), terms(weights=np.array(GOOD["weights"]), sigma=(0.1, 0.2, 0.3), money=2)
    assert one == other
    assert hash(one) == hash(other)
    assert one.digest == other.digest
    assert {one: "x"}[other] == "x"
    assert pickle.loads(pickle.dumps(one)) == one
    assert replace(one) == one
    assert one != "any"
    even = Terms("any", np.full(4, 0.25), np.full(4, 1.0))
    shared = Terms("any", np.broadcast_to(0.25, 4), np.broadcast_to(1.0, 4))
    assert even == shared


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("mechanism", "other"),
        ("weights", [0.2, 0.3 + 1e-16, 0.5]),
        ("unit_price", [1.0, 2.0, np.nextafter(3.0, 4.0)]),
        ("sigma", None),
        ("sigma", [0.1, 0.2, np.nextafter(0.3, 1.0)]),
        ("transfers", [1.0, -2.0, 1e-300]),
        ("rounds", 5),
        ("money", 3.0),
        ("refund", "constant"),
        ("constant_refund", 0.5),
        ("error", None),
    ],
)
def test_any_other_content_is_another_contract(argument: str, value: object) -> None:
    other = terms(**{argument: value})
    assert other != terms()
    assert other.digest != terms().digest


def test_the_digest_is_that_of_the_canonical_bytes_of_all_fields() -> None:
    here = terms()
    names = [*GOOD, "charge"]
    assert here.digest == digest({name: getattr(here, name) for name in names})


@pytest.mark.parametrize(
    "twin", [copy.copy, copy.deepcopy, lambda of: pickle.loads(pickle.dumps(of))]
)
@pytest.mark.parametrize("changes", [{}, {"sigma": None, "error": None}])
def test_copies_are_the_same_and_cannot_be_changed_either(
    twin: Callable[[Terms], Terms], changes: dict[str, Any]
) -> None:
    here = terms(**changes)
    again = twin(here)
    assert again == here
    for name in ("weights", "unit_price", "transfers", "charge"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(again, name)[0] = 0.0


def test_terms_cannot_be_changed() -> None:
    here = terms()
    with pytest.raises(FrozenInstanceError):
        here.rounds = 2  # type: ignore[misc] # that is what is tested
    for name in ("weights", "unit_price", "sigma", "transfers", "charge"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(here, name)[0] = 0.0


def test_terms_keep_what_they_were_given() -> None:
    given = {name: np.array(GOOD[name]) for name in ("weights", "unit_price", "sigma", "transfers")}
    here = terms(**given)
    before = here.digest
    for array in given.values():
        array[:] = 9.0
    assert digest({name: getattr(here, name) for name in [*GOOD, "charge"]}) == before


@pytest.mark.parametrize("ends", [(1.0, 0.0), (0.0, INF), (NAN, 1.0), ("a", "b")])
def test_an_interval_has_two_ordered_ends(ends: tuple[Any, Any]) -> None:
    with pytest.raises(InvalidArgument, match="low, high must be finite numbers"):
        Interval(*ends)


def statement(charge: int, refund: int) -> Statement:
    return Statement(
        consortium="c", run="r", round=1, client="a", billed=3, deviation=0.5, coefficient=2.0,
        charge=charge, refund=refund, total_charge=9, refundable=True, barred=0, barred_charge=0,
        terms="t", upload="u", mean="m", currency="EUR",
    )  # fmt: skip


def test_a_round_of_which_the_sum_is_not_the_reserve_cannot_exist() -> None:
    def closed(*statements: Statement, reserve: int = 0) -> Round:
        return Round("c", "r", 1, "round", "EUR", "t", statements, reserve)

    balanced = closed(statement(5, 2), statement(1, 4))
    assert [one.net for one in balanced.statements] == [3, -3]
    assert closed(statement(5, 2), reserve=3).reserve == 3
    with pytest.raises(PigouError, match="reserve must equal the clients' sum, 3; received 0"):
        closed(statement(5, 2))


def test_a_settlement_says_what_each_owes_and_what_is_left() -> None:
    zeros = np.zeros(2)
    settled = Settlement(zeros > 0, zeros, np.array([5, 2**61]), np.array([7, 2**60]), zeros)
    assert settled.net.tolist() == [-2, 2**60]
    assert settled.reserve == 2**60 - 2
