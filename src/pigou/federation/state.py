"""A coordinator's state between rounds, as a frozen value and as bytes."""

from collections.abc import Mapping
from dataclasses import dataclass

from pigou.checks import BoolArray
from pigou.federation.audit import Evidence
from pigou.federation.protocol import ReportValue
from pigou.federation.wire import Codec
from pigou.terms import Terms


@dataclass(frozen=True, kw_only=True, eq=False)
class CoordinatorState:
    """What a run needs to go on after the last closed round; no upload is part of it."""

    phase: str
    stopped: str
    round: int
    attempt: int
    reports: Mapping[str, ReportValue]
    eligible: BoolArray
    terms: Terms | None
    error: float | None
    evidence: Evidence


STATE_CLASSES = (CoordinatorState, Terms, Evidence)
STATE_CODEC = Codec(STATE_CLASSES)
