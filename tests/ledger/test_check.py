"""A client's own check agrees with every honest bill, and with no other."""

import dataclasses
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ledger.rounds import Billed, billed_round, round_of

from pigou.canonical import digest
from pigou.errors import InvalidArgument
from pigou.ledger import Ledger, keys
from pigou.ledger.check import Evidence, check_statement, deviation
from pigou.ledger.documents import (
    read_arrays,
    read_head,
    read_statement,
    to_plain,
    write_statement,
)
from pigou.ledger.entry import OWN, SHARED
from pigou.ledger.errors import UnreadableDocument
from pigou.terms import SignedHead, SignedStatement, Statement, Terms


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(f"sqlite:///{tmp_path}/book.db") as opened:
        yield opened


def evidence(billed: Billed, k: int) -> Evidence:
    return Evidence([billed.uploads[k]], [billed.mean])


def others(billed: Billed, k: int) -> Evidence:
    rest = np.delete(billed.uploads, k, axis=0).astype(np.float64).mean(axis=0)
    return Evidence([billed.uploads[k]], [rest], of_others=True)


def differing(signed: SignedStatement, book: Ledger, seen: Evidence | None = None) -> list[str]:
    return [each.what for each in check_statement(signed, book.public_key, seen) if not each.ok]


CONSTANT = Terms(
    "test", np.full(5, 0.2), np.full(5, 2.0), money=100.0, refund="constant", constant_refund=0.3
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("n", "terms", "barred"),
    [(3, None, ()), (4, None, ()), (50, None, (2, 7)), (5, CONSTANT, ()), (5, CONSTANT, (1,))],
)
def test_an_honest_bill_agrees(
    book: Ledger, dtype: Any, n: int, terms: Terms | None, barred: tuple[int, ...]
) -> None:
    billed = billed_round(n, 1000, n, dtype, terms, barred)
    posted = book.post(billed.settled)
    for k, signed in enumerate(
        sorted(posted.statements, key=lambda s: int(s.statement.client[7:]))
    ):
        assert differing(signed, book) == []
        assert differing(signed, book, evidence(billed, k)) == []
        assert differing(signed, book, others(billed, k)) == []


@given(st.integers(3, 9), st.integers(1, 40), st.integers(0, 10**6), st.floats(-3, 6))
@settings(deadline=None, max_examples=60)
def test_deviation_is_within_its_own_tolerance(n: int, d: int, seed: int, size: float) -> None:
    """Also where the uploads' common part is far larger than what is between them."""
    rng = np.random.default_rng(seed)
    billed = billed_round(n, d, seed)
    shifted = (billed.uploads + 10.0**size * rng.normal(size=d)).astype(np.float32)
    terms = Terms("test", np.full(n, 1 / n), np.full(n, 1.0))
    again = rebilled(shifted, terms)
    for k, statement in enumerate(again.settled.statements):
        for seen in (evidence(again, k), others(again, k)):
            own, slack = deviation(seen, n)
            assert abs(own - statement.deviation) <= slack


def test_the_tolerance_is_small(book: Ledger) -> None:
    """A bill that is 0.02 % off is found at float32, one that is off by 1e-10 at float64."""
    for dtype, relative in ((np.float32, 2e-4), (np.float64, 1e-10)):
        billed = billed_round(4, 785, 3, dtype)
        own, slack = deviation(evidence(billed, 0), 4)
        assert 0 < slack < relative * own


def rebilled(uploads: Any, terms: Terms) -> Billed:
    from pigou.mechanisms.billing import statements
    from pigou.mechanisms.deviations import compare

    comparison = compare(uploads, terms.active)
    settled = statements(uploads, terms)
    plain = round_of(
        "run", 1, list(zip(settled.charge.tolist(), settled.refund.tolist(), strict=True))
    )
    parts = tuple(
        replace(statement, deviation=float(d))
        for statement, d in zip(plain.statements, settled.deviation, strict=True)
    )
    return Billed(replace(plain, statements=parts), uploads, comparison.mean[0])


CHANGES: dict[str, Any] = {
    "deviation": lambda s: s.deviation * 1.001,
    "coefficient": lambda s: s.coefficient * 1.001,
    "charge": lambda s: s.charge + 2,
    "refund": lambda s: s.refund + 2,
    "total_charge": lambda s: s.total_charge + 20,
    "barred": lambda s: s.barred + 1,
    "barred_charge": lambda s: s.barred_charge + 100,
    "billed": lambda s: s.billed + 1,
    "refundable": lambda s: not s.refundable,
    "constant_refund": lambda s: 5,
    "upload": lambda s: digest("another"),
    "mean": lambda s: digest("another"),
}


@pytest.mark.parametrize("field", CHANGES)
def test_a_wrong_bill_is_found_though_signed(book: Ledger, field: str) -> None:
    """The server signs whatever it has computed: each number must follow from the others."""
    billed = billed_round(6, 100, 1)
    statement = billed.settled.statements[0]
    wrong = replace(statement, **{field: CHANGES[field](statement)})
    signed = SignedStatement(wrong, (), book.post(round_of("run", 1, [(1, 0), (0, 1)])).head)
    found = differing(signed, book, evidence(billed, 0))
    assert set(found) - {"the statement is among those that the head signs"}


