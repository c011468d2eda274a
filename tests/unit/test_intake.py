"""No message can stop a run: thousands of malformed ones are refused, recorded and cost nothing."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from tests.unit.malformed import forced, junk, malformed, malformed_report

from pigou import AccuracyLoss, InvalidArgument, PigouError, Setting
from pigou.federation.bills import bill
from pigou.federation.coordinator import Coordinator, Phase
from pigou.federation.intake import LONGEST_NOTE, Intake, Reason
from pigou.federation.plan import Plan
from pigou.federation.protocol import CODEC, Report, Update
from pigou.mechanisms import Pigouvian
from pigou.terms import Round

D = 12
HONEST = ("a", "b", "c", "d", "e")
OFFENDERS = ("x", "y", "z")
SILENT = "mute"  # never reports
HEADER = {"UNKNOWN_CLIENT", "WRONG_RUN", "WRONG_ROUND", "LATE"}  # what is looked at first
NAMES = (*HONEST, *OFFENDERS, SILENT)


def opened(rounds: int, *, shy: str = SILENT) -> Coordinator:
    setting = Setting(len(NAMES), AccuracyLoss.bound(16.0, 2.0), 0.5)
    mechanism = Pigouvian(rounds=rounds)
    plan = Plan(consortium="club", run="run", clients=NAMES, setting=setting, mechanism=mechanism)
    coordinator = Coordinator(plan, ((D,),))
    coordinator.open()
    for k, name in enumerate(NAMES):
        if name != shy:
            assert coordinator.report(Report("run", name, 0.1 + 0.09 * k)) is None
    coordinator.close_reports()
    return coordinator


def good(coordinator: Coordinator, name: str) -> Update:
    said = coordinator.announcement()
    noise = np.random.default_rng([said.round, NAMES.index(name)]).normal(size=D)
    return Update("run", said.round, said.attempt, name, (noise,))


def played(coordinator: Coordinator) -> Round:
    for name in HONEST:
        assert coordinator.receive(good(coordinator, name)) is None
    return bill(coordinator.close_round())


def fuzzed(coordinator: Coordinator, messages: int, rng: np.random.Generator) -> Counter[str]:
    """One round in which malformed messages come between the honest ones; what was refused."""
    seen: Counter[str] = Counter()
    order = rng.permutation([*range(len(HONEST)), *([-1] * messages)])
    done: set[str] = set()
    for k in order.tolist():
        if k >= 0:
            done.add(HONEST[k])
            assert coordinator.receive(good(coordinator, HONEST[k])) is None
            continue
        reason, message = mischief(coordinator, done, rng)
        refusal = coordinator.receive(message)
        assert refusal is not None
        assert refusal.reason.name == reason
        assert len(refusal.detail) <= LONGEST_NOTE
        assert len(refusal.client) <= LONGEST_NOTE
        seen[reason] += 1
    return seen


def mischief(coordinator: Coordinator, done: set[str], rng: np.random.Generator) -> tuple[str, Any]:
    roll = rng.random()
    if roll < 0.05:
        return "NO_REPORT", good(coordinator, SILENT)
    if roll < 0.1 and done:
        return "DUPLICATE", good(coordinator, sorted(done)[0])
    sender = OFFENDERS[int(rng.integers(len(OFFENDERS)))]
    reason, message = malformed(good(coordinator, sender), ["stranger", "A", "a "], rng)
    if sender not in done:
        if reason == "WITHDRAWN":
            done.add(sender)
        return reason, message
    whose_arrays_are_looked_at = type(message) is Update and reason not in HEADER
    return ("DUPLICATE" if whose_arrays_are_looked_at else reason), message


def fuzz(rounds: int, messages: int) -> Counter[str]:
    """A whole run with offenders, beside the same run without them."""
    rng = np.random.default_rng(rounds)
    attacked, clean = opened(rounds), opened(rounds)
    seen: Counter[str] = Counter()
    for _ in range(rounds):
        before = sum(seen.values())
        expected = played(clean)
        seen += fuzzed(attacked, messages, rng)
        closed = attacked.close_round()
        assert bill(closed) == expected
        assert len(closed.refusals) == sum(seen.values()) - before == messages
    assert attacked.phase is Phase.CLOSED
    return seen


def test_malformed_updates_are_refused_and_change_no_bill() -> None:
    seen = fuzz(rounds=4, messages=100)
    assert sum(seen.values()) == 400


@pytest.mark.long
def test_thousands_of_malformed_updates_and_reports() -> None:
    seen = fuzz(rounds=50, messages=100)
    seen += fuzzed_reports(2000)
    assert sum(seen.values()) == 7000
    by_engines = {"NOT_SIGNED", "FAILED"}  # of what could not be offered: Coordinator.refuse
    assert {reason.name for reason in Reason} - by_engines == set(seen)
    assert min(seen.values()) >= 50, seen


def fuzzed_reports(messages: int) -> Counter[str]:
    """Malformed reports before the good ones, second reports after them, late ones at the end."""
    rng = np.random.default_rng(1)
    coordinator = opened(1, shy="nobody")
    plain = Coordinator(coordinator.plan, ((D,),))
    plain.open()
    seen: Counter[str] = Counter()
    for k in range(messages):
        name = NAMES[k % len(NAMES)]
        reason, report = malformed_report(Report("run", name, 0.5), rng)
        if k == messages // 2:
            for each in NAMES:
                assert plain.report(Report("run", each, 0.1 + 0.09 * NAMES.index(each))) is None
        if k >= messages // 2 and type(report) is Report and reason == "NOT_ALLOWED":
            reason = "DUPLICATE"
        refusal = plain.report(report)
        assert refusal is not None
        assert refusal.reason.name == reason
        seen[reason] += 1
    plain.close_reports()
    assert plain.terms == coordinator.terms
    assert len(plain.refusals) == messages
    return seen


def test_malformed_reports_change_no_terms() -> None:
    assert set(fuzzed_reports(300)) == {"UNKNOWN_CLIENT", "WRONG_RUN", "NOT_ALLOWED", "DUPLICATE"}


@pytest.mark.parametrize("which", range(len(junk())))  # pytest could not write them all out
def test_nothing_in_any_field_raises(which: int) -> None:
    coordinator, value = opened(1), junk()[which]
    update = good(coordinator, "x")
    for field in ("run", "round", "attempt", "client", "arrays"):
        assert coordinator.receive(forced(update, **{field: value})) is not None
    assert coordinator.receive(value) is not None


@pytest.mark.long
def test_damaged_messages_are_refused_or_are_messages() -> None:
    rng = np.random.default_rng(3)
    rounds = 20
    coordinator = opened(rounds)
    for _ in range(rounds):
        whole = CODEC.encode(good(coordinator, "x"))
        for _ in range(100):
            damaged = bytearray(whole)
            for at in rng.integers(len(whole), size=rng.integers(1, 6)).tolist():
                damaged[at] = int(rng.integers(256))
            try:
                message = CODEC.decode(bytes(damaged))
            except PigouError:
                continue
            coordinator.receive(message)
        closed = played(coordinator)
        assert sum(statement.net for statement in closed.statements) == 0


def test_good_uploads_come_in_any_number_format() -> None:
    for dtype in ("f2", "f4", "f8", ">f8", "i1", "u8", "i4"):
        coordinator = opened(1)
        part = np.arange(D).astype(dtype)
        assert coordinator.receive(Update("run", 1, 1, "a", (part,))) is None
        view = np.arange(2 * D).astype(dtype)[::2]
        assert coordinator.receive(Update("run", 1, 1, "b", (view,))) is None
        masked = np.ma.masked_less(np.arange(D, dtype=float), 3)
        assert coordinator.receive(Update("run", 1, 1, "c", (masked,))) is None
        statements = bill(coordinator.close_round()).statements
        assert len(statements) == 3
        assert sum(s.net for s in statements) == 0


def intake(eligible: list[bool]) -> Intake:
    plan = opened(1).plan
    return Intake(plan, 1, 1, ((D,),), np.array(eligible), 1e6)


def test_a_block_is_checked_row_by_row() -> None:
    n = len(NAMES)
    rows = np.zeros((n, D), np.float32)
    rows[0, 3], rows[1, 0], rows[2, 1], rows[3] = np.nan, -np.inf, 2e6, np.nan
    present = np.ones(n, np.bool_)
    present[3] = False  # nobody's numbers: whatever is there does not matter
    taken = intake([True] * (n - 1) + [False])
    taken.offer_block(rows, present)
    assert taken.arrived.tolist() == [False] * 4 + [True] * (n - 5) + [False]
    assert [(r.client, r.reason) for r in taken.refusals] == [
        ("a", Reason.NOT_FINITE),
        ("b", Reason.NOT_FINITE),
        ("c", Reason.TOO_LARGE),
        (SILENT, Reason.NO_REPORT),
    ]
    with pytest.raises(InvalidArgument, match="rows"):
        taken.offer_block(rows, present)


@pytest.mark.parametrize("rows", [np.zeros((2, D)), np.zeros((9, D - 1)), np.zeros((9, D), int)])
def test_a_block_of_another_form_is_the_engines_mistake(rows: Any) -> None:
    with pytest.raises(InvalidArgument, match="must be one float block"):
        intake([True] * 9).offer_block(rows, np.ones(9, np.bool_))
