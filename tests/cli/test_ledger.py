"""``pigou ledger``: what it prints, with which status, and what it refuses."""

import csv
import io
import json
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from tests.cli.conftest import Result, Run
from tests.ledger.databases import KINDS, Place, new_place
from tests.ledger.rounds import Billed, billed_round, round_of

from pigou.ledger import Ledger

THREE = [(30_000_000, 20_000_000), (10_000_000, 25_000_000), (20_000_000, 15_000_000)]


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return new_place(request.param, tmp_path)


@pytest.fixture
def billed(place: Place) -> Billed:
    """Four entries: transfers, a round, its reversal, and a round that can be recomputed."""
    made = billed_round(4, 50, seed=2)
    with Ledger(place.url, place.key) as ledger:
        ledger.post(round_of("demo", 0, [(5_000_000, 0), (-2_000_000, 0)]))
        ledger.post(round_of("demo", 1, THREE))
        ledger.reverse("demo", 1, "the coefficient was wrong")
        ledger.post(made.settled)
    return made


@pytest.fixture
def ask(run: Run, place: Place) -> Run:
    """Run a command of the ledger, on the place."""

    def command(*words: str) -> Result:
        return run("ledger", *words, "--ledger", place.url)

    return command


def lines(result: Result) -> list[str]:
    """What it printed, with one space between words; it must have gone well."""
    assert (result.status, result.err) == (0, "")
    return [" ".join(line.split()) for line in result.out.splitlines()]


def stamps(place: Place) -> list[str]:
    with Ledger(place.url, write=False) as ledger:
        return [sealed.posted for sealed in ledger.entries()]


@pytest.mark.usefixtures("billed")
def test_show_lists_every_entry(ask: Run, place: Place) -> None:
    times = [stamp[:19] for stamp in stamps(place)]
    with Ledger(place.url, write=False) as ledger:
        last = list(ledger.entries())[-1].entry.postings
    moved = sum(line.amount for line in last if line.amount > 0)
    assert lines(ask("show")) == [
        "entry posted (UTC) run round kind moved",
        f"1 {times[0]} demo 0 transfers 5.000000 EUR",
        f"2 {times[1]} demo 1 round 15.000000 EUR",
        f"3 {times[2]} demo 1 reversal 15.000000 EUR takes back entry 2: the coefficient was wrong",
        f"4 {times[3]} billed 1 round {moved // 10**6}.{moved % 10**6:06} EUR",
    ]


@pytest.mark.usefixtures("billed")
def test_a_statement_says_who_owes_in_words(ask: Run) -> None:
    assert lines(ask("statement", "client-1", "--run", "demo")) == [
        "entry run round kind deviation charge refund the client",
        "1 demo 0 transfers -2 -2.000000 0.000000 is owed 2.000000 EUR",
        "2 demo 1 round 10 10.000000 25.000000 is owed 15.000000 EUR",
        "3 demo 1 reversal owes 15.000000 EUR",
        "",
        "Together: client-1 is owed 2.000000 EUR.",
    ]
    assert "Together: client-2 is even (0 EUR)." in lines(
        ask("statement", "client-2", "--run", "demo")
    )


@pytest.mark.usefixtures("billed")
def test_balances_in_words(ask: Run) -> None:
    assert lines(ask("balances", "--run", "demo")) == [
        "account consortium",
        "client-0 clinics owes 5.000000 EUR",
        "client-1 clinics is owed 2.000000 EUR",
        "client-2 clinics is even (0 EUR)",
        "(reserve) clinics is owed 3.000000 EUR",
    ]
    assert len(lines(ask("balances"))) == 6  # client-3 is in the other run


@pytest.mark.usefixtures("billed")
def test_filters_by_time(ask: Run, place: Place) -> None:
    """A day stands for all of it, a time for that moment; since includes it, until does not."""
    third = stamps(place)[2]
    day = datetime.fromisoformat(third).date()
    yesterday, tomorrow = str(day - timedelta(days=1)), str(day + timedelta(days=1))

    def numbers(*options: str) -> list[str]:
        return [line.split()[0] for line in lines(ask("show", *options))[1:]]

    assert numbers("--since", third) == ["3", "4"]
    assert numbers("--until", third) == ["1", "2"]
    assert numbers("--since", third, "--run", "demo") == ["3"]
    assert numbers("--since", yesterday, "--until", tomorrow) == ["1", "2", "3", "4"]
    assert numbers("--until", yesterday) == numbers("--since", str(day + timedelta(days=2))) == []
    zoned = datetime.fromisoformat(third).astimezone().isoformat()
    assert numbers("--since", zoned) == ["3", "4"]
    assert "client-0 clinics is owed 10.000000 EUR" in lines(
        ask("balances", "--since", third, "--run", "demo")
    )
    mine = lines(ask("statement", "client-0", "--since", third))
    assert [line.split()[0] for line in mine if line][1:-1] == ["3", "4"]


