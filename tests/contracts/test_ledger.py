"""What every ledger promises, on SQLite and on PostgreSQL alike."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import pytest
from sqlalchemy import event
from tests.ledger.databases import KINDS, Place, new_place
from tests.ledger.rounds import random_round, round_of

from pigou.errors import InvalidArgument, PigouError
from pigou.ledger import Ledger
from pigou.ledger.entry import LARGEST
from pigou.ledger.errors import (
    KeyRefused,
    LedgerRefused,
    NotALedger,
    RoundAlreadySettled,
    UnknownClient,
    UnknownRun,
)
from pigou.ledger.journal import Filter
from pigou.terms import Round


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return new_place(request.param, tmp_path)


@pytest.fixture
def ledger(place: Place) -> Iterator[Ledger]:
    with Ledger(place.url, place.key) as opened:
        yield opened


T = TypeVar("T")
THREE = round_of("run", 1, [(30, 20), (10, 25), (20, 15)])


def contents(ledger: Ledger) -> list[tuple[int, str, int, str]]:
    """The journal in short, to see that nothing was written."""
    return [
        (sealed.number, sealed.entry.run, sealed.entry.round, sealed.hash)
        for sealed in ledger.entries()
    ]


def test_a_round_moves_every_balance(ledger: Ledger) -> None:
    posted = ledger.post(THREE)
    assert posted.new
    assert [ledger.balance(f"client-{k}") for k in range(3)] == [10, -15, 5]
    assert ledger.verify().ok


def test_what_the_clients_owe_together_the_reserve_is_owed(ledger: Ledger) -> None:
    ledger.post(round_of("run", 0, [(100, 0), (-40, 0)]))
    amounts = {(each.kind, each.owner): each.amount for each in ledger.balances()}
    assert amounts == {
        ("client", "client-0"): 100,
        ("client", "client-1"): -40,
        ("reserve", "clinics"): -60,
    }


def test_a_client_named_as_the_consortium_is_not_its_reserve(ledger: Ledger) -> None:
    ledger.post(round_of("run", 0, [(100, 0), (-40, 0)], clients=["clinics", "other"]))
    amounts = {(each.kind, each.owner): each.amount for each in ledger.balances()}
    assert amounts == {
        ("client", "clinics"): 100,
        ("client", "other"): -40,
        ("reserve", "clinics"): -60,
    }
    assert ledger.balance("clinics") == 100
    assert [line.amount for line in ledger.statement("clinics")] == [100]
    assert ledger.verify().ok


def test_names_are_only_names(ledger: Ledger) -> None:
    """Nothing in a name is a command of the database, a pattern, or another client's name."""
    names = [
        "Robert'); DROP TABLE entries;--",
        '" OR 1=1 --',
        "%s %(run)s :run ? $1",
        "\\' \N{HOSPITAL} 病院",
        "Ü\N{COMBINING DIAERESIS}",
        "=1+1",
        "%",
        "_",
    ]
    amounts = [(k, k + 1) for k in range(7)] + [(7, 0)]
    where = {"consortium": names[0], "currency": names[1]}
    ledger.post(round_of(names[2], 1, amounts, clients=names, **where), b"state")  # type: ignore[arg-type]
    assert [ledger.balance(name) for name in names] == [-1] * 7 + [7]
    assert ledger.statement("%", names[2])[0].sealed.entry.run == names[2]
    kept = ledger.state(names[2])
    assert kept is not None
    assert kept.content == b"state"
    assert ledger.verify().ok
    with pytest.raises(UnknownClient):
        ledger.balance("Ü")


def test_a_round_without_bills_is_an_entry_too(ledger: Ledger) -> None:
    nobody = Round("clinics", "run", 1, "round", "EUR", "terms", ())
    assert ledger.post(nobody, b"state").statements == ()
    assert not ledger.post(nobody).new
    state = ledger.state("run")
    assert state is not None
    assert state.content == b"state"
    assert ledger.verify().entries == 1


def test_the_same_round_again_is_a_no_op(ledger: Ledger) -> None:
    first = ledger.post(THREE, b"one")
    before = contents(ledger)
    again = ledger.post(replace(THREE, statements=THREE.statements[::-1]), b"two")
    assert (again.head, again.statements, again.new) == (first.head, first.statements, False)
    assert contents(ledger) == before
    state = ledger.state("run")
    assert state is not None
    assert state.content == b"one"


