"""What noise costs in loss: measured, fitted, and as the paper bounds it (section 10)."""

from typing import Final

import numpy as np
import plotly.graph_objects as go

from pigou.checks import BoolArray, FloatArray
from pigou.report import look
from pigou.runs.record import CalibrationRecord

MEASURED, FITTED, BOUND = "#0072b2", "#000000", "#cc79a7"
ALMOST: Final = 1.0 - 1e-3  # an error bar that would reach 0 ends just above it, off the chart
MARGIN: Final = 2.0  # room above and below what is drawn, as a factor


def calibration(record: CalibrationRecord) -> go.Figure:
    """Excess loss against the error that caused it, on log axes."""
    shown = drawable(record)
    x, excess, error = record.levels[shown], record.excess[shown], record.excess_error[shown]
    down = np.minimum(error, ALMOST * excess)
    bars = {"type": "data", "symmetric": False, "array": error, "arrayminus": down, "thickness": 1}
    points = go.Scatter(
        x=x,
        y=excess,
        error_y=bars,
        name="measured, with its standard error",
        mode="markers",
        marker={"color": MEASURED, "size": 8},
    )
    order = np.argsort(record.levels)
    lines = [
        _line(record.levels[order], record.fitted[order], "fitted: prices come from this", FITTED),
        _line(record.levels[order], record.bounded[order], "the paper's bound", BOUND, "dash"),
    ]
    drawn = np.concatenate([excess, record.fitted, record.bounded])
    drawn = drawn[np.isfinite(drawn) & (drawn > 0)]
    ends = np.log10([drawn.min() / MARGIN, drawn.max() * MARGIN]).tolist()
    return look.figure(
        [points, *lines],
        look.axis("error Δ, per number", log=True),
        look.axis("excess training loss", log=True, range=ends),
    )


def drawable(record: CalibrationRecord) -> BoolArray:
    """The measurements that log axes can show."""
    values = np.stack([record.levels, record.excess])
    return np.asarray((np.isfinite(values) & (values > 0)).all(axis=0))


def _line(x: FloatArray, y: FloatArray, name: str, colour: str, dash: str = "solid") -> go.Scatter:
    positive = np.where(y > 0, look.drawable(y), np.nan)
    style = {"color": colour, "dash": dash, "width": 1.5}
    return go.Scatter(x=x, y=positive, name=name, mode="lines", line=style)
