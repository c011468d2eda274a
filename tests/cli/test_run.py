"""``pigou run``: what it leaves in its folder, what it refuses, and how it is gone on with."""

import json
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from tests.cli.conftest import HOSPITALS, Result, Run
from tests.small_runs import changed, ready_small
from tests.unit.test_runs_folder import same

from pigou.cli import progress
from pigou.cli.app import INTERRUPTED
from pigou.ledger import Ledger
from pigou.ledger.documents import read_statement
from pigou.runs import read
from pigou.runs import run as executed
from pigou.terms import Posted, Round

SCRIPT = Path(sys.executable).parent / "pigou"
FILES = ["clients.csv", "report.html", "rounds.csv", "scenario.toml", "summary.json"]
BOOKED = ["ledger.db", "ledger.db.key", "ledger.db.key.pub", "statements"]
CLIENTS = ["East- far", "North", "South", "West"]  # as files are named
RUN = ready_small().run


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The small scenario's file, where the command is called."""
    monkeypatch.chdir(tmp_path)
    return written(tmp_path)


def written(folder: Path, *changes: tuple[str, str]) -> str:
    (folder / "small.toml").write_text(changed(*changes), encoding="utf-8")
    return "small.toml"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def refused(result: Result, message: str) -> None:
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("pigou: ")
    assert result.err.count("\n") == 1
    assert message in result.err


def test_the_folder_holds_the_run(run: Run, small: str, tmp_path: Path) -> None:
    result = run("run", small, "--out", "out")
    assert (result.status, result.err) == (0, "")  # no progress where nobody watches
    folder = tmp_path / "out"
    assert names(folder) == sorted(FILES + BOOKED)
    assert same(read(folder), executed(ready_small()))
    assert result.out.splitlines()[-1] == f"Report: {Path('out') / 'report.html'}"
    assert f"run {RUN}" in result.out.splitlines()[0]
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert all(f'id="{part}"' in page for part in ("outcome", "chart-accuracy", "certificate"))


def test_the_printed_table_is_the_record(run: Run, small: str, tmp_path: Path) -> None:
    out = run("run", small, "--out", "out").out
    rows = {line[:8]: line for line in out.splitlines() if line[:8] in ("no noise", "unpriced")}
    record = read(tmp_path / "out")
    for name, line in rows.items():
        each = record.treatment(name)  # type: ignore[arg-type]
        assert f"{100 * each.accuracy[-1]:.1f} %" in line
        assert f"{each.loss[-1]:.4g}" in line
    assert "infinite" in rows["no noise"]
    assert "inf " not in out
    assert f"{record.treatment('unpriced').ratio[-1]:.4g} times the least possible" in out


def test_every_statement_is_a_file_that_its_client_can_check(
    run: Run, small: str, tmp_path: Path
) -> None:
    run("run", small, "--out", "out")
    statements = tmp_path / "out" / "statements"
    assert names(statements) == CLIENTS
    record = read(tmp_path / "out").treatment("priced")
    for t in range(1, 5):
        signed = [read_statement(statements / who / f"round-{t}.json") for who in CLIENTS]
        bills = {each.statement.client: each.statement for each in signed}
        assert sum(each.net for each in bills.values()) == 0
        wanted = [round(1e6 * net) for net in record.net[t - 1]]
        assert [bills[who].net for who in ("North", "East, far", "South", "West")] == wanted
    key = ("--key", "out/ledger.db.key.pub")
    file = statements / "North" / "round-2.json"
    assert run("ledger", "check-statement", str(file), *key).status == 0
    document = json.loads(file.read_text(encoding="utf-8"))
    document["statement"]["refund"] += 1000
    file.write_text(json.dumps(document), encoding="utf-8")
    assert run("ledger", "check-statement", str(file), *key).status == 1


def test_names_that_no_two_folders_can_have(run: Run, tmp_path: Path, small: str) -> None:
    written(tmp_path, ('"East, far"', '"north"'), ('"West"', '"../north"'))
    assert run("run", small, "--out", "out").status == 0
    assert names(tmp_path / "out" / "statements") == ["0-North", "1-north", "2-South", "3--north"]


