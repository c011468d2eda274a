"""The server's state machine for one run: it knows no engine, no network, no ledger and no key.

open -> reports -> rounds 1 .. T (collect, validate, aggregate, deviations, statements, revise) ->
closed. It holds a Setting and what clients chose to report, never a client's type.
"""

from collections import Counter
from enum import Enum
from typing import Self

import numpy as np

from pigou.checks import BoolArray
from pigou.errors import PigouError, require
from pigou.federation import bills, rounds
from pigou.federation.audit import Evidence
from pigou.federation.intake import Intake, Reason, Refusal, Shapes
from pigou.federation.plan import Plan
from pigou.federation.protocol import Announcement, Array
from pigou.federation.reports import Reports
from pigou.federation.rounds import Book, ClosedRound
from pigou.federation.state import CoordinatorState
from pigou.game import Setting
from pigou.terms import Round, Terms


class Phase(Enum):
    """Where a run is."""

    NEW = "not open yet"
    REPORTS = "waiting for reports"
    ROUND = "collecting uploads"
    CLOSED = "closed"


class OutOfPhase(PigouError):  # noqa: N818
    """A call that this phase of the run does not take."""

    def __init__(self, call: str, phase: Phase) -> None:
        super().__init__(f"{call} must not be called while the run is {phase.value}")