@pytest.mark.usefixtures("billed")
def test_verify_holds_and_fails(ask: Run, place: Place, tmp_path: Path) -> None:
    public, bills = str(place.key) + ".pub", tmp_path / "bills"
    assert lines(ask("statement", "client-0", "--save", str(bills)))[-1] == (
        f"Saved 3 signed statements in {bills}."
    )
    kept = str(bills / "entry-4.json")
    said = lines(ask("verify", "--key", public, "--head", kept))
    assert said[0] == "Holds: 4 entries with 13 postings; chain, sums, balances and signatures."
    assert said[1].startswith("Head: entry 4, ")
    assert len(said) == 2
    assert "give a kept --head" in lines(ask("verify"))[2]
    head = tmp_path / "head.json"
    head.write_text(json.dumps(json.loads(Path(kept).read_text())["head"]))
    assert ask("verify", "--head", str(head)).status == 0
    with place.past_the_ledger(guarded=False) as past:
        for table in ("statements", "postings"):
            past(f"DELETE FROM {table} WHERE entry = 4")
        past("DELETE FROM entries WHERE number = 4")
        past(
            "DELETE FROM balances WHERE account NOT IN (SELECT account FROM postings)",
        )
        past("DELETE FROM accounts WHERE id NOT IN (SELECT account FROM postings)")
        past(
            "UPDATE balances SET amount = (SELECT SUM(amount) FROM postings "
            "WHERE postings.account = balances.account)"
        )
    assert ask("verify").status == 0
    found = ask("verify", "--head", kept)
    assert (found.status, found.err) == (1, "")
    assert found.out == (
        "FAILS after 3 entries with 9 postings: entry 4 is missing: the ledger ends before it, "
        "but a head after entry 4 was signed.\n"
    )


def test_csv_comes_back_as_the_postings(ask: Run, place: Place, billed: Billed) -> None:
    assert billed
    rows = list(csv.DictReader(io.StringIO(ask("export", "--format", "csv").out)))
    with Ledger(place.url, write=False) as ledger:
        wanted = [
            (str(s.number), s.posted, line.kind, line.owner, str(line.amount), s.hash)
            for s in ledger.entries()
            for line in s.entry.postings
        ]
    columns = ("entry", "posted", "account", "owner", "amount_micro", "hash")
    assert [tuple(row[name] for name in columns) for row in rows] == wanted
    for row in rows:
        assert row["currency"] == "EUR"
        assert round(float(row["amount"]) * 10**6) == int(row["amount_micro"])
    assert [row["reverses"] for row in rows if row["kind"] == "reversal"] == ["2"] * 3


@pytest.mark.usefixtures("billed")
def test_json_comes_back_as_the_entries(ask: Run, place: Place) -> None:
    found = json.loads(ask("export", "--format", "json", "--run", "billed").out)
    with Ledger(place.url, write=False) as ledger:
        sealed = list(ledger.entries())[-1]
    assert [each["entry"] for each in found] == [4]
    assert (found[0]["hash"], found[0]["signature"]) == (sealed.hash, sealed.signature)
    assert found[0]["statements"] == [vars(each) for each in sealed.entry.statements]
    assert found[0]["postings"] == [line._asdict() for line in sealed.entry.postings]
    assert json.loads(ask("export", "--format", "json", "--since", "2999-01-01").out) == []


def test_a_client_checks_its_bill(
    run: Run, ask: Run, place: Place, billed: Billed, tmp_path: Path
) -> None:
    key = str(place.key) + ".pub"
    bill, mine, mean = (str(tmp_path / name) for name in ("b/entry-4.json", "up.npz", "mean.npz"))
    ask("statement", "client-2", "--run", "billed", "--save", str(tmp_path / "b"))
    np.savez(mine, billed.uploads[2])
    np.savez(mean, billed.mean)
    check = ("ledger", "check-statement", bill, "--key", key)
    said = lines(run(*check, "--upload", mine, "--mean", mean))
    assert said[0] == "client-2, round 1 of billed"
    assert [line.split()[0] for line in said[1:]] == ["agrees"] * 7
    assert lines(run(*check))[-1] == (
        "Not checked: the deviation; give --upload, and --mean or --others."
    )
    np.savez(mine, billed.uploads[1])
    wrong = run(*check, "--upload", mine, "--mean", mean)
    assert (wrong.status, wrong.err) == (1, "")
    differing = [line.split(maxsplit=1)[1] for line in wrong.out.splitlines() if "DIFFERS" in line]
    assert differing[0].startswith("the upload is the one billed: ")
    assert differing[1].startswith("deviation: ")
    assert len(differing) == 2
    plain = json.loads(Path(bill).read_text())
    plain["statement"]["refund"] += 2
    Path(bill).write_text(json.dumps(plain))
    forged = run(*check)
    assert forged.status == 1
    assert "DIFFERS  the statement is among those that the head signs" in forged.out
    assert "DIFFERS  refund, in micro-units: " in forged.out