def share(statement: Statement, charge: int) -> int:
    """The refund that goes with a charge, by the numbers that the statement gives of the others."""
    entitled = statement.billed - statement.barred
    of_others = statement.total_charge - statement.barred_charge - charge
    return of_others // (entitled - 1) + statement.barred_charge // entitled


@given(
    st.integers(3, 8),
    st.integers(0, 10**6),
    st.sampled_from([np.float32, np.float64]),
    st.lists(st.integers(0, 7), max_size=1),
    st.one_of(st.just(0.0), st.floats(-12, 1).map(lambda e: 10.0**e)),
    st.integers(-(10**6), 10**6) | st.integers(-5, 5) | st.none(),
    st.integers(-(10**6), 10**6) | st.integers(-5, 5) | st.none(),
)
@settings(deadline=None, max_examples=300)
def test_no_lie_is_worth_more_than_rounding(
    n: int,
    seed: int,
    dtype: Any,
    barred: list[int],
    deviation_off: float,
    charge_off: int | None,
    refund_off: int | None,
) -> None:
    """Whatever the server makes of deviation, charge and refund, also in accordance with each other
    (None): if the client's check agrees, the bill is off by rounding alone."""
    billed = billed_round(n, 30, seed, dtype, barred=[k for k in barred if 0 < k < n])
    true = billed.settled.statements[0]
    claimed = true.deviation * (1 + deviation_off)
    exact = true.coefficient * 1e6 * claimed
    charge = round(exact) if charge_off is None else true.charge + charge_off
    refund = share(true, charge) if refund_off is None else true.refund + refund_off
    lie = replace(true, deviation=claimed, charge=charge, refund=refund)
    signed = SignedStatement(lie, (), SignedHead("", 1, "", "", ""))
    key = Ed25519PrivateKey.generate().public_key()
    for seen in (evidence(billed, 0), others(billed, 0)):
        findings = check_statement(signed, key, seen)[2:]  # after those of signatures
        if all(each.ok for each in findings):
            _, slack = deviation(seen, n)
            allowed = true.coefficient * 1e6 * 2 * slack
            assert abs(lie.charge - true.charge) <= allowed + 2
            assert abs(lie.refund - true.refund) <= allowed / (n - 1) + 2


@pytest.mark.parametrize("field", [f.name for f in dataclasses.fields(Statement)])
def test_no_field_can_be_changed_after_signing(book: Ledger, field: str) -> None:
    posted = book.post(billed_round().settled)
    signed = posted.statements[0]
    value = getattr(signed.statement, field)
    match value:
        case bool():
            other: Any = not value
        case int() | float():
            other = value + 1
        case None:
            other = 7
        case _:
            other = value + "x"
    forged = replace(signed, statement=replace(signed.statement, **{field: other}))
    assert "the statement is among those that the head signs" in differing(forged, book)


def test_every_field_is_signed() -> None:
    assert {*OWN, *SHARED} == {f.name for f in dataclasses.fields(Statement)}
    assert len(OWN) + len(SHARED) == len(dataclasses.fields(Statement))


@pytest.mark.parametrize("field", [f.name for f in dataclasses.fields(SignedHead)])
def test_a_head_is_signed_as_a_whole(book: Ledger, field: str) -> None:
    signed = book.post(billed_round().settled).statements[0]
    value = getattr(signed.head, field)
    other = (
        value + 1
        if isinstance(value, int)
        else "0" + value[1:]
        if value[0] != "0"
        else "1" + value[1:]
    )
    changed: dict[str, Any] = {field: other}
    forged = replace(signed, head=replace(signed.head, **changed))
    assert "the ledger's head is signed with this key" in differing(forged, book)


def test_another_key(book: Ledger) -> None:
    signed = book.post(billed_round().settled).statements[0]
    other = Ed25519PrivateKey.generate().public_key()
    assert not check_statement(signed, other)[0].ok


def test_the_other_clients_bill_is_not_mine(book: Ledger) -> None:
    """One client's path does not prove another client's statement."""
    one, two, *_ = book.post(billed_round().settled).statements
    mixed = replace(one, statement=two.statement)
    assert differing(mixed, book) == ["the statement is among those that the head signs"]


def test_transfers_are_signed_and_nothing_else(book: Ledger) -> None:
    signed = book.post(round_of("run", 0, [(100, 0), (-40, 0)])).statements[0]
    assert [each.ok for each in check_statement(signed, book.public_key)] == [True, True]
    with pytest.raises(InvalidArgument, match="must not be given for transfers"):
        check_statement(signed, book.public_key, evidence(billed_round(), 0))


def test_layers_count_together(book: Ledger) -> None:
    """An upload in layers has the deviation of all its numbers in one row."""
    billed = billed_round(4, 12, 5, np.float64)
    whole, _ = deviation(evidence(billed, 0), 4)
    parts = Evidence(
        [billed.uploads[0][:4].reshape(2, 2), billed.uploads[0][4:]],
        [billed.mean[:4].reshape(2, 2), billed.mean[4:]],
    )
    assert deviation(parts, 4)[0] == pytest.approx(whole, rel=1e-14)


