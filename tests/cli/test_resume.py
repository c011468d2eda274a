"""``pigou run`` killed, out of room, or refused by its ledger: what was booked stays, it goes on.

All runs are processes of their own with one BLAS thread; what must come out is what a run that
nobody disturbed leaves behind, to the bit.
"""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Run
from tests.ledger.databases import Place, Server, binaries, new_place
from tests.ledger.test_full_disk import without_override
from tests.small_runs import changed

from pigou.ledger import Ledger

ROUNDS, CLIENTS = 80, 4
PATIENCE = 120.0  # seconds until a run counts as hung
SAME = ("scenario.toml", "summary.json", "rounds.csv", "clients.csv")
THREADS = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
PROGRAM = """
import resource, sys
from pigou.cli import main
if int(sys.argv[1]):
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
sys.exit(main(sys.argv[2:]))
"""


class Work:
    """A scenario, and the folder of the run that will be disturbed."""

    def __init__(self, folder: Path, place: Place | None = None) -> None:
        self.scenario, self.out = folder / "small.toml", folder / "out"
        self.url = place.url if place else f"sqlite:///{self.out}/ledger.db"
        self.ledger = ("--ledger", place.url, "--key", str(place.key)) if place else ()
        self.scenario.write_text(changed(("rounds = 4", f"rounds = {ROUNDS}")))

    def start(
        self, *options: str, room: int = 0, before: tuple[str, ...] = ()
    ) -> "subprocess.Popen[str]":
        words = ("run", str(self.scenario), "--out", str(self.out), *self.ledger, *options)
        return subprocess.Popen(
            [*before, sys.executable, "-c", PROGRAM, str(room), *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **THREADS},
        )

    def finish(self, *options: str) -> None:
        process = self.start(*options)
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, said

    def refused(self, *options: str, **how: Any) -> str:
        """What a run says that stops by itself: one line, status 2."""
        return self.stopped(self.start(*options, **how))

    def stopped(self, process: "subprocess.Popen[str]") -> str:
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 2, said
        assert said.startswith("pigou: ")
        assert said.count("\n") == 1
        return said

    def killed(self, after: int, *options: str) -> int:
        """How many rounds were booked when the run was killed, once it had released so many."""
        process = self.released(after, *options)
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        return self.booked()

    def released(self, after: int, *options: str) -> "subprocess.Popen[str]":
        """A run under way that has released the statements of so many rounds."""
        process = self.start(*options)
        patience = time.monotonic() + PATIENCE
        while len(self.statements()) < CLIENTS * after:
            assert process.poll() is None, "it ended too soon"
            assert time.monotonic() < patience, "it hangs"
            time.sleep(0.001)
        return process

    def statements(self) -> list[Path]:
        return sorted(self.out.glob("statements/*/round-*.json"))

    def booked(self) -> int:
        """The rounds in the ledger: the first ones, each whole, with a state."""
        with Ledger(self.url, write=False) as ledger:
            found = ledger.verify()
            assert found.ok, found.fault
            rounds = [sealed.entry.round for sealed in ledger.entries()]
            assert rounds == list(range(1, len(rounds) + 1))
            state = ledger.state(self.run)
        assert (0 if state is None else state.round) == len(rounds)
        return len(rounds)

    @property
    def run(self) -> str:
        with Ledger(self.url, write=False) as ledger:
            return next(iter(ledger.entries())).entry.run

    def left(self) -> object:
        """All that the run leaves behind but for what names the ledger and the time."""
        files = [(self.out / name).read_bytes() for name in SAME]
        released = {path.relative_to(self.out): path.read_text() for path in self.statements()}
        with Ledger(self.url, write=False) as ledger:
            assert ledger.verify().ok
            entries = [sealed.entry for sealed in ledger.entries()]
            state = ledger.state(self.run)
            assert state is not None
            return (
                files,
                {path: json.loads(text)["statement"] for path, text in released.items()},
                entries,
                ledger.balances(),
                state,
            )


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> object:
    work = Work(tmp_path_factory.mktemp("calm"))
    work.finish()
    assert work.booked() == ROUNDS
    return work.left()


@pytest.mark.long
def test_a_run_that_is_killed(tmp_path: Path, calm: object) -> None:
    work = Work(tmp_path)
    resume: tuple[str, ...] = ()
    for after in (1, 13, 26, 39, 52, 65):
        booked = work.killed(after, *resume)
        assert after <= booked < ROUNDS
        resume = ("--resume", work.run)
    work.finish(*resume)
    assert work.left() == calm


