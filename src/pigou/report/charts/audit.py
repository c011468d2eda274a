"""What the noise audit found, and who was missing."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from pigou.checks import FloatArray
from pigou.report import look
from pigou.report.charts import clients
from pigou.report.reading import absent
from pigou.runs import RunRecord, TreatmentRecord

WORDS: Final = tuple(look.FLAG_COLOURS)
EDGE: Final = "#9a9a9a"


def flag_map(record: RunRecord, treatment: TreatmentRecord, who: Sequence[int]) -> go.Figure:
    """Clients by rounds, each cell in the colour of its flag."""
    chosen = list(who)
    flags = treatment.flags[:, chosen].T
    codes = np.select([flags == word for word in WORDS], range(len(WORDS)), default=np.nan)
    last = len(WORDS) - 1
    steps = [
        (edge / len(WORDS), colour)
        for k, colour in enumerate(look.FLAG_COLOURS.values())
        for edge in (k, k + 1)
    ]
    cells = go.Heatmap(
        x=np.arange(1, treatment.rounds + 1),
        y=np.arange(len(chosen)),
        z=codes,
        text=flags,
        hovertemplate="round %{x}: %{text}<extra></extra>",
        zmin=-0.5,
        zmax=last + 0.5,
        colorscale=steps,
        showscale=False,
        xgap=1,
        ygap=1,
    )
    names = clients.rows([record.clients[i] for i in chosen])
    rounds = look.rounds_axis(treatment.rounds)
    rounds.update(range=[0.5, treatment.rounds + 0.5], showgrid=False)
    names.update(showgrid=False)
    height = clients.height(len(chosen))
    figure = look.figure([cells, *_legend()], rounds, names, height)
    return figure.update_layout(plot_bgcolor="#c4c4c4")


def flag_counts(treatment: TreatmentRecord) -> go.Figure:
    """How many clients got which flag, per round."""
    x = np.arange(1, treatment.rounds + 1)
    bars = [
        go.Bar(x=x, y=_count(treatment, word), name=word, marker=_marker(word)) for word in WORDS
    ]
    rounds = look.rounds_axis(treatment.rounds)
    rounds["range"] = [0.4, treatment.rounds + 0.6]
    figure = look.figure(bars, rounds, look.axis("clients"))
    return figure.update_layout(barmode="stack")


def uploads(record: RunRecord) -> go.Figure:
    """How many uploads were accepted, per round and treatment."""
    shown = [each for each in record.treatments if each.rounds]
    lines = [
        look.line(each, np.arange(1.0, each.rounds + 1.0), len(record.clients) - absent(each))
        for each in shown
    ]
    most = max(each.rounds for each in shown)
    whole = look.axis("uploads accepted", rangemode="tozero", tickformat="d")
    return look.figure(lines, look.rounds_axis(most), whole)


def _legend() -> list[go.Scatter]:
    """Heat maps have no legend: empty traces that carry one."""
    return [
        go.Scatter(x=[None], y=[None], mode="markers", name=word, marker=_marker(word, 13))
        for word in WORDS
    ]


def _marker(word: str, size: int | None = None) -> dict[str, Any]:
    marker: dict[str, Any] = {"color": look.FLAG_COLOURS[word], "line": {"color": EDGE, "width": 1}}
    return marker if size is None else {**marker, "symbol": "square", "size": size}


def _count(treatment: TreatmentRecord, word: str) -> FloatArray:
    return np.asarray((treatment.flags == word).sum(axis=1), dtype=np.float64)