def is_refused(result: Result, message: str) -> None:
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("pigou: ")
    assert result.err.count("\n") == 1
    assert message in result.err


REFUSED = [
    (("show", "--run", "nobody"), "the ledger holds no run 'nobody'"),
    (("balances", "--run", "nobody"), "the ledger holds no run 'nobody'"),
    (("export", "--format", "csv", "--run", "nobody"), "the ledger holds no run 'nobody'"),
    (("statement", "nobody"), "the ledger has nothing of a client 'nobody'"),
    (("statement", "client-3", "--run", "demo"), "nothing of a client 'client-3' in run 'demo'"),
    (("export", "--format", "xml"), "--format must be csv or json; received 'xml'"),
    (("show", "--since", "yesterday"), "--since must be a date or a time such as 2025-01-31"),
    (("show", "--until", "2025-02-30"), "--until must be a date or a time"),
    (("show", "--until", "9999-12-31"), "--until must be a date or a time"),
    (("verify", "--head", "none.json"), "none.json cannot be read: No such file or directory"),
    (("verify", "--key", "none.pub"), "key file none.pub cannot be read: No such file"),
]


@pytest.mark.usefixtures("billed")
def test_what_is_not_there_is_refused(ask: Run, place: Place) -> None:
    before = stamps(place)
    for words, message in REFUSED:
        is_refused(ask(*words), message)
    assert stamps(place) == before


COMMANDS = [("show",), ("balances",), ("verify",), ("statement", "a"), ("export", "--format=csv")]
PLACES = [
    ("mysql://me:secret@host/book", "ledger must be sqlite:///FILE or postgresql+psycopg://"),
    ("book.db", "ledger must be sqlite:///FILE or postgresql+psycopg://"),
    ("sqlite:///none.db", "there is no ledger at sqlite:///none.db"),
    ("sqlite:///text.db", "sqlite:///text.db is not a ledger: file is not a database"),
    ("sqlite:///.", "cannot be used: Is a directory"),
    ("postgresql://me:secret@localhost:1/book", "cannot be used: "),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_places_without_a_ledger(
    run: Run, tmp_path: Path, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.db").write_text("text, and enough of it")
    for url, message in PLACES:
        refused = run("ledger", *command, "--ledger", url)
        is_refused(refused, message)
        assert "secret" not in refused.err
    assert [path.name for path in tmp_path.iterdir()] == ["text.db"]


@pytest.mark.usefixtures("billed")
def test_a_ledger_of_another_version(ask: Run, place: Place) -> None:
    with place.past_the_ledger(guarded=False) as past:
        past("UPDATE meta SET value = '0' WHERE name = 'version'")
    for command in COMMANDS:
        is_refused(ask(*command), "is a ledger of version 0, and this pigou knows version 1: use")


def test_a_missing_driver_names_the_extra(tmp_path: Path) -> None:
    program = "import sys; sys.modules['psycopg'] = None; from pigou.cli import main; main({!r})"
    words = ["ledger", "show", "--ledger", "postgresql://host/book"]
    done = subprocess.run(
        [sys.executable, "-c", program.format(words)],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert done.stdout == ""
    assert done.stderr == (
        "pigou: a PostgreSQL ledger needs the driver psycopg: pip install 'pigou[postgres]'\n"
    )


@pytest.mark.usefixtures("billed")
def test_evidence_by_halves(run: Run, ask: Run, place: Place, tmp_path: Path) -> None:
    key, bills = str(place.key) + ".pub", tmp_path / "bills"
    ask("statement", "client-0", "--save", str(bills))
    np.savez(tmp_path / "some.npz", np.zeros(50))
    some, check = str(tmp_path / "some.npz"), ("ledger", "check-statement")
    halves = (("--upload", some), ("--mean", some), ("--others", some))
    for options in (*halves, sum(halves, ())):
        words = (*check, str(bills / "entry-4.json"), "--key", key, *options)
        is_refused(run(*words), "give --upload together with --mean or with --others")
    is_refused(run(*check, some, "--key", key), "some.npz cannot be read as JSON")
    is_refused(run(*check, str(bills / "entry-4.json"), "--key", some), "holds no PEM public key")
    transfers = (*check, str(bills / "entry-1.json"), "--key", key)
    assert run(*transfers).status == 0
    is_refused(run(*transfers, "--upload", some, "--mean", some), "must not be given for transfers")
    for folder in ("/proc/bills", some):
        is_refused(ask("statement", "client-0", "--save", folder), "cannot be written to")
