"""Accuracy, loss, social cost and error, per round and treatment."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from pigou.checks import FloatArray
from pigou.report import look
from pigou.report.crowd import wide
from pigou.report.reading import noisy, ratio
from pigou.runs import RunRecord, TreatmentRecord


def accuracy(record: RunRecord) -> go.Figure:
    """The share of test samples that the model gets right, before round 1 and after each."""
    lines = [_model(each, 100.0 * each.accuracy) for each in _closed(record)]
    return look.figure(lines, _rounds(record, 0), look.axis("test accuracy, %"))


def loss(record: RunRecord) -> go.Figure:
    """The training loss, before round 1 and after each."""
    closed = _closed(record)
    log = wide(np.concatenate([each.loss for each in closed]))
    lines = [_model(each, each.loss) for each in closed]
    return look.figure(lines, _rounds(record, 0), look.axis("training loss", log=log))


def social_cost(record: RunRecord) -> go.Figure:
    """Social cost over the least possible, per round."""
    shown = noisy(record)
    log = wide(np.concatenate([ratio(each) for each in shown]))
    lines = [look.line(each, _numbers(each), ratio(each)) for each in shown]
    most = max(each.rounds for each in shown)
    least = _level([1, most], [1.0, 1.0], "the least possible")
    title = "social cost over the least"
    return look.figure([*lines, least], _rounds(record), look.axis(title, log=log))


def error(record: RunRecord) -> go.Figure:
    """The error of the aggregate: that of the noise played, and as the deviations show it."""
    shown = noisy(record)
    played = [look.line(each, _numbers(each), each.error_true) for each in shown]
    seen = [_estimate(each) for each in shown]
    both = [each.error_true for each in shown] + [each.error_estimate for each in shown]
    log = wide(np.concatenate(both))
    title = "error Δ, per number"
    return look.figure([*played, *seen], _rounds(record), look.axis(title, log=log))


def _closed(record: RunRecord) -> Sequence[TreatmentRecord]:
    return [each for each in record.treatments if each.rounds]


def _model(treatment: TreatmentRecord, values: FloatArray) -> go.Scatter:
    return look.line(treatment, np.arange(treatment.rounds + 1.0), values)


def _estimate(treatment: TreatmentRecord) -> go.Scatter:
    return look.line(
        treatment,
        _numbers(treatment),
        treatment.error_estimate,
        name=f"{look.LABELS[treatment.name]}: seen in the deviations",
        mode="markers",
        marker={"symbol": "x-thin-open", "size": 9, "color": look.COLOURS[treatment.name]},
    )


def _numbers(treatment: TreatmentRecord) -> FloatArray:
    return np.arange(1.0, treatment.rounds + 1.0)


def _rounds(record: RunRecord, first: int = 1) -> dict[str, Any]:
    return look.rounds_axis(max(each.rounds for each in record.treatments), first)


def _level(x: Sequence[float], y: Sequence[float], name: str) -> go.Scatter:
    return go.Scatter(x=x, y=y, name=name, mode="lines", line={"color": look.TARGET, "width": 1})