def test_the_same_round_with_other_content_is_refused(ledger: Ledger) -> None:
    ledger.post(THREE)
    before = contents(ledger)
    other = round_of("run", 1, [(30, 20), (10, 24), (20, 16)])
    with pytest.raises(RoundAlreadySettled) as caught:
        ledger.post(other)
    assert (caught.value.settled, caught.value.offered) == (THREE, other)
    assert "client 'client-1' refund 25 against 24" in str(caught.value)
    assert contents(ledger) == before
    assert ledger.balance("client-1") == -15


def test_content_is_more_than_amounts(ledger: Ledger) -> None:
    ledger.post(THREE)
    first, *rest = THREE.statements
    for change in ({"deviation": 0.5}, {"coefficient": 2.0}, {"upload": "other"}):
        with pytest.raises(RoundAlreadySettled):
            ledger.post(forged(THREE, statements=(forged(first, **change), *rest)))


def test_a_round_keeps_its_place_between_others(ledger: Ledger) -> None:
    rounds = [random_round(run, k, 4) for k in (1, 2, 3) for run in ("a", "b")]
    for each in rounds:
        ledger.post(each)
    entries = list(ledger.entries())
    assert [(s.entry.run, s.entry.round) for s in entries] == [(r.run, r.round) for r in rounds]
    assert [later.previous for later in entries[1:]] == [earlier.hash for earlier in entries[:-1]]
    for sealed, posted in zip(entries, rounds, strict=True):
        assert sealed.entry.statements == posted.statements


def test_a_reversal_takes_everything_back_once(ledger: Ledger) -> None:
    ledger.post(round_of("run", 0, [(100, 0), (-40, 0)]))
    ledger.post(THREE)
    reversed_ = ledger.reverse("run", 1, "the coefficient was wrong")
    assert reversed_.new
    assert ledger.balance("client-0") == 100
    assert not ledger.reverse("run", 1, "again").new
    ledger.reverse("run", 0, "transfers, too")
    assert {each.amount for each in ledger.balances()} == {0}
    last = list(ledger.entries())[-1].entry
    assert (last.kind, last.reverses, last.reason) == ("reversal", 1, "transfers, too")
    assert ledger.verify().entries == 4


def test_a_reversed_round_stays_settled(ledger: Ledger) -> None:
    ledger.post(THREE)
    ledger.reverse("run", 1, "wrong")
    assert not ledger.post(THREE).new
    assert ledger.balance("client-0") == 0
    with pytest.raises(RoundAlreadySettled):
        ledger.post(round_of("run", 1, [(1, 0), (0, 1)]))


def test_only_a_settled_round_can_be_reversed(ledger: Ledger) -> None:
    ledger.post(THREE)
    with pytest.raises(UnknownRun, match="no round 2 of run 'run'"):
        ledger.reverse("run", 2, "wrong")
    with pytest.raises(InvalidArgument, match="reason must be printable text, not empty"):
        ledger.reverse("run", 1, "")
    assert len(contents(ledger)) == 1


def test_the_state_is_the_one_of_the_last_round(ledger: Ledger, place: Place) -> None:
    assert ledger.state("run") is None
    for k in (1, 2, 3):
        ledger.post(random_round("run", k), bytes([k]) * 1000)
    ledger.post(random_round("other", 1), b"other")
    with Ledger(place.url, write=False) as reopened:
        state = reopened.state("run")
    assert state is not None
    assert (state.run, state.round, state.content) == ("run", 3, bytes([3]) * 1000)


def test_what_was_answered_can_be_had_again(ledger: Ledger) -> None:
    first = ledger.post(THREE)
    ledger.post(random_round("run", 2))
    again = ledger.posted("run", 1)
    assert again == replace(first, new=False)
    assert ledger.posted("run", 9) is None


def test_the_head_moves_with_every_entry(ledger: Ledger) -> None:
    assert ledger.head() is None
    first = ledger.post(THREE).head
    assert ledger.head() == first
    second = ledger.post(random_round("run", 2)).head
    assert ledger.head() == second
    assert (first.entry, second.entry) == (1, 2)
    assert first.ledger == second.ledger == ledger.id


def test_a_statement_shows_all_bills_of_one_client(ledger: Ledger) -> None:
    ledger.post(THREE)
    ledger.post(random_round("run", 2))
    ledger.post(random_round("other", 1))
    ledger.reverse("run", 1, "wrong")
    lines = ledger.statement("client-1", "run")
    assert [line.sealed.number for line in lines] == [1, 2, 4]
    bill, _, taken_back = lines
    assert bill.signed is not None
    assert (bill.amount, bill.signed.statement) == (-15, THREE.statements[1])
    assert (taken_back.amount, taken_back.signed) == (15, None)
    assert len(ledger.statement("client-1")) == 4


