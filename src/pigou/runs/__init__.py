"""Scenarios run as trainings: what is assembled, what happens, and what it leaves behind."""

from pigou.runs.arms import arms, require_treatments
from pigou.runs.attacking import attack_scene, measure_attacks
from pigou.runs.execution import Kept, Step, execute
from pigou.runs.folder import read, write
from pigou.runs.preparing import Ready, prepare
from pigou.runs.record import TREATMENTS, RunRecord, TreatmentRecord
from pigou.runs.recording import run

__all__ = [
    "TREATMENTS",
    "Kept",
    "Ready",
    "RunRecord",
    "Step",
    "TreatmentRecord",
    "arms",
    "attack_scene",
    "execute",
    "measure_attacks",
    "prepare",
    "read",
    "require_treatments",
    "run",
    "write",
]
