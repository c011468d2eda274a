"""``pigou run --engine flower``: Flower's simulation engine, with its worker processes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tests.flower.test_agreement import largest_difference
from tests.small_runs import changed

from pigou.ledger import Ledger
from pigou.ledger.journal import Filter
from pigou.runs import RunRecord, read
from pigou.terms import Statement

pytestmark = pytest.mark.long

ROUNDS = 4
PATIENCE = 240.0  # seconds until a run counts as hung
PROGRAM = "import sys; from pigou.cli import main; sys.exit(main(sys.argv[1:]))"
MIXED = changed(
    ("money = 100.0", 'money = 100.0\nname = "groves"\nreport_spread = false'),
    ('name = "East, far"', 'name = "East, far"\nconduct = "dropout"\noptions = { rate = 0.5 }'),
    ('name = "West"', 'name = "West"\nconduct = "learning"'),
)


def start(*words: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "run", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def finish(*words: str) -> str:
    process = start(*words)
    said, wrong = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, wrong
    assert wrong == ""
    return said


def statements(folder: Path) -> list[list[Statement]]:
    """Of every round, as the ledger has them; the reserve must make up the sum."""
    with Ledger(f"sqlite:///{folder / 'ledger.db'}", write=False) as ledger:
        assert ledger.verify().ok
        assert sum(each.amount for each in ledger.balances()) == 0
        return [list(sealed.entry.statements) for sealed in ledger.entries(Filter())]


def balances(folder: Path) -> dict[str, int]:
    with Ledger(f"sqlite:///{folder / 'ledger.db'}", write=False) as ledger:
        return {each.owner: each.amount for each in ledger.balances() if each.kind == "client"}


def same(one: RunRecord, other: RunRecord) -> None:
    """All that the report shows, to rounding."""
    for mine, theirs in zip(one.treatments, other.treatments, strict=True):
        assert mine.name == theirs.name
        assert mine.conducts == theirs.conducts
        assert mine.refusals == theirs.refusals
        np.testing.assert_array_equal(mine.flags, theirs.flags)
        for name in ("loss", "sigma", "charge", "refund", "transfers", "epsilon", "social_cost"):
            np.testing.assert_allclose(
                getattr(mine, name), getattr(theirs, name), rtol=1e-4, atol=1e-4, err_msg=name
            )


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """The scenario's file, and what the two engines left."""
    home = tmp_path_factory.mktemp("engines")
    scenario = home / "mixed.toml"
    scenario.write_text(MIXED)
    for engine in ("local", "flower"):
        finish(str(scenario), "--engine", engine, "--out", str(home / engine))
    return scenario, home / "local", home / "flower"


def test_the_simulation_engine_gives_the_same_statements_and_balances(
    folders: tuple[Path, Path, Path],
) -> None:
    _, here, there = folders
    mine, theirs = statements(here), statements(there)
    assert len(mine) == len(theirs) == 1 + ROUNDS  # with the report transfers
    worst = max(largest_difference(*pair) for pair in zip(mine, theirs, strict=True))
    print(f"largest difference: {worst:.3g} of what is allowed")
    assert worst <= 1
    gross = sum(statement.charge for each in mine for statement in each)
    owed, owing = balances(here), balances(there)
    assert owed.keys() == owing.keys()
    for client, amount in owed.items():
        assert abs(amount - owing[client]) <= 1e-5 * gross + len(mine)


def test_the_run_folder_and_its_record_are_the_same(folders: tuple[Path, Path, Path]) -> None:
    _, here, there = folders
    files = [{p.relative_to(home) for p in home.rglob("*")} for home in (here, there)]
    assert files[0] == files[1]
    assert (here / "scenario.toml").read_text() == (there / "scenario.toml").read_text()
    same(read(here), read(there))


def test_an_interrupted_run_goes_on(folders: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """Ctrl-C after the second round: the workers end, and the rest is as if nothing had been."""
    scenario, _, whole = folders
    out = tmp_path / "out"
    process = start(str(scenario), "--engine", "flower", "--out", str(out))
    patience = time.monotonic() + PATIENCE
    while not list(out.glob("statements/*/round-2.json")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < patience, "it hangs"
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    assert "to go on: pigou run" in said
    assert "--engine flower" in said
    (run,) = {each.run for each in statements(out)[0]}
    finish(str(scenario), "--engine", "flower", "--out", str(out), "--resume", run)
    pairs = zip(statements(out), statements(whole), strict=True)
    assert max(largest_difference(*pair) for pair in pairs) <= 1
    same(read(out), read(whole))