def test_unknown_runs_and_clients(ledger: Ledger) -> None:
    ledger.post(THREE)
    ledger.post(random_round("other", 1, 5))
    with pytest.raises(UnknownClient, match="no client 'nobody'"):
        ledger.balance("nobody")
    with pytest.raises(UnknownClient, match="'client-4' in run 'run'"):
        ledger.statement("client-4", "run")
    with pytest.raises(UnknownRun, match="no run 'runn'"):
        ledger.statement("client-1", "runn")
    with pytest.raises(UnknownRun):
        ledger.balances(Filter(run="runn"))
    assert ledger.state("runn") is None


def test_one_client_in_two_books(ledger: Ledger) -> None:
    ledger.post(THREE)
    ledger.post(round_of("bank run", 1, [(7, 0), (0, 7)], consortium="banks"))
    ledger.post(round_of("dollar run", 1, [(3, 0), (0, 3)], currency="USD"))
    with pytest.raises(UnknownClient, match="3 accounts"):
        ledger.balance("client-0")
    assert ledger.balance("client-0", consortium="banks") == 7
    assert ledger.balance("client-0", currency="USD") == 3
    assert ledger.balance("client-0", consortium="clinics", currency="EUR") == 10
    with pytest.raises(InvalidArgument, match="'run' is a run of clinics in EUR"):
        ledger.post(round_of("run", 2, [(1, 0), (0, 1)], consortium="banks"))


def test_balances_of_a_part(ledger: Ledger) -> None:
    ledger.post(THREE)
    ledger.post(random_round("other", 1))
    mine = {each.owner: each.amount for each in ledger.balances(Filter(run="run"))}
    assert mine == {"client-0": 10, "client-1": -15, "client-2": 5}
    middle = datetime.now(UTC)
    ledger.post(random_round("run", 2))
    before, after = Filter(until=middle), Filter(since=middle)
    assert [s.number for s in ledger.entries(before)] == [1, 2]
    assert [s.number for s in ledger.entries(after)] == [3]
    total = [
        sum(each.amount for each in ledger.balances(which) if each.owner == "client-0")
        for which in (before, after)
    ]
    assert sum(total) == ledger.balance("client-0")
    assert ledger.balances(Filter(since=middle + timedelta(days=1))) == []


SPOILT_STATEMENTS: list[tuple[dict[str, object], str]] = [
    ({"charge": 30.0}, "charge of 'client-0' must be an integer of 64 bits"),
    ({"charge": True, "refund": -9}, "charge of 'client-0'"),
    ({"refund": LARGEST + 1}, "refund of 'client-0'"),
    ({"deviation": float("nan")}, "deviation of 'client-0' must be a finite float"),
    ({"coefficient": float("inf")}, "coefficient of 'client-0'"),
    ({"client": "client-1"}, "must hold one statement per client"),
    ({"client": ""}, "must be printable text, not empty"),
    ({"client": "nul\0"}, "must be printable text, not empty"),
    ({"client": "\ud800"}, "must be printable text, not empty"),
    ({"upload": None}, "upload of 'client-0' must be printable text"),
    ({"refundable": 1}, "refundable of 'client-0' must be true or false"),
    ({"run": "another"}, "run of 'client-0' must be 'run'"),
    ({"terms": "another"}, "terms of 'client-0'"),
    ({"billed": 4}, "billed of 'client-0' must be 3"),
    ({"total_charge": 61}, "total_charge of 'client-0' must be 60"),
    ({"barred": 1}, "barred of 'client-0' must be 0"),
    ({"barred_charge": 1}, "barred_charge of 'client-0' must be 0"),
    ({"mean": "another"}, "mean of"),
]
SPOILT_ROUNDS: list[tuple[dict[str, object], str]] = [
    ({"reserve": 1}, "reserve must equal the clients' sum, 0"),
    ({"round": 0}, "round must be 1 or more, and 0 for transfers"),
    ({"round": 1.0}, "round must be an integer"),
    ({"kind": "reversal"}, 'kind must be "round" or "transfers"'),
    ({"kind": "transfers"}, "round must be 1 or more, and 0 for transfers"),
    ({"run": ""}, "run must be printable text"),
    ({"currency": "\n"}, "currency must be printable text"),
    ({"consortium": None}, "consortium must be printable text"),
]