def test_evidence_that_does_not_fit(book: Ledger) -> None:
    billed = billed_round()
    signed = book.post(billed.settled).statements[0]
    wrong = [
        (Evidence([billed.uploads[0]], [billed.mean[1:]]), "must have the upload's shapes"),
        (Evidence([billed.uploads[0]], []), "must have the upload's shapes"),
        (Evidence([], []), "must hold real numbers"),
        (Evidence([np.array(["a"] * 7)], [billed.mean]), "must hold real numbers"),
        (Evidence([billed.uploads[0] + 0j], [billed.mean]), "must hold real numbers"),
    ]
    for seen, why in wrong:
        with pytest.raises(InvalidArgument, match=why):
            check_statement(signed, book.public_key, seen)
    infinite = Evidence([np.full(7, np.inf, np.float32)], [billed.mean])
    assert "deviation" in differing(signed, book, infinite)


def test_documents_survive_the_file(book: Ledger, tmp_path: Path) -> None:
    for number, settled in enumerate(
        (billed_round().settled, round_of("run", 0, [(5, 0), (-5, 0)]))
    ):
        for signed in book.post(settled).statements:
            path = tmp_path / f"{number}.json"
            write_statement(path, signed)
            assert read_statement(path) == signed
            assert read_head(path) == signed.head


def test_arrays_survive_the_file(tmp_path: Path) -> None:
    layers = [np.arange(3.0), np.zeros((2, 2), np.float32)]
    np.savez(tmp_path / "layers.npz", *layers)
    np.save(tmp_path / "one.npy", layers[0])
    assert digest(read_arrays(tmp_path / "layers.npz")) == digest(layers)
    assert digest(read_arrays(tmp_path / "one.npy")) == digest(layers[:1])


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_damaged_arrays_are_read_or_refused(tmp_path: Path, save: Any) -> None:
    path = tmp_path / "layers.npz"
    save(path, np.arange(30.0), np.zeros((2, 2), np.float32))
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    refused = 0
    for _ in range(300):
        spoilt = bytearray(whole)
        for at in rng.integers(len(whole), size=int(rng.integers(1, 4))):
            spoilt[at] = int(rng.integers(256))
        path.write_bytes(spoilt[: len(whole) - int(rng.integers(2)) * int(rng.integers(99))])
        try:
            assert all(isinstance(part, np.ndarray) for part in read_arrays(path))
        except UnreadableDocument:
            refused += 1
    assert refused > 100


def test_documents_of_another_kind(book: Ledger, tmp_path: Path) -> None:
    import json

    plain = to_plain(book.post(billed_round().settled).statements[0])
    path = tmp_path / "bill.json"

    def put(**change: object) -> None:
        path.write_text(json.dumps({**plain, **change}))

    spoilt: list[dict[str, object]] = [
        {"path": None},
        {"path": [1]},
        {"statement": None},
        {"statement": {**plain["statement"], "charge": 1.5}},
        {"statement": {**plain["statement"], "charge": True}},
        {"statement": {**plain["statement"], "more": 1}},
        {"statement": {k: v for k, v in plain["statement"].items() if k != "charge"}},
        {"statement": {**plain["statement"], "client": "\x1b[2J"}},
        {"head": {**plain["head"], "entry": "1"}},
    ]
    for change in spoilt:
        put(**change)
        with pytest.raises(UnreadableDocument, match=r"bill\.json"):
            read_statement(path)
    for text in ("", "[]", "{", "7", "nul\0", "[" * 100_000):
        path.write_text(text)
        for read in (read_statement, read_head):
            with pytest.raises(UnreadableDocument, match=r"bill\.json"):
                read(path)
    with pytest.raises(UnreadableDocument, match="none"):
        read_statement(tmp_path / "none.json")
    path.write_bytes(b"PK\x03\x04 no archive")
    np.save(tmp_path / "pickle.npy", np.array([{}], object), allow_pickle=True)
    for name in ("bill.json", "none", "pickle.npy"):
        with pytest.raises(UnreadableDocument, match="holds no arrays"):
            read_arrays(tmp_path / name)


def test_numbers_beyond_all_bounds_are_only_wrong(book: Ledger) -> None:
    """A forged statement may hold anything that JSON can; the check answers all the same."""
    posted = book.post(billed_round().settled)
    signed = posted.statements[0]
    for change in (
        {"charge": 10**400},
        {"refund": -(10**400)},
        {"deviation": float("nan")},
        {"coefficient": float("inf")},
        {"billed": 0, "barred": 10**30},
        {"path": ("no hex",)},
        {"path": ("",)},
    ):
        fields = {k: v for k, v in change.items() if k != "path"}
        forged = SignedStatement(
            replace(signed.statement, **fields),  # type: ignore[arg-type]  # from the table above
            change.get("path", signed.path),  # type: ignore[arg-type]
            signed.head,
        )
        assert differing(forged, book)
    assert keys.to_hex(book.public_key)
