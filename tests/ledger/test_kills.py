"""Processes and servers that are killed at random moments: nothing acknowledged is lost."""

import multiprocessing
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from tests.ledger.databases import KINDS, Kind, Place, Server, binaries, new_place
from tests.ledger.rounds import random_round
from tests.ledger.victim import CLIENTS, post_rounds

from pigou.ledger import Ledger

RUN = "run"
PATIENCE = 60.0  # seconds without a mark before a victim counts as hung
LONGEST_WAIT = 0.02  # seconds between a mark and the kill: some rounds
MOST_ROUNDS = 100_000
TIMES = [pytest.param(20, marks=pytest.mark.long), pytest.param(200, marks=pytest.mark.soak)]
SERVER_TIMES = [pytest.param(3, marks=pytest.mark.long), pytest.param(20, marks=pytest.mark.soak)]


@dataclass
class Killed:
    """What one victim said before it died."""

    acknowledged: list[int] = field(default_factory=list)
    inside: bool = False  # of an open transaction, at the last mark
    ended: str = ""


@pytest.fixture(scope="module")
def context() -> multiprocessing.context.ForkServerContext:
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(["tests.ledger.victim"])
    return made


class Victim:
    """A process under way, and what it says."""

    def __init__(
        self, context: multiprocessing.context.ForkServerContext, place: Place, last: int
    ) -> None:
        self.said = Killed()
        self.pipe, theirs = context.Pipe(duplex=False)
        arguments = (theirs, place.url, str(place.key), RUN, last)
        self.process = context.Process(target=post_rounds, args=arguments)
        self.process.start()
        theirs.close()

    def listen(self, marks: int | None = None) -> None:
        """Hear so many marks, or all there are until the pipe ends."""
        while marks is None or marks > 0:
            try:
                assert self.pipe.poll(PATIENCE), "the victim hangs"
                mark = self.pipe.recv_bytes()
            except EOFError:
                return
            self._hear(mark.decode())
            marks = None if marks is None else marks - 1

    def _hear(self, mark: str) -> None:
        self.said.inside = mark == "B"
        if mark.startswith("A"):
            self.said.acknowledged.append(int(mark[1:]))
        if mark[0] in "DE":
            self.said.ended = mark

    def kill(self) -> None:
        """No goodbye; then hear what it had said."""
        self.process.kill()
        self.process.join()
        self.listen()
        self.pipe.close()


def check(place: Place, acknowledged: set[int]) -> None:
    """The book holds; every acknowledged round is there, once; none is half there."""
    with Ledger(place.url, write=False) as ledger:
        found = ledger.verify()
        assert found.ok, found.fault
        rounds = [sealed.entry.round for sealed in ledger.entries()]
        assert rounds == list(range(1, len(rounds) + 1))
        assert acknowledged <= set(rounds)
        for sealed in ledger.entries():
            whole = random_round(RUN, sealed.entry.round, CLIENTS)
            assert len(sealed.entry.postings) == CLIENTS
            assert set(sealed.entry.statements) == set(whole.statements)
        state = ledger.state(RUN)
        assert (0 if state is None else int(state.content)) == len(rounds)


def finish(
    context: multiprocessing.context.ForkServerContext, place: Place, tmp_path: Path
) -> None:
    """The run goes on to its end, which is the one of a run that nobody disturbed."""
    with Ledger(place.url, write=False) as ledger:
        done = ledger.verify().entries
    victim = Victim(context, place, done + 5)
    victim.listen()
    victim.process.join()
    assert victim.said.ended == "D"
    check(place, set(victim.said.acknowledged))
    (tmp_path / "calm").mkdir()
    calm = new_place("sqlite", tmp_path / "calm")
    with Ledger(calm.url, calm.key) as undisturbed, Ledger(place.url, write=False) as ledger:
        for k in range(1, done + 6):
            undisturbed.post(random_round(RUN, k, CLIENTS))
        assert ledger.balances() == undisturbed.balances()


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_client_killed_at_random_moments(
    context: multiprocessing.context.ForkServerContext, kind: Kind, times: int, tmp_path: Path
) -> None:
    place = new_place(kind, tmp_path)
    Ledger(place.url, place.key).close()
    rng = np.random.default_rng(times)
    inside, acknowledged = 0, set[int]()
    for _ in range(times):
        victim = Victim(context, place, MOST_ROUNDS)
        victim.listen(int(rng.integers(0, 12)))  # some marks of its first rounds
        time.sleep(rng.uniform(0, LONGEST_WAIT))
        victim.kill()
        assert victim.process.exitcode == -signal.SIGKILL
        assert victim.said.ended == ""
        inside += victim.said.inside
        acknowledged |= set(victim.said.acknowledged)
        check(place, acknowledged)
    print(f"{inside} of {times} kills hit an open transaction; {len(acknowledged)} rounds posted")
    assert 3 * inside >= times, f"only {inside} of {times} kills hit an open transaction"
    assert acknowledged
    finish(context, place, tmp_path)


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server(binaries())
    yield running
    running.remove()


@pytest.mark.parametrize("times", SERVER_TIMES)
def test_a_server_killed_at_random_moments(
    context: multiprocessing.context.ForkServerContext, server: Server, times: int, tmp_path: Path
) -> None:
    place = new_place("postgresql", tmp_path, server)
    Ledger(place.url, place.key).close()
    rng = np.random.default_rng(times)
    acknowledged = set[int]()
    for _ in range(times):
        victim = Victim(context, place, MOST_ROUNDS)
        victim.listen(int(rng.integers(3, 30)))
        time.sleep(rng.uniform(0, LONGEST_WAIT))
        server.stop("immediate")
        victim.listen()  # it ends by itself, with an error of ours
        victim.process.join()
        assert victim.process.exitcode == 0
        assert victim.said.ended == "ELedgerUnavailable"
        server.start()
        acknowledged |= set(victim.said.acknowledged)
        check(place, acknowledged)
    assert acknowledged
    finish(context, place, tmp_path)


def test_marks_are_heard_in_order() -> None:
    """The counting of kills inside of transactions, without any."""
    victim = object.__new__(Victim)
    victim.said = Killed()
    heard = []
    for mark in ("B", "C", "A1", "B"):
        victim._hear(mark)
        heard.append(victim.said.inside)
    assert heard == [True, False, False, True]
    assert victim.said.acknowledged == [1]
