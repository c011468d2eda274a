"""Scenarios run as trainings: what is assembled, what happens, and what it leaves behind."""

from pigou.runs.arms import arms
from pigou.runs.execution import Step, execute
from pigou.runs.folder import read, write
from pigou.runs.preparing import Ready, prepare
from pigou.runs.record import TREATMENTS, RunRecord, TreatmentRecord
from pigou.runs.recording import run

__all__ = [
    "TREATMENTS",
    "Ready",
    "RunRecord",
    "Step",
    "TreatmentRecord",
    "arms",
    "execute",
    "prepare",
    "read",
    "run",
    "write",
]
