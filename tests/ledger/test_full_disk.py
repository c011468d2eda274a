"""No room, and no permission: a typed error, nothing corrupt, and on it goes when there is room."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.ledger.rounds import random_round

from pigou.ledger import Ledger

RUN, CLIENTS = "run", 40
ROOM = 400_000  # bytes of the largest file that the process may write

# Posts until it is refused, under a limit of file sizes if there is one; then the limit is lifted,
# and the same object posts the same round again.
PROGRAM = f"""
import resource, sys
from pigou.ledger import Ledger
from pigou.ledger.errors import LedgerUnavailable
from tests.ledger.rounds import random_round

url, key, room = sys.argv[1], sys.argv[2], int(sys.argv[3])

def post(ledger, k):
    ledger.post(random_round({RUN!r}, k, {CLIENTS}), str(k).encode())

with Ledger(url, key) as ledger:
    state = ledger.state({RUN!r})
    first = 1 if state is None else int(state.content) + 1
    if room:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
    for k in range(first, first + 1000):
        try:
            post(ledger, k)
        except LedgerUnavailable as error:
            print(k, error)
            break
    held = ledger.verify()
    assert held.ok and held.entries == k - 1, held
    if room:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        post(ledger, k)
        assert ledger.verify().entries == k
"""


READER = """
import sys
from pigou.ledger import Ledger
from pigou.ledger.errors import LedgerUnavailable
try:
    Ledger(sys.argv[1], write=False)
except LedgerUnavailable as error:
    print(error)
"""


def run(program: str, *arguments: str, before: Sequence[str] = ()) -> str:
    """What the program prints, as a process of its own."""
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [*before, sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def posted(url: str) -> int:
    """How many rounds there are; they must be the first ones, whole, with their state."""
    with Ledger(url, write=False) as ledger:
        found = ledger.verify()
        state = ledger.state(RUN)
    assert found.ok, found.fault
    assert found.postings == CLIENTS * found.entries
    assert state is not None
    assert int(state.content) == found.entries
    return found.entries


def test_a_disk_that_is_full(tmp_path: Path) -> None:
    """The limit is met first by the log, then by the database's file; either way it is no loss."""
    url, key = f"sqlite:///{tmp_path}/book.db", tmp_path / "key"
    for room in (ROOM, ROOM // 4):
        stopped, _, said = run(PROGRAM, url, str(key), str(room)).partition(" ")
        assert "cannot be used" in said
        assert "post it again" in said
        assert posted(url) == int(stopped)


@pytest.mark.parametrize("folder_too", [False, True])
def test_a_file_that_is_read_only(tmp_path: Path, folder_too: bool) -> None:
    folder = tmp_path / "book"
    folder.mkdir()
    url, key = f"sqlite:///{folder}/book.db", tmp_path / "key"
    with Ledger(url, key) as ledger:
        ledger.post(random_round(RUN, 1, CLIENTS), b"1")
    before = (folder / "book.db").read_bytes()
    (folder / "book.db").chmod(0o444)
    folder.chmod(0o555 if folder_too else 0o755)
    try:
        drop = without_override()
        if folder_too:  # then SQLite cannot even make the files that reading takes
            said = run(READER, url, before=drop)
            assert "cannot be used" in said
        else:
            stopped, _, said = run(PROGRAM, url, str(key), "0", before=drop).partition(" ")
            assert (stopped, "readonly" in said) == ("2", True)
    finally:
        folder.chmod(0o755)
    assert (folder / "book.db").read_bytes() == before
    (folder / "book.db").chmod(0o644)
    with Ledger(url, key) as ledger:
        ledger.post(random_round(RUN, 2, CLIENTS), b"2")
    assert posted(url) == 2


def without_override() -> list[str]:
    """What makes permissions hold for root, too."""
    if os.geteuid() != 0:
        return []
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("root may write read-only files, and there is no setpriv to stop it")
    return [setpriv, "--bounding-set", "-dac_override,-dac_read_search"]
