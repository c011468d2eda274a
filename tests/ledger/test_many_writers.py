"""Several processes on one ledger: everybody's rounds are there, and nobody's twice."""

import multiprocessing
import threading
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pytest
from tests.ledger.databases import KINDS, Kind, Place, new_place
from tests.ledger.rounds import random_round, round_of
from tests.ledger.victim import CLIENTS, open_together, post_rounds

from pigou.ledger import Ledger
from pigou.ledger.errors import RoundAlreadySettled
from pigou.ledger.journal import Filter

WRITERS = 8
PATIENCE = 300.0  # seconds
TRIALS = 12  # all would pass by luck in one of a hundred runs


@pytest.fixture(scope="module")
def context() -> ForkServerContext:
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(["tests.ledger.victim"])
    return made


def last_words(pipe: Connection) -> str:
    said = ""
    while True:
        try:
            assert pipe.poll(PATIENCE), "a writer hangs"
            said = pipe.recv_bytes().decode()
        except EOFError:
            return said


@pytest.mark.parametrize(
    "rounds",
    [
        5,
        pytest.param(50, marks=pytest.mark.long),
        pytest.param(1000, marks=pytest.mark.soak),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_eight_processes(
    context: ForkServerContext, kind: Kind, rounds: int, tmp_path: Path
) -> None:
    """They also open the ledger at the same moment, when it is not there yet."""
    place = new_place(kind, tmp_path)
    pipes, processes = [], []
    for k in range(WRITERS):
        ours, theirs = context.Pipe(duplex=False)
        arguments = (theirs, place.url, str(place.key), f"run {k}", rounds)
        process = context.Process(target=post_rounds, args=arguments)
        process.start()
        theirs.close()
        pipes.append(ours)
        processes.append(process)
    assert [last_words(pipe) for pipe in pipes] == ["D"] * WRITERS
    for pipe, process in zip(pipes, processes, strict=True):
        process.join()
        pipe.close()
    with Ledger(place.url, write=False) as ledger:
        found = ledger.verify()
        assert found.ok, found.fault
        assert found.entries == WRITERS * rounds
        assert sum(each.amount for each in ledger.balances()) == 0
        for k in range(WRITERS):
            mine = [s.entry.round for s in ledger.entries(Filter(run=f"run {k}"))]
            assert mine == list(range(1, rounds + 1))
            assert random_round(f"run {k}", 1, CLIENTS).statements[0].run == f"run {k}"


def test_many_make_the_ledger_at_the_same_moment(
    context: ForkServerContext, tmp_path: Path
) -> None:
    """SQLite refuses at once, however patient it was told to be, where two set its log together:
    without waiting of our own about every third of these failed."""
    for trial in range(TRIALS):
        folder = tmp_path / str(trial)
        folder.mkdir()
        place = new_place("sqlite", folder)
        start = context.Barrier(WRITERS)
        said = context.SimpleQueue()
        arguments = (place.url, str(place.key), start, said)
        openers = [context.Process(target=open_together, args=arguments) for _ in range(WRITERS)]
        for opener in openers:
            opener.start()
        assert [said.get() for _ in openers] == [""] * WRITERS
        for opener in openers:
            opener.join()


def test_one_round_offered_by_two_writers(place: Place) -> None:
    """One wins; who has the same content is told that it is there, who has another is refused."""
    offers = [round_of("run", 1, [(k, 0), (0, k)]) for k in (1, 1, 2, 3)]
    barrier = threading.Barrier(len(offers))
    answers: list[str] = []

    def offer(k: int) -> None:
        with Ledger(place.url, place.key) as ledger:
            barrier.wait()
            try:
                answers.append("new" if ledger.post(offers[k]).new else "there")
            except RoundAlreadySettled:
                answers.append("refused")

    threads = [threading.Thread(target=offer, args=(k,)) for k in range(len(offers))]
    Ledger(place.url, place.key).close()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers.count("new") == 1
    with Ledger(place.url, write=False) as ledger:
        winner = ledger.balance("client-0")
        assert ledger.verify().entries == 1
    assert answers.count("there") == (1 if winner == 1 else 0)
    assert answers.count("refused") == (2 if winner == 1 else 3)


def test_one_ledger_object_in_many_threads(place: Place) -> None:
    with Ledger(place.url, place.key) as ledger:

        def post(run: str) -> None:
            for k in range(1, 6):
                ledger.post(random_round(run, k, 4))

        threads = [threading.Thread(target=post, args=(run,)) for run in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert ledger.verify().entries == 20


def test_a_reader_is_not_disturbed_by_a_writer(place: Place) -> None:
    """A reader sees the book as it was when it began to read."""
    with Ledger(place.url, place.key) as ledger, Ledger(place.url, write=False) as reader:
        ledger.post(random_round("run", 1))
        entries = reader.entries()
        next(entries)
        ledger.post(random_round("run", 2))
        assert list(entries) == []
        assert len(list(reader.entries())) == 2
