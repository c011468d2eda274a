"""Where the loss of accuracy came from: measured, or stated."""

import numpy as np

from pigou.report.charts import calibration as charts
from pigou.report.markup import chart, facts, paragraph
from pigou.report.section import Section
from pigou.report.words import counted, number
from pigou.runs import RunRecord
from pigou.runs.record import CalibrationRecord

TITLE = "Calibration: what noise costs in loss"


def calibration(record: RunRecord) -> Section:
    """Measured points, the fit that prices were made with, and the paper's bound."""
    found = record.calibration
    if found is None:
        stated = f"{number(record.linear)}·Δ + {number(record.quadratic)}·Δ²"
        told = f"Nothing was measured: the scenario states the loss of accuracy, {stated}. Prices "
        return Section.of("calibration", TITLE, paragraph(told + "are as good as this statement."))
    intro = (
        f"Before the run, the task was trained for {counted(found.rounds, 'round')} at "
        f"{counted(found.levels.size, 'level')} of noise, and without. What the noise added to the "
        "training loss was fitted; prices come from this fit. The paper's bound covers everything "
        "that could happen and lies far above what does."
    )
    shown = charts.drawable(found)
    parts = [paragraph(intro), facts(_facts(record, found))]
    if not shown.all():
        hidden = counted(int((~shown).sum()), "measurement")
        parts.append(
            paragraph(f"{hidden} of 0 or below cannot stand on log axes and are left out.")
        )
    if shown.any():
        caption = "Added training loss after the run, against the error Δ that caused it."
        parts.append(chart("calibration", charts.calibration(found), caption))
    return Section.of("calibration", TITLE, *parts)


def _facts(record: RunRecord, found: CalibrationRecord) -> list[tuple[str, object]]:
    fit = (
        f"({number(found.linear)} ± {number(found.linear_error)})·Δ + "
        f"({number(found.quadratic)} ± {number(found.quadratic_error)})·Δ² (standard errors)"
    )
    pairs: list[tuple[str, object]] = [("Fit", fit)]
    if record.bound is not None:
        linear, quadratic = record.bound
        pairs.append(("The paper's bound", f"{number(linear)}·Δ + {number(quadratic)}·Δ²"))
    with np.errstate(divide="ignore", invalid="ignore"):
        above = np.where(found.excess > 0, found.bounded / found.excess, np.nan)
    above = above[np.isfinite(above)]
    if above.size:
        times = f"{number(float(above.min()))} to {number(float(above.max()))} times the measured"
        pairs.append(("It lies at", times))
    pairs.append(("Smoothness L_F", number(found.smoothness)))
    pairs.append(("Distance to the optimum", number(found.distance)))
    return pairs