class Coordinator:
    """One run. Every engine drives it in the same order; it never raises for a client's fault."""

    def __init__(self, plan: Plan, shapes: Shapes) -> None:
        size = sum(int(np.prod(shape)) for shape in shapes)
        require(size > 0, "shapes", "must hold at least one number", shapes)
        self.plan, self.shapes = plan, shapes
        self.phase = Phase.NEW
        self.stopped = ""  # why the run ended before its last round
        self.terms: Terms | None = None
        self.eligible: BoolArray = np.zeros(plan.setting.n, np.bool_)  # whose reports count
        self._reports = Reports(plan)
        self._outside: list[Refusal] = []
        self._round, self._attempt = 0, 1
        self._error: float | None = None
        self._evidence = Evidence.none(plan.setting.n)
        self._intake: Intake | None = None

    def open(self) -> Announcement:
        """Announce the run and wait for reports, if the mechanism asks for any."""
        self._require(Phase.NEW, "open")
        self.phase = Phase.REPORTS
        return self.announcement()

    def announcement(self) -> Announcement:
        """What clients are told now: before reports, or before the current round."""
        plan, setting = self.plan, self.plan.setting
        return Announcement(
            consortium=plan.consortium,
            run=plan.run,
            round=self._round,
            attempt=self._attempt,
            rounds=plan.mechanism.rounds,
            clients=plan.clients,
            mechanism=plan.mechanism.name,
            report_space=plan.mechanism.report_space,
            loss=setting.loss,
            privacy_scale=setting.privacy_scale,
            spread=setting.spread,
            divergence=setting.divergence,
            currency=plan.currency,
            largest=self._largest,
            audit=plan.audit,
            terms=self.terms,
            error=self._error,
        )

    def report(self, report: object) -> Refusal | None:
        """Take one report, or say why not, at any time; the first valid one of a client counts."""
        return self._reports.offer(report, late=self.phase is not Phase.REPORTS)

    def close_reports(self) -> Round | None:
        """Make the terms, start round 1, and return the report transfers, if there are any."""
        self._require(Phase.REPORTS, "close_reports")
        self.eligible = self._reports.eligible()
        if not self.plan.setting.weights[self.eligible].sum() > 0:
            self.close("no client of positive weight reported")
            return None
        try:
            self.terms = rounds.first_terms(self.plan, self.setting, self._reports.values())
        except PigouError as error:
            self.close(f"no terms for these reports: {error}")
            return None
        self._error = self.terms.error
        self._start(1, attempt=1)
        return bills.transfers(self.plan, self.terms, self.eligible)

    @property
    def setting(self) -> Setting:
        """The setting of the clients that take part; all of the plan's count in M."""
        whole = self.plan.setting
        return whole if self.eligible.all() else whole.restricted(self.eligible)

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """Messages refused outside of any round; a round's own are in its record."""
        return (*self._reports.refusals, *self._outside)

    def receive(self, update: object) -> Refusal | None:
        """Take one upload of the current round, or say why not; any phase, any fault."""
        if self._intake is not None:
            return self._intake.offer(update)
        reason = Reason.LATE if self.phase is Phase.CLOSED else Reason.WRONG_ROUND
        refusal = Refusal.of(self._round, update, reason, f"the run is {self.phase.value}")
        self._outside.append(refusal)
        return refusal

    def refuse(self, client: str, reason: Reason, detail: str = "") -> None:
        """Record what an engine could not even offer: no reply, or one that is not the client's."""
        if self._intake is not None:
            self._intake.refuse(client, reason, detail)
        else:
            self._outside.append(Refusal(self._round, client, reason, detail))

    def receive_block(self, rows: Array, present: BoolArray) -> None:
        """Take the uploads of all present clients at once, as rows of one array."""
        self._open_intake("receive_block").offer_block(rows, present)

    def close_round(self) -> ClosedRound:
        """Bill the round, or declare it void; the next round, or another attempt, is open then."""
        intake = self._open_intake("close_round")
        closed = rounds.close(self._book(), intake)
        self.terms = closed.next_terms
        if closed.judgement is not None:
            self._error = closed.judgement.error or self._error
            self._evidence = closed.judgement.audit.evidence
        if not closed.void:
            self._start(self._round + 1, attempt=1)
        elif self._attempt < self.plan.limits.max_attempts:
            self._start(self._round, self._attempt + 1)
        else:
            self.close(f"round {self._round} was void {self._attempt} times{_why(closed)}")
        return closed

    def close(self, why: str = "") -> None:
        """End the run; nothing is taken any more."""
        self.phase, self._intake = Phase.CLOSED, None
        self.stopped = self.stopped or why

    def state(self) -> CoordinatorState:
        """All that another coordinator with the same plan needs to go on from here."""
        return CoordinatorState(
            phase=self.phase.name,
            stopped=self.stopped,
            round=self._round,
            attempt=self._attempt,
            reports=self._reports.accepted,
            eligible=self.eligible,
            terms=self.terms,
            error=self._error,
            evidence=self._evidence,
        )

    @classmethod
    def resume(cls, plan: Plan, shapes: Shapes, state: CoordinatorState) -> Self:
        """A coordinator that goes on from a state."""
        self = cls(plan, shapes)
        self.phase, self.stopped = Phase[state.phase], state.stopped
        self.terms, self.eligible = state.terms, state.eligible
        self._reports = Reports(plan, state.reports)
        self._error, self._evidence = state.error, state.evidence
        self._round, self._attempt = state.round, state.attempt
        if self.phase is Phase.ROUND:
            self._start(state.round, state.attempt)
        return self

    def _start(self, round_: int, attempt: int) -> None:
        self._round, self._attempt = round_, attempt
        if round_ > self.plan.mechanism.rounds:
            self.close()
            return
        self.phase = Phase.ROUND
        parts = (self.shapes, self.eligible, self._largest)
        self._intake = Intake(self.plan, round_, attempt, *parts)

    @property
    def _largest(self) -> float:
        limit = self.plan.limits.largest
        return limit if self.terms is None else min(limit, rounds.largest_bookable(self.terms))

    def _book(self) -> Book:
        if self.terms is None:
            raise OutOfPhase("close_round", self.phase)
        return Book(
            plan=self.plan,
            setting=self.setting,
            terms=self.terms,
            reports=self._reports.values(),
            eligible=self.eligible,
            evidence=self._evidence,
            round=self._round,
            attempt=self._attempt,
        )

    def _open_intake(self, call: str) -> Intake:
        if self.phase is not Phase.ROUND or self._intake is None:
            raise OutOfPhase(call, self.phase)
        return self._intake

    def _require(self, phase: Phase, call: str) -> None:
        if self.phase is not phase:
            raise OutOfPhase(call, self.phase)


def _why(closed: ClosedRound) -> str:
    """The commonest fault of the uploads that were refused, if there were any."""
    reasons = [each.reason for each in closed.refusals if each.reason is not Reason.WITHDRAWN]
    if not reasons:
        return ""
    reason, times = Counter(reasons).most_common(1)[0]
    uploads = "upload was" if times == 1 else "uploads were"
    return f"; at last {times} {uploads} refused: {reason.value}"
