"""What clients report before a run: checked one by one, the first valid one of each counts."""

from collections.abc import Mapping

import numpy as np

from pigou.checks import BoolArray, FloatArray, is_number
from pigou.errors import shown
from pigou.federation.intake import Objection, Reason, Refusal, named
from pigou.federation.plan import Plan
from pigou.federation.protocol import Report, ReportValue
from pigou.terms import Interval
from pigou.terms import Reports as Space


class Reports:
    """The reports of one run. A client that reports nothing valid takes no part in the run."""

    def __init__(self, plan: Plan, accepted: Mapping[str, ReportValue] | None = None) -> None:
        self._plan, self._names = plan, frozenset(plan.clients)
        self.accepted: dict[str, ReportValue] = dict(accepted or {})
        self.refusals: list[Refusal] = []

    def offer(self, report: object, *, late: bool = False) -> Refusal | None:
        """Take one report, or say why not; ``late``: terms have been made without it."""
        found = (Reason.LATE, "") if late else self._objection(report)
        if found is None:
            return None
        sender = named(report.client) if type(report) is Report else ""
        refusal = Refusal(0, sender, *found)
        self.refusals.append(refusal)
        return refusal

    def eligible(self) -> BoolArray:
        """Who takes part: everyone where nothing is asked, else those who reported."""
        if self._plan.mechanism.report_space is None:
            return np.ones(len(self._plan.clients), np.bool_)
        return np.array([client in self.accepted for client in self._plan.clients])

    def values(self) -> FloatArray | None:
        """One row per client. Those who did not report still use the model, and count in M: as the
        middle of what could be reported, which nobody's report can move."""
        space = self._plan.mechanism.report_space
        if space is None:
            return None
        pairs = zip(self._plan.clients, self._plan.setting.spread.tolist(), strict=True)
        stand_in = [self.accepted.get(name, middle(space, spread)) for name, spread in pairs]
        return np.array(stand_in, dtype=np.float64)

    def _objection(self, report: object) -> Objection | None:
        """Why not; None once the report is taken."""
        if type(report) is not Report:
            return Reason.NOT_ALLOWED, type(report).__name__
        if type(report.client) is not str or report.client not in self._names:
            return Reason.UNKNOWN_CLIENT, named(report.client)
        if type(report.run) is not str or report.run != self._plan.run:
            return Reason.WRONG_RUN, named(report.run)
        if report.client in self.accepted:
            return Reason.DUPLICATE, ""
        if not allowed(report.value, self._plan.mechanism.report_space):
            return Reason.NOT_ALLOWED, shown(report.value)
        value = report.value
        self.accepted[report.client] = (
            (float(value[0]), float(value[1])) if isinstance(value, tuple) else float(value)
        )
        return None


def middle(space: Space, spread: float) -> ReportValue:
    """The middle of a report space; of a spread, what is publicly known of it."""
    if isinstance(space, Interval):
        return (space.low + space.high) / 2.0
    menu = sorted(part for part in space if not isinstance(part, Interval))
    if menu:
        return float(menu[(len(menu) - 1) // 2])
    alpha = next(part for part in space if isinstance(part, Interval))
    return (alpha.low + alpha.high) / 2.0, spread


def allowed(value: object, space: Space | Interval | None) -> bool:
    """Whether a report lies in a report space: an interval, a menu, or a pair of intervals."""
    if space is None:
        return False
    if isinstance(space, Interval):
        return is_number(value) and space.low <= value <= space.high
    intervals = [part for part in space if isinstance(part, Interval)]
    if not intervals:
        return is_number(value) and value in space
    if not isinstance(value, tuple) or len(value) != len(intervals):
        return False
    return all(allowed(part, interval) for part, interval in zip(value, intervals, strict=True))