def test_the_ledger_holds_what_the_bills_say(run: Run, small: str, tmp_path: Path) -> None:
    run("run", small, "--out", "out", "--ledger", "sqlite:///book.db")
    assert not (tmp_path / "out" / "ledger.db").exists()
    assert run("ledger", "verify", "--ledger", "sqlite:///book.db").status == 0
    totals = read(tmp_path / "out").treatment("priced").total
    with Ledger("sqlite:///book.db", write=False) as book:
        found = [book.balance(client) for client in ("North", "East, far", "South", "West")]
    assert found == [round(1e6 * total) for total in totals]


def test_a_folder_whose_name_means_something_in_urls(run: Run, small: str, tmp_path: Path) -> None:
    folder = tmp_path / "50%41 Ümläut? #1"
    assert run("run", small, "--out", str(folder)).status == 0
    resume = ("--resume", read(folder).run)
    (folder / "summary.json").unlink()
    assert run("run", small, "--out", str(folder), *resume).status == 0
    assert "ledger.db" in names(folder)
    assert names(tmp_path) == [folder.name, small]


def test_only_some_treatments(run: Run, small: str, tmp_path: Path) -> None:
    run("run", small, "--out", "priced", "--only", "priced")
    assert [each.name for each in read(tmp_path / "priced").treatments] == ["priced"]
    run("run", small, "--out", "others", "--only", "no noise", "--only", "unpriced")
    assert [each.name for each in read(tmp_path / "others").treatments] == ["no noise", "unpriced"]
    assert names(tmp_path / "others") == FILES  # nobody is billed


def test_each_call_has_a_folder_of_its_own(run: Run, small: str, tmp_path: Path) -> None:
    for name in (RUN, f"{RUN}-2", f"{RUN}-3"):
        assert f"Files: {Path('runs') / name}\n" in run("run", small).out
    first, second = (tmp_path / "runs" / name for name in (RUN, f"{RUN}-2"))
    assert (first / "clients.csv").read_bytes() == (second / "clients.csv").read_bytes()


def test_the_resolved_scenario_runs_the_same(run: Run, small: str, tmp_path: Path) -> None:
    run("run", small, "--out", "one")
    run("run", "one/scenario.toml", "--out", "two")
    one, two = tmp_path / "one", tmp_path / "two"
    assert same(read(one), read(two))


def test_a_run_that_ends_early_says_so(run: Run, small: str, tmp_path: Path) -> None:
    away = ('name = "West"\n', 'name = "West"\nconduct = "dropout"\noptions = { rate = 1.0 }\n')
    written(tmp_path, away, ("max_attempts = 2", "min_clients = 4\nmax_attempts = 2"))
    result = run("run", small, "--out", "out")
    assert (result.status, result.err) == (1, "")
    assert "priced stopped after 0 rounds: round 1 was void 2 times." in result.out
    assert read(tmp_path / "out").treatment("priced").rounds == 0


def test_a_certificate_that_fails_is_told(run: Run, small: str, tmp_path: Path) -> None:
    lie = ('name = "West"\n', 'name = "West"\nconduct = "lying"\noptions = { claim = 0.1 }\n')
    written(tmp_path, lie)
    out = run("run", small, "--out", "out").out
    assert "Certificate: FAILS: client 3 plays noise" in out
    paper = ("money = 100.0", 'money = 100.0\nname = "paper"')
    written(tmp_path, paper, ("spread = 0.0", "spread = 1e-3"))
    assert "\nCertificate: Budget" in run("run", small, "--out", "paper").out


def test_attacks_are_measured_where_somebody_cheats(run: Run, small: str, tmp_path: Path) -> None:
    fifth = '[[client]]\nname = "Fifth"\nalpha = 0.5\nconduct = "copycat"\n'
    (tmp_path / small).write_text(changed(("rounds = 4", "rounds = 2")) + fifth, encoding="utf-8")
    run("run", small, "--out", "one", "--only", "priced")
    found = read(tmp_path / "one").attacks
    assert found is not None
    assert {each.refund_rule for each in found.found} == {False, True}
    assert {"copycat", "Sybils that copy"} < {each.name for each in found.found}
    run("run", small, "--out", "two", "--only", "priced", "--no-attacks")
    assert same(read(tmp_path / "two"), replace(read(tmp_path / "one"), attacks=None))


