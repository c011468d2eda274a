"""Charts as interactive figures."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from pigou.checks import FloatArray
from pigou.report import look
from pigou.report.markup import Html, bullets, joined, label
from pigou.reproduce.axes import FEW_DECADES, Axis
from pigou.reproduce.chart import Chart, Note, Series
from pigou.reproduce.treatments import style

PLOT_HEIGHT: Final = 400
ROW: Final = 24  # of the legend, which stands below: one series each on a small screen
LONGEST_NAME: Final = 60


def figure(chart: Chart) -> go.Figure:
    """Lines and bands, notes as letters at their places."""
    traces = [trace for k, series in enumerate(chart.series) for trace in _traces(series, k)]
    x = _axis(chart.x_title, [s.x for s in chart.series], log=chart.log_x)
    heights = [part for s in chart.series for part in (s.y, s.low, s.high) if part is not None]
    y = _axis(chart.y_title, heights, log=chart.log_y)
    below = ROW * len(chart.series)
    drawn = look.figure(traces, x, y, PLOT_HEIGHT + below)
    drawn.update_layout(legend={"orientation": "h", "x": 0, "y": -0.2, "yanchor": "top"})
    for letter, note in lettered(chart):
        _mark(drawn, letter, note)
    return drawn


def caption(chart: Chart) -> Html:
    """What the chart shows, and what the letters mean."""
    notes = bullets(f"{letter}: {note.text}" for letter, note in lettered(chart))
    return joined([chart.caption, notes])


def lettered(chart: Chart) -> Iterator[tuple[str, Note]]:
    """The notes with a letter each."""
    return ((chr(ord("a") + k), note) for k, note in enumerate(chart.notes))


def _axis(title: str, parts: list[FloatArray], *, log: bool) -> dict[str, Any]:
    """Where a logarithmic axis spans many powers of ten, these alone are marked."""
    span = Axis.over(parts, 0.0, 1.0, log=log)
    if not log or span.high / span.low <= 10.0**FEW_DECADES:
        return look.axis(title, log=log)
    return look.axis(title, log=log, dtick=1)


def _traces(series: Series, place: int) -> Iterator[Any]:
    look_of = style(series.name, place)
    group = {"legendgroup": series.name}
    if series.low is not None and series.high is not None:
        yield look.band(series.x, series.low, series.high, look_of.colour, **group)
    yield go.Scatter(
        x=series.x,
        y=look.drawable(series.y),
        name=label(series.name, LONGEST_NAME),
        mode="lines+markers" if _broken(series) or series.x.size <= look.MARKED else "lines",
        line={"color": look_of.colour, "dash": look_of.dash, "width": look_of.width},
        marker={"size": 5},
        connectgaps=False,
        **group,
    )


def _broken(series: Series) -> bool:
    """Whether there are gaps, beside which a point may stand alone."""
    return not bool(np.isfinite(series.y).all())


def _mark(drawn: go.Figure, letter: str, note: Note) -> None:
    shape = {"line": {"width": 1, "dash": "dot", "color": "#555"}}
    if note.high > note.low:
        drawn.add_vrect(note.low, note.high, fillcolor="#000", opacity=0.06, line={"width": 0})
    else:
        drawn.add_vline(note.low, **shape)
    drawn.add_annotation(
        x=(note.low + note.high) / 2.0,
        y=1.0,
        yref="paper",
        yanchor="bottom",
        text=letter,
        showarrow=False,
    )
