"""The noise that each client chose against the noise announced for it."""

from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from pigou.checks import FloatArray
from pigou.report import look
from pigou.report.charts import clients
from pigou.report.crowd import groups, wide
from pigou.report.reading import last_noise, last_target, main, noisy
from pigou.report.words import SIGMA
from pigou.runs import RunRecord

NOISE: Final = f"noise {SIGMA}, per number"
ANNOUNCED: Final = "announced target"
Column = tuple[FloatArray, dict[str, Any]]


def noise_by_client(record: RunRecord) -> go.Figure:
    """Each client's last upload: a row each or, where they are many, in order."""
    columns, log = _columns(record), on_log_axis(record)
    noise = look.axis(NOISE, log=log, **({} if log else {"rangemode": "tozero"}))
    n = len(record.clients)
    if clients.by_name(n):
        places = np.arange(n, dtype=np.float64)
        rows = [go.Scatter(x=look.drawable(values), y=places, **how) for values, how in columns]
        return look.figure(rows, noise, clients.rows(record.clients), clients.height(n))
    key, order = _order(record)
    parts = groups(key)
    traces = [clients.points(values, parts, record.clients, how) for values, how in columns]
    return look.figure(traces, clients.rank_axis(order, n), noise)


def on_log_axis(record: RunRecord) -> bool:
    """Whether the noise spans so much that it takes a log axis, which has no place for 0."""
    return wide(np.concatenate([values for values, _ in _columns(record)]))


def _columns(record: RunRecord) -> list[Column]:
    """What is drawn of each client, and how."""
    columns = []
    for each in noisy(record):
        marker = {"color": look.COLOURS[each.name], "symbol": look.SYMBOLS[each.name], "size": 8}
        how = {"name": look.LABELS[each.name], "mode": "markers", "marker": marker}
        columns.append((last_noise(each), how))
    shown = main(record)
    if shown is not None and shown.target is not None:
        edge = {"width": 1.5, "color": look.TARGET}
        marker = {"symbol": "diamond-open", "size": 13, "color": look.TARGET, "line": edge}
        how = {"name": ANNOUNCED, "mode": "markers", "marker": marker}
        columns.append((last_target(shown), how))
    return columns


def _order(record: RunRecord) -> tuple[FloatArray, str]:
    shown = main(record)
    if shown is None or shown.target is None:
        return record.alpha, "how much they care for privacy"
    return last_target(shown), "announced noise"