@pytest.mark.parametrize(
    ("name", "message"),
    [("unpriced", "must price something"), ("menu", "must take any type as a report")],
)
def test_where_attacks_cannot_be_measured(
    run: Run, small: str, tmp_path: Path, name: str, message: str
) -> None:
    """Asked for, that is an error; else the run has no such part."""
    menu = 'population = { kind = "uniform", low = 0.1, high = 0.9 }' if name == "menu" else ""
    text = changed(("money = 100.0", f'money = 100.0\nname = "{name}"\n{menu}'))
    fifth = '[[client]]\nname = "Fifth"\nalpha = 0.5\nconduct = "copycat"\n'
    (tmp_path / small).write_text(text + fifth, encoding="utf-8")
    refused(run("run", small, "--out", "out", "--attacks"), f"mechanism {message}")
    assert names(tmp_path) == [small]
    assert run("run", small, "--out", "out").status == 0
    assert read(tmp_path / "out").attacks is None


def test_an_interruption_while_attacks_are_measured_leaves_the_report(
    run: Run, small: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def impatient(_: object) -> None:
        raise KeyboardInterrupt

    fifth = '[[client]]\nname = "Fifth"\nalpha = 0.5\n'
    (tmp_path / small).write_text(changed() + fifth, encoding="utf-8")
    monkeypatch.setattr("pigou.runs.measure_attacks", impatient)
    assert run("run", small, "--out", "out", "--attacks").status == INTERRUPTED
    assert (tmp_path / "out" / "report.html").exists()
    assert read(tmp_path / "out").attacks is None


def test_progress_on_a_terminal(
    run: Run, small: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = StringIO()
    console = Console(file=screen, force_terminal=True, width=150)
    monkeypatch.setattr(progress, "_console", lambda: console)
    assert run("run", small, "--out", "out").status == 0
    shown = screen.getvalue()
    record = read(tmp_path / "out")
    assert "4/4" in shown
    for each in record.treatments:
        assert each.name in shown
        assert f"loss {each.loss[-2]:.4g}" in shown  # of the model that round 4 started from
        if each.name != "no noise":
            assert f"social cost {each.social_cost[-1]:.4g}" in shown
    assert "inf" not in shown
    assert "budget 0" in shown
    assert "data: 4 clients" in shown


REFUSED = [
    (("absent.toml",), "absent.toml: cannot be read: No such file or directory"),
    (("small.toml", "--only", "pricey"), "only must be one of no noise, unpriced, priced"),
    (("small.toml", "--resume", "other"), f"--resume must be this scenario's run, {RUN}"),
    (("small.toml", "--out", "full"), "--out must be an empty or a new folder; received 'full'"),
    (("small.toml", "--ledger", "book.db"), "book.db"),
    (("small.toml", "--ledger", "sqlite:////absent/book.db"), "/absent/book.db"),
    (("small.toml", "--resume", RUN), "ledger.db"),
    (
        ("small.toml", "--only", "unpriced", "--ledger", "sqlite:///book.db"),
        "--ledger must not be given where nobody is billed",
    ),
    (("small.toml", "--attacks"), "n must be 5 or more"),
    ((HOSPITALS, "--attacks", "--out", "new"), "n must be 5 or more"),
]


@pytest.mark.parametrize(("words", "message"), REFUSED)
def test_refusals(
    run: Run, small: str, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    refused(run("run", *words), message)
    assert names(tmp_path / "full") == ["mine"]
    assert not list(tmp_path.rglob("report.html"))
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(path.name for path in left) == ["mine", small]


CHANGES = [
    (("[training]", "[trainig]"), "trainig is not a known key; allowed here: name, seed"),
    (("train = 60", "train = 0"), "training.train must be greater than or equal to 1; received 0"),
    (("rounds = 4", "rounds = 1.5"), "federation.rounds must be a whole number; received 1.5"),
    (("train = 60", 'data = "absent.npz"'), "absent.npz"),
    (("clip = 0.2", "scale = 0.2"), "privacy.clip must be given where there is a training"),
    (("money = 100.0", 'name = "groves"\nmoney = -1'), "mechanism.money must be greater than 0"),
]


@pytest.mark.parametrize(("change", "message"), CHANGES)
def test_scenarios_are_checked_before_anything_starts(
    run: Run, small: str, tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    written(tmp_path, change)
    refused(run("run", small, "--out", "out"), message)
    assert names(tmp_path) == [small]


def test_a_ledger_that_is_refused_does_not_use_the_folder_up(
    run: Run, small: str, tmp_path: Path
) -> None:
    (tmp_path / "book.db").write_text("no ledger")
    result = run("run", small, "--out", "out", "--ledger", "sqlite:///book.db")
    refused(result, "book.db")
    assert run("run", small, "--out", "out").status == 0


@pytest.mark.parametrize("scenario", [(), ("--only", "priced"), ("--ledger", "sqlite:///b.db")])
def test_an_interrupted_run_goes_on_as_if_it_had_not_been(
    run: Run,
    small: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    scenario: tuple[str, ...],
) -> None:
    """Ctrl-C after the second round; the command that is then printed does the rest."""
    whole = [word if word != "sqlite:///b.db" else "sqlite:///c.db" for word in scenario]
    assert run("run", small, "--out", "whole", *whole).status == 0
    with monkeypatch.context() as patch:
        interrupt_after(2, patch)
        result = run("run", small, "--out", "cut", *scenario)
    assert result.status == INTERRUPTED
    assert result.out == ""
    told = result.err.splitlines()[0]
    first, _, command = told.partition("; to go on: ")
    assert first == "pigou: interrupted after round 2"
    assert not (tmp_path / "cut" / "report.html").exists()
    words = shlex.split(command)
    assert words[0] == "pigou"
    assert run(*words[1:]).status == 0
    one, two = tmp_path / "whole", tmp_path / "cut"
    for name in ("clients.csv", "rounds.csv", "scenario.toml", "summary.json"):
        assert (one / name).read_bytes() == (two / name).read_bytes()
    for path in (one / "statements").rglob("*.json"):
        there = read_statement(two / path.relative_to(one))
        assert there.statement == read_statement(path).statement
    assert (two / "report.html").read_bytes() == (one / "report.html").read_bytes()


def interrupt_after(round_: int, patch: pytest.MonkeyPatch) -> None:
    """The user loses patience after this round is booked and before it is released."""
    post = Ledger.post

    def impatient(book: Ledger, settled: Round, *kept: bytes) -> Posted:
        if settled.round > round_:
            raise KeyboardInterrupt
        return post(book, settled, *kept)

    patch.setattr(Ledger, "post", impatient)


def test_a_run_interrupted_before_any_round(
    run: Run, small: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_after(0, monkeypatch)
    result = run("run", small, "--out", "out")
    assert result.status == INTERRUPTED
    assert result.err.splitlines()[0] == "pigou: interrupted before a round was booked"


def test_a_run_that_has_ended_can_be_resumed_again(run: Run, small: str, tmp_path: Path) -> None:
    run("run", small, "--out", "out")
    before = (tmp_path / "out" / "summary.json").read_bytes()
    assert run("run", small, "--out", "out", "--resume", RUN).status == 0
    assert (tmp_path / "out" / "summary.json").read_bytes() == before


def test_other_treatments_cannot_be_resumed(run: Run, small: str) -> None:
    run("run", small, "--out", "out")
    result = run("run", small, "--out", "out", "--resume", RUN, "--only", "priced")
    refused(result, "only must be as when the run began: no noise, unpriced, priced")


@pytest.mark.long
def test_a_signal_in_the_middle_of_a_real_process(run: Run, small: str, tmp_path: Path) -> None:
    written(tmp_path, ("rounds = 4", "rounds = 60"))
    command = [str(SCRIPT), "run", small, "--out", "out", "--only", "priced"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while not (tmp_path / "out" / "statements" / "West" / "round-9.json").exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        told = process.stderr.read()
    assert process.returncode == INTERRUPTED
    assert "Traceback" not in told
    assert run(*shlex.split(told.splitlines()[0].partition("; to go on: ")[2])[1:]).status == 0
    run("run", small, "--out", "whole", "--only", "priced")
    one, two = (read(tmp_path / name).treatment("priced") for name in ("out", "whole"))
    np.testing.assert_array_equal(one.net, two.net)
    np.testing.assert_array_equal(one.loss, two.loss)
