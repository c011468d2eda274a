"""Bills, refunds and the reserve."""

from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from pigou.checks import FloatArray
from pigou.report import look
from pigou.report.charts import clients
from pigou.report.crowd import groups
from pigou.report.markup import label
from pigou.report.words import MINUS
from pigou.runs import RunRecord, TreatmentRecord

NET: Final = f"net: owes (+) or is owed ({MINUS})"


def bills(record: RunRecord, treatment: TreatmentRecord) -> go.Figure:
    """What each client was charged and refunded in all rounds together, and what remains."""
    n = len(record.clients)
    money = look.axis(f"{label(record.currency)}, whole run")
    parts = _parts(treatment)
    if clients.by_name(n):
        traces = [_bar(*part, n) for part in parts]
        traces.append(go.Scatter(x=treatment.total, y=np.arange(n), **_net(treatment)))
        zero = {"zeroline": True, "zerolinecolor": "#555"}
        rows = clients.rows(record.clients)
        figure = look.figure(traces, {**money, **zero}, rows, clients.height(n))
        return figure.update_layout(barmode="relative", bargap=0.45)
    order = groups(treatment.total)
    traces = [
        clients.points(values, order, record.clients, _dots(name, colour))
        for name, values, colour in parts
    ]
    traces.append(clients.points(treatment.total, order, record.clients, _net(treatment)))
    zero = {"zeroline": True, "zerolinecolor": "#555"}
    ranked = clients.rank_axis("what they owe after all", n)
    return look.figure(traces, ranked, {**money, **zero})


def budget(record: RunRecord, treatment: TreatmentRecord) -> go.Figure:
    """Money charged and refunded in each round, and what the reserve holds after it."""
    x = np.arange(1.0, treatment.rounds + 1.0)
    charged = np.nan_to_num(treatment.charge).sum(axis=1)
    refunded = np.nan_to_num(treatment.refund).sum(axis=1)
    traces = [
        go.Bar(x=x, y=charged, name="charged", marker={"color": look.CHARGE}),
        go.Bar(x=x, y=-refunded, name=f"refunded ({MINUS})", marker={"color": look.REFUND}),
        look.line(treatment, x, treatment.reserve, name="the reserve holds"),
    ]
    money = look.axis(f"{label(record.currency)}, all clients together")
    zero = {"zeroline": True, "zerolinecolor": "#555"}
    rounds = look.rounds_axis(treatment.rounds)
    rounds["range"] = [0.4, treatment.rounds + 0.6]
    return look.figure(traces, rounds, {**money, **zero}).update_layout(barmode="relative")


def _parts(treatment: TreatmentRecord) -> list[tuple[str, FloatArray, str]]:
    """What a client's total is made of."""
    parts = [
        ("charged for noise", np.nan_to_num(treatment.charge).sum(axis=0), look.CHARGE),
        (f"refunded ({MINUS})", -np.nan_to_num(treatment.refund).sum(axis=0), look.REFUND),
    ]
    if treatment.transfers.any():
        parts.append(("transfer for the report", treatment.transfers, look.TRANSFER))
    return parts


def _bar(name: str, values: FloatArray, colour: str, n: int) -> go.Bar:
    marker = {"color": colour}
    return go.Bar(x=values, y=np.arange(n), orientation="h", name=name, marker=marker)


def _dots(name: str, colour: str) -> dict[str, Any]:
    return {"name": name, "mode": "markers", "marker": {"color": colour, "size": 6}}


def _net(treatment: TreatmentRecord) -> dict[str, Any]:
    colour = look.COLOURS[treatment.name]
    marker = {"color": colour, "symbol": "diamond", "size": 10}
    return {"name": NET, "mode": "markers", "marker": marker}