@pytest.mark.long
def test_a_run_out_of_room(tmp_path: Path, calm: object) -> None:
    work = Work(tmp_path)
    said = work.refused(room=300_000)
    assert "cannot be used: database or disk is full" in said or "disk I/O error" in said
    booked = work.booked()
    assert 0 < booked < ROUNDS
    assert "to go on: pigou run " in said
    assert f"--resume {work.run}" in said
    scenario = (work.out / "scenario.toml").read_bytes()
    work.refused("--resume", work.run, room=100)
    assert work.booked() == booked
    assert (work.out / "scenario.toml").read_bytes() == scenario
    work.finish("--resume", work.run)
    assert work.left() == calm


@pytest.mark.long
def test_a_run_whose_ledger_is_read_only(tmp_path: Path, calm: object) -> None:
    work = Work(tmp_path)
    booked = work.killed(20)
    database = work.out / "ledger.db"
    database.chmod(0o444)
    said = work.refused("--resume", work.run, before=tuple(without_override()))
    assert "attempt to write a readonly database" in said
    database.chmod(0o644)
    assert work.booked() == booked
    work.finish("--resume", work.run)
    assert work.left() == calm


@pytest.mark.long
def test_a_run_whose_server_dies(tmp_path: Path, calm: object) -> None:
    server = Server(binaries())
    try:
        place = new_place("postgresql", tmp_path, server)
        secret = place.url.replace("pigou@", "pigou:secret@")  # which the server does not ask for
        work = Work(tmp_path, replace(place, url=secret))
        process = work.released(20)
        server.stop("immediate")
        said = work.stopped(process)
        assert "cannot be used" in said
        assert "--ledger 'postgresql+psycopg://pigou:***@" in said
        assert "secret" not in said
        server.start()
        assert 20 <= work.booked() < ROUNDS
        assert f"--resume {work.run}" in said
        work.finish("--resume", work.run)
        assert work.left() == calm
    finally:
        server.remove()


def test_a_run_that_is_over_stays_as_it_is(tmp_path: Path, run: Run) -> None:
    """Resumed after its last round, it writes the same files again; its statements, too."""
    scenario, out = tmp_path / "small.toml", tmp_path / "out"
    scenario.write_text(changed())
    assert run("run", str(scenario), "--out", str(out), "--only", "priced").status == 0
    before = contents(out)
    name = json.loads(before["summary.json"])["run"]
    assert len(before) > CLIENTS * 4
    again = ("run", str(out / "scenario.toml"), "--out", str(out), "--only", "priced")
    assert run(*again, "--resume", name).status == 0
    assert contents(out) == before


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_nothing_to_resume(tmp_path: Path, run: Run) -> None:
    scenario, out = tmp_path / "small.toml", tmp_path / "out"
    scenario.write_text(changed())
    words = ("run", str(scenario), "--out", str(out), "--resume")
    wrong = run(*words, "another")
    name = wrong.err.split("this scenario's run, ")[1].split(";")[0]
    assert not out.exists()
    none = run(*words, name)
    assert "there is no ledger at" in none.err
    assert not out.exists()
    out.mkdir()
    Ledger(f"sqlite:///{out}/ledger.db").close()
    nothing = run(*words, name)
    assert f"the ledger holds no round of run '{name}' to go on from" in nothing.err
    assert sorted(path.name for path in out.iterdir()) == [
        "ledger.db",
        "ledger.db.key",
        "ledger.db.key.pub",
    ]
    for each in (wrong, none, nothing):
        assert (each.status, each.out, each.err.count("\n")) == (2, "", 1)


REFUSED = [
    (("--ledger", "mysql://host/book"), "ledger must be sqlite:///FILE or postgresql"),
    (("--ledger", "sqlite:///none/book.db"), "must name a file in a folder that exists"),
    (("--ledger", "postgresql://host/book"), "needs a signing key: name its file"),
    (("--ledger", "sqlite:///text.db"), "is not a ledger: file is not a database"),
    (("--key", "open.key"), "open.key must have mode 600, has 644"),
    (("--key", "x", "--only", "unpriced"), "--key must not be given where nobody is billed"),
    (("--out", "."), "--out must be an empty or a new folder"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_a_ledger_that_cannot_be_had(
    tmp_path: Path,
    run: Run,
    options: tuple[str, ...],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(changed())
    Path("text.db").write_text("text, and enough of it")
    Path("open.key").write_text("secret")
    before = sorted(tmp_path.rglob("*"))
    result = run("run", "small.toml", "--out", "out", *options)
    assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
    assert message in result.err
    assert [path for path in sorted(tmp_path.rglob("*")) if path.name != "out"] == before
    assert not any(Path("out").glob("*"))
