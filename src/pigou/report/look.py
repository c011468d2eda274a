"""How charts look: one colour, dash and symbol per treatment everywhere, apart for all eyes.

The colours are Okabe and Ito's, which people with any colour vision can tell apart; dashes and
symbols say the same once more, for prints in black and white.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from pigou.checks import FloatArray
from pigou.federation.audit import Flag
from pigou.runs import TreatmentRecord
from pigou.runs.record import TreatmentName

COLOURS: Mapping[TreatmentName, str] = MappingProxyType(
    {"no noise": "#6a6a6a", "unpriced": "#d55e00", "priced": "#0072b2"}
)
DASHES: Mapping[TreatmentName, str] = MappingProxyType(
    {"no noise": "dot", "unpriced": "dash", "priced": "solid"}
)
SYMBOLS: Mapping[TreatmentName, str] = MappingProxyType(
    {"no noise": "square", "unpriced": "triangle-up", "priced": "circle"}
)
LABELS: Mapping[TreatmentName, str] = MappingProxyType(
    {
        "no noise": "without noise",
        "unpriced": "without prices",
        "priced": "with prices",
    }
)
TARGET: Final = "#000000"
CHARGE, REFUND, TRANSFER = "#7a7a7a", "#c9c9c9", "#cc79a7"
FLAG_COLOURS: Mapping[str, str] = MappingProxyType(
    {
        Flag.FINE.value: "#d3e6f2",
        Flag.TOO_MUCH.value: "#d55e00",
        Flag.TOO_LITTLE.value: "#e69f00",
        Flag.NONE.value: "#000000",
        Flag.UNKNOWN.value: "#ffffff",
    }
)
BAND: Final = 0.18  # opacity of what lies between quantiles
GRID: Final = "#e4e4e4"
HEIGHT: Final = 380
MARKED: Final = 40  # rounds up to which each gets a marker
TICKED: Final = 12  # rounds up to which each gets a number


PLAIN: Final = range(-4, 6)  # powers of ten that are written out
MARKS: Final = tuple((digit, power) for power in range(-9, 13) for digit in (1, 2, 5))


def figure(
    traces: Iterable[Any], x: Mapping[str, Any], y: Mapping[str, Any], height: int = HEIGHT
) -> go.Figure:
    """These traces between these axes."""
    axis = {"gridcolor": GRID, "zeroline": False, "linecolor": "#555", "automargin": True}
    axis |= {"exponentformat": "power", "separatethousands": True}
    layout = go.Layout(
        template="none",
        height=height,
        margin={"l": 70, "r": 24, "t": 56, "b": 56},
        font={"family": "system-ui, sans-serif", "size": 14, "color": "#222"},
        legend={"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "traceorder": "normal"},
        hoverlabel={"namelength": -1},
        xaxis={**axis, **x},
        yaxis={**axis, **y},
    )
    return go.Figure(data=list(traces), layout=layout)


def axis(title: str, *, log: bool = False, **more: Any) -> dict[str, Any]:
    """An axis with its unit; logarithmic ones are marked at 1, 2 and 5, or by ``dtick``."""
    if not log:
        return {"title": {"text": title}, **more}
    scale = {"title": {"text": f"{title}, log scale"}, "type": "log"}
    if "dtick" in more:
        return {**scale, **more}
    values = [float(f"{digit}e{power}") for digit, power in MARKS]  # plotly's own: a bare 2 or 5
    return {**scale, "tickvals": values, "ticktext": [_mark(*each) for each in MARKS], **more}


def _mark(digit: int, power: int) -> str:
    if power in PLAIN:
        return f"{digit * 10.0**power:,.12g}"
    return f"{digit if digit > 1 else ''}{'·' if digit > 1 else ''}10<sup>{power}</sup>"


def rounds_axis(rounds: int, first: int = 1) -> dict[str, Any]:
    """Rounds, which are whole numbers."""
    step: dict[str, Any] = {"dtick": 1} if rounds <= TICKED else {"nticks": 10}
    room = 0.02 * max(rounds - first, 1) + 0.1
    return axis("round", tickformat="d", range=[first - room, rounds + room], **step)


def line(treatment: TreatmentRecord, x: FloatArray, y: FloatArray, **more: Any) -> go.Scatter:
    """One treatment's curve."""
    name = treatment.name
    shown = {
        "name": LABELS[name],
        "mode": "lines+markers" if x.size <= MARKED else "lines",
        "line": {"color": COLOURS[name], "dash": DASHES[name], "width": 2},
        "marker": {"symbol": SYMBOLS[name], "size": 7},
        **more,
    }
    return go.Scatter(x=x, y=drawable(y), **shown)


def band(x: FloatArray, low: FloatArray, high: FloatArray, colour: str, **more: Any) -> go.Scatter:
    """What lies between two curves; rounds in which nothing is known are left out."""
    known = np.isfinite(low) & np.isfinite(high)
    x, low, high = x[known], low[known], high[known]
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return go.Scatter(
        x=np.concatenate([x, x[::-1]]),
        y=np.concatenate([high, low[::-1]]),
        fill="toself",
        fillcolor=f"rgba({red},{green},{blue},{BAND})",
        line={"width": 0},
        mode="lines",
        hoverinfo="skip",
        showlegend=False,
        **more,
    )


def drawable(values: FloatArray) -> FloatArray:
    """The values, with NaN, which is a gap, in the place of infinities."""
    return np.where(np.isfinite(values), values, np.nan)
