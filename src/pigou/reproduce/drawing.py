"""Charts as interactive figures."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import plotly.graph_objects as go

from pigou.report import look
from pigou.report.markup import Html, bullets, joined, label
from pigou.reproduce.chart import Chart, Note, Series
from pigou.reproduce.treatments import style

PLOT_HEIGHT: Final = 400
ROW: Final = 24  # of the legend, which stands below
NARROW: Final = 1  # series per row that fit on a small screen
LONGEST_NAME: Final = 60


def figure(chart: Chart) -> go.Figure:
    """Lines and bands, notes as letters at their places."""
    traces = [trace for k, series in enumerate(chart.series) for trace in _traces(series, k)]
    x = look.axis(chart.x_title, log=chart.log_x)
    y = look.axis(chart.y_title, log=chart.log_y)
    below = ROW * len(chart.series) // NARROW
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