def test_what_cannot_be_booked_is_not(ledger: Ledger) -> None:
    first, *rest = THREE.statements
    spoilt = [
        (forged(THREE, statements=(forged(first, **change), *rest)), named)
        for change, named in SPOILT_STATEMENTS
    ]
    spoilt += [(forged(THREE, **change), named) for change, named in SPOILT_ROUNDS]
    for each, named in spoilt:
        with pytest.raises(InvalidArgument) as caught:
            ledger.post(each, b"state")
        assert named in str(caught.value)
    assert contents(ledger) == []
    assert ledger.state("run") is None
    assert ledger.balances() == []


def forged(value: T, **parts: object) -> T:
    """A frozen value with parts that its own checks may refuse."""
    copy = object.__new__(type(value))
    copy.__dict__.update(vars(value), **parts)
    return copy


def test_amounts_stay_within_64_bits(ledger: Ledger) -> None:
    half = LARGEST // 2
    with pytest.raises(InvalidArgument, match="must move less than 2\\^63 micro-units"):
        ledger.post(round_of("run", 1, [(LARGEST, 0), (0, LARGEST)]))
    ledger.post(round_of("run", 1, [(half, 0), (0, half)]))
    ledger.post(round_of("run", 2, [(half, 0), (0, half)]))
    with pytest.raises(InvalidArgument, match="must keep its account's balance within 64 bits"):
        ledger.post(round_of("run", 3, [(half, 0), (0, half)]))
    assert ledger.balance("client-0") == 2 * half
    assert ledger.verify().entries == 2


def test_reading_needs_no_key_and_writes_nothing(ledger: Ledger, place: Place) -> None:
    ledger.post(THREE)
    place.key.rename(place.key.with_name("elsewhere"))
    with Ledger(place.url, write=False) as reader:
        assert reader.balance("client-0") == 10
        assert reader.verify().ok
        with pytest.raises(LedgerRefused, match="open for reading only"):
            reader.post(random_round("run", 2))
        with pytest.raises(LedgerRefused, match="open for reading only"):
            reader.reverse("run", 1, "wrong")
    with pytest.raises(KeyRefused, match="cannot be read"):
        Ledger(place.url, place.key)


def test_another_key_cannot_write(ledger: Ledger, place: Place, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = Ledger(f"sqlite:///{tmp_path}/other/book.db", tmp_path / "other.key")
    other.close()
    with pytest.raises(KeyRefused, match="is not the one"):
        Ledger(place.url, tmp_path / "other.key")


def test_nothing_is_made_for_a_reader(place: Place, tmp_path: Path) -> None:
    with pytest.raises(NotALedger, match="there is no ledger at"):
        Ledger(place.url, write=False)
    assert list(tmp_path.iterdir()) == []


def test_a_ledger_outlives_its_process(place: Place) -> None:
    with Ledger(place.url, place.key) as first:
        first.post(THREE)
    with Ledger(place.url, place.key) as second:
        second.post(random_round("run", 2))
        assert second.id == first.id
        assert second.verify().entries == 2


def test_two_writers_of_one_ledger_take_turns(ledger: Ledger, place: Place) -> None:
    """What one of them knew of the accounts is not used after the other has written."""
    with Ledger(place.url, place.key) as other:
        for k in range(1, 5):
            ledger.post(random_round("a", k, 3))
            other.post(random_round("b", k, 5))
        assert ledger.balances() == other.balances()
    assert ledger.verify().entries == 8


def test_a_round_and_its_state_are_one_transaction(ledger: Ledger) -> None:
    commits: list[object] = []
    event.listen(ledger._store.engine, "commit", commits.append)
    ledger.post(THREE, b"state")
    ledger.reverse("run", 1, "wrong")
    assert len(commits) == 2


def test_limits_count_what_another_writer_posted(ledger: Ledger, place: Place) -> None:
    half = LARGEST // 2
    ledger.post(round_of("a", 1, [(half, 0), (0, half)]))
    with Ledger(place.url, place.key) as other:
        other.post(round_of("b", 1, [(half, 0), (0, half)]))
    with pytest.raises(InvalidArgument, match="must keep its account's balance within 64 bits"):
        ledger.post(round_of("a", 2, [(half, 0), (0, half)]))
    assert ledger.balance("client-0") == 2 * half


def test_errors_are_ours(ledger: Ledger) -> None:
    for error in (KeyRefused, LedgerRefused, NotALedger, UnknownClient, UnknownRun):
        assert issubclass(error, PigouError)
