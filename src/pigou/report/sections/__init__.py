"""The parts of the page, in reading order."""

from typing import Final

from pigou.report.sections.attacks import attacks
from pigou.report.sections.audit import audit
from pigou.report.sections.calibration import calibration
from pigou.report.sections.certificate import certificate
from pigou.report.sections.conducts import conducts
from pigou.report.sections.faults import faults
from pigou.report.sections.limits import limits
from pigou.report.sections.money import bills, budget
from pigou.report.sections.noise import noise
from pigou.report.sections.outcome import outcome
from pigou.report.sections.privacy import privacy
from pigou.report.sections.scenario import scenario
from pigou.report.sections.setup import setup
from pigou.report.sections.training import cost, training

SECTIONS: Final = (
    outcome,
    setup,
    training,
    cost,
    noise,
    bills,
    budget,
    privacy,
    audit,
    faults,
    conducts,
    attacks,
    certificate,
    calibration,
    limits,
    scenario,
)
