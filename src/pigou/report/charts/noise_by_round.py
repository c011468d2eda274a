"""Noise across rounds: a panel for each of a few clients, the middle and the bulk of many."""

from typing import Any, Final

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from pigou.checks import FloatArray
from pigou.report import look
from pigou.report.charts.noise_by_client import ANNOUNCED, NOISE, on_log_axis
from pigou.report.crowd import quantiles
from pigou.report.markup import label
from pigou.report.reading import main, noisy
from pigou.runs import RunRecord

FEW: Final = 6  # clients up to which each gets a panel of its own
COLUMNS: Final = 3
PANEL_TICKS: Final = 5  # rounds with a number in a panel; more overlap on a telephone
PANEL, AROUND, BELOW_LEGEND = 220, 150, 44  # pixels


def noise_by_round(record: RunRecord) -> go.Figure:
    """Noise and its target, per round and treatment."""
    return _panels(record) if len(record.clients) <= FEW else _bulk(record)


def _bulk(record: RunRecord) -> go.Figure:
    """Median and middle 90 % of all clients."""
    traces = []
    for each in noisy(record):
        x = _rounds(each.rounds)
        low, middle, high = quantiles(look.drawable(each.sigma))
        traces.append(look.band(x, low, high, look.COLOURS[each.name]))
        traces.append(look.line(each, x, middle))
    shown = main(record)
    if shown is not None and shown.target is not None:
        middle = quantiles(look.drawable(shown.target))[1]
        traces.append(_target(_rounds(shown.rounds), middle))
    return look.figure(traces, *_axes(record))


def _panels(record: RunRecord) -> go.Figure:
    n = len(record.clients)
    rows = -(-n // COLUMNS)
    names = [label(client) for client in record.clients]
    grid = {"shared_yaxes": "all", "horizontal_spacing": 0.04, "vertical_spacing": 0.3 / rows}
    panels = make_subplots(rows, min(n, COLUMNS), subplot_titles=names, **grid)
    for i in range(n):
        for trace in _lines(record, i):
            panels.add_trace(trace, row=i // COLUMNS + 1, col=i % COLUMNS + 1)
    x, y = _axes(record)
    plain = look.figure([], x, y, height=AROUND + PANEL * rows).layout
    legend = {"y": 1.0 + BELOW_LEGEND / (PANEL * rows)}
    panels.update_layout(template="none", height=plain.height, font=plain.font)
    panels.update_layout(legend=plain.legend, margin=plain.margin, hoverlabel=plain.hoverlabel)
    panels.update_layout(legend=legend, margin={"t": 56 + BELOW_LEGEND})
    most = max(each.rounds for each in noisy(record))
    panels.update_xaxes(plain.xaxis)
    panels.update_xaxes(tick0=1, dtick=-(-most // PANEL_TICKS))
    panels.update_yaxes({**plain.yaxis.to_plotly_json(), "title": None})
    for row in range(1, rows + 1):
        panels.update_yaxes(title=plain.yaxis.title, row=row, col=1)
    return panels


def _lines(record: RunRecord, i: int) -> list[go.Scatter]:
    """One client's panel; the first one's traces speak for all in the legend."""
    lines = [
        look.line(each, _rounds(each.rounds), each.sigma[:, i], legendgroup=each.name)
        for each in noisy(record)
    ]
    shown = main(record)
    if shown is not None and shown.target is not None:
        lines.append(_target(_rounds(shown.rounds), shown.target[:, i]))
    for trace in lines:
        trace.showlegend = i == 0
    return lines


def _axes(record: RunRecord) -> tuple[dict[str, Any], dict[str, Any]]:
    shown = noisy(record)
    log = on_log_axis(record)
    noise = look.axis(NOISE, log=log, **({} if log else {"rangemode": "tozero"}))
    return look.rounds_axis(max(each.rounds for each in shown)), noise


def _target(x: FloatArray, y: FloatArray) -> go.Scatter:
    style = {"color": look.TARGET, "width": 1.5, "dash": "dot"}
    how = {"name": ANNOUNCED, "mode": "lines", "line": style, "legendgroup": ANNOUNCED}
    return go.Scatter(x=x, y=look.drawable(y), **how)


def _rounds(count: int) -> FloatArray:
    return np.arange(1.0, count + 1.0)
