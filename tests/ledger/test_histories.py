"""Any history of posts, repeats, conflicts, reversals and crashes leaves a book that holds.

A crash is an error thrown at some statement of a transaction, before its commit or after it, with
the ledger opened anew; what was promised before must be there, and nothing else.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import event
from tests.ledger.databases import KINDS, Kind, new_place
from tests.ledger.rounds import random_round, round_of

from pigou.ledger import Ledger
from pigou.ledger.errors import RoundAlreadySettled, UnknownRun
from pigou.terms import Round

RUNS = st.sampled_from(["a", "b"])
NUMBERS = st.integers(0, 4)
SEEDS = st.integers(0, 3)


class Crashed(BaseException):
    """The process dies here."""


@contextmanager
def crashing(ledger: Ledger, hook: str, after: int) -> Iterator[None]:
    """Die at the given statement, or at the commit."""
    left = after

    def count(*_: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Crashed

    engine = ledger._store.engine
    event.listen(engine, hook, count)
    try:
        yield
    except Crashed:
        pass
    finally:
        event.remove(engine, hook, count)


def a_round(run: str, number: int, seed: int) -> Round:
    if number == 0:
        return round_of(run, 0, [(seed * 7, 0), (seed, 0)])
    return random_round(run, number, 2 + seed, seed)


class Histories(RuleBasedStateMachine):
    """What a book must hold, kept beside it in a dictionary."""

    kind: Kind = "sqlite"

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.place = new_place(self.kind, Path(self.folder.name))
        self.ledger = Ledger(self.place.url, self.place.key)
        self.settled: dict[tuple[str, int], Round] = {}
        self.states: dict[str, bytes] = {}
        self.parts: dict[str, tuple[bytes, ...]] = {"a": (), "b": ()}
        self.reversed: set[tuple[str, int]] = set()

    def teardown(self) -> None:
        self.ledger.close()
        self.folder.cleanup()

    def reopen(self) -> None:
        self.ledger.close()
        self.ledger = Ledger(self.place.url, self.place.key)

    @rule(run=RUNS, number=NUMBERS, seed=SEEDS)
    def post(self, run: str, number: int, seed: int) -> None:
        offered, there = a_round(run, number, seed), self.settled.get((run, number))
        state, part = bytes([number, seed]), bytes([seed, number])
        if there is None:
            assert self.ledger.post(offered, state, part).new
            self.settled[run, number], self.states[run] = offered, state
            self.parts[run] += (part,)
        elif there == offered:
            assert not self.ledger.post(offered, state, part).new
        else:
            with pytest.raises(RoundAlreadySettled):
                self.ledger.post(offered, state, part)

    @rule(run=RUNS, number=NUMBERS)
    def reverse(self, run: str, number: int) -> None:
        if (run, number) not in self.settled:
            with pytest.raises(UnknownRun):
                self.ledger.reverse(run, number, "wrong")
            return
        new = self.ledger.reverse(run, number, "wrong").new
        assert new == ((run, number) not in self.reversed)
        self.reversed.add((run, number))

    @rule(run=RUNS, number=NUMBERS, seed=SEEDS, after=st.integers(0, 9))
    def crash_within(self, run: str, number: int, seed: int, after: int) -> None:
        if (run, number) not in self.settled:
            with crashing(self.ledger, "before_cursor_execute", after):
                self.ledger.post(a_round(run, number, seed), b"never" * 9, b"part")
                self.settled[run, number] = a_round(run, number, seed)  # it was over before
                self.states[run] = b"never" * 9
                self.parts[run] += (b"part",)
        self.reopen()

    @rule(run=RUNS, number=NUMBERS, seed=SEEDS)
    def crash_at_the_commit(self, run: str, number: int, seed: int) -> None:
        if (run, number) not in self.settled:
            with crashing(self.ledger, "commit", 0):
                self.ledger.post(a_round(run, number, seed), b"never", b"never")
                pytest.fail("there is a commit")
        self.reopen()

    @precondition(lambda self: self.settled)
    @rule(seed=SEEDS, data=st.data())
    def crash_at_a_reversal(self, seed: int, data: st.DataObject) -> None:
        run, number = data.draw(st.sampled_from(sorted(self.settled)))
        if (run, number) not in self.reversed:
            with crashing(self.ledger, "commit", 0):
                self.ledger.reverse(run, number, "wrong")
        self.reopen()

    @rule()
    def opened_anew(self) -> None:
        self.reopen()

    @invariant()
    def the_book_holds(self) -> None:
        expected: Counter[tuple[str, str]] = Counter()
        for where, settled in self.settled.items():
            sign = 0 if where in self.reversed else 1
            for statement in settled.statements:
                expected["client", statement.client] += sign * statement.net
            expected["reserve", settled.consortium] -= sign * settled.reserve
        found = Counter({(b.kind, b.owner): b.amount for b in self.ledger.balances()})
        assert +found == +expected
        assert -found == -expected
        assert sum(found.values()) == 0
        held = self.ledger.verify()
        assert held.ok, held.fault
        assert held.entries == len(self.settled) + len(self.reversed)
        for run in ("a", "b"):
            state = self.ledger.state(run)
            assert (None if state is None else state.content) == self.states.get(run)
            assert (() if state is None else state.history) == self.parts[run]


def machine(kind: Kind) -> type[Histories]:
    return type("On" + kind, (Histories,), {"kind": kind})


@pytest.mark.parametrize(
    ("sqlite", "postgresql", "steps"),
    [(15, 6, 20), pytest.param(100, 30, 50, marks=pytest.mark.long)],
)
@pytest.mark.parametrize("kind", KINDS)
def test_histories(kind: Kind, sqlite: int, postgresql: int, steps: int) -> None:
    run_state_machine_as_test(
        machine(kind),
        settings=settings(
            max_examples=sqlite if kind == "sqlite" else postgresql,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
