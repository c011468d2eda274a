"""What each client's uploads reveal of it."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from pigou.checks import FloatArray
from pigou.report import look
from pigou.report.charts import clients
from pigou.report.crowd import groups, wide
from pigou.report.reading import main, noisy
from pigou.report.words import SIGMA
from pigou.runs import RunRecord, TreatmentRecord

Column = tuple[FloatArray, dict[str, Any]]


def epsilon(record: RunRecord) -> go.Figure:
    """The exact epsilon after all rounds, and the paper's figure for the treatment told of."""
    columns = [_exact(each) for each in noisy(record)]
    shown = main(record)
    assert shown is not None
    columns.append(_paper(shown))
    log = wide(np.concatenate([values for values, _ in columns]), 10.0)
    loss = look.axis("privacy loss ε", log=log, **({} if log else {"rangemode": "tozero"}))
    n = len(record.clients)
    if clients.by_name(n):
        places = np.arange(n, dtype=np.float64)
        rows = [go.Scatter(x=values, y=places, **how) for values, how in columns]
        return look.figure(rows, loss, clients.rows(record.clients), clients.height(n))
    parts = groups(np.where(np.isfinite(shown.epsilon), shown.epsilon, np.inf))
    traces = [clients.points(values, parts, record.clients, how) for values, how in columns]
    return look.figure(traces, clients.rank_axis("privacy loss", n), loss)


def drawn(values: FloatArray) -> FloatArray:
    """Finite and above 0: what a log axis can show, and somebody has lost."""
    return np.where(np.isfinite(values) & (values > 0), values, np.nan)


def _exact(treatment: TreatmentRecord) -> Column:
    name = treatment.name
    marker = {"color": look.COLOURS[name], "symbol": look.SYMBOLS[name], "size": 9}
    how = {"name": f"exact, {look.LABELS[name]}", "mode": "markers", "marker": marker}
    return drawn(treatment.epsilon), how


def _paper(treatment: TreatmentRecord) -> Column:
    colour = look.COLOURS[treatment.name]
    marker = {"color": colour, "symbol": "x-thin", "size": 9, "line": {"width": 2, "color": colour}}
    name = f"the paper's cS/{SIGMA}, {look.LABELS[treatment.name]}"
    return drawn(treatment.paper_epsilon), {"name": name, "mode": "markers", "marker": marker}
