"""Charts as static pictures: plain SVG, for pages that cannot run scripts."""

import math
from collections.abc import Iterator
from html import escape
from itertools import pairwise
from typing import Final

import numpy as np

from pigou.checks import BoolArray, FloatArray
from pigou.reproduce.axes import Axis, ticks
from pigou.reproduce.chart import Chart, Series
from pigou.reproduce.drawing import lettered
from pigou.reproduce.treatments import Style, style

WIDTH: Final = 860
HEIGHT: Final = 460
LEFT, RIGHT, TOP, BOTTOM = 84, 20, 56, 58
ROW: Final = 20  # of the legend and of the notes, below the axis
COLUMNS: Final = 2  # of the legend
WIDEST: Final = 112  # characters of a note's line
DASHES: Final = {"solid": "", "dash": "9 5", "dot": "2 4", "dashdot": "10 4 2 4"}
FLOOR, END = HEIGHT - BOTTOM, WIDTH - RIGHT


def svg(chart: Chart) -> str:
    """The picture."""
    legend = math.ceil(len(chart.series) / COLUMNS)
    notes = [line for letter, note in lettered(chart) for line in wrapped(f"{letter}: {note.text}")]
    height = HEIGHT + (legend + len(notes)) * ROW
    x = Axis.over((s.x for s in chart.series), LEFT, END, log=chart.log_x)
    heights = (part for s in chart.series for part in (s.y, s.low, s.high) if part is not None)
    y = Axis.over(heights, FLOOR, TOP, log=chart.log_y)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="system-ui, sans-serif" font-size="13" role="img">',
        f"<title>{escape(chart.title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{LEFT}" y="24" font-size="16">{escape(chart.title)}</text>',
        *_marks(chart, x),
        *_axes(chart, x, y),
    ]
    for k, series in enumerate(chart.series):
        look = style(series.name, k)
        parts += _drawn(series, look, x, y)
        column, row = k % COLUMNS, k // COLUMNS
        parts.append(_key(series.name, look, LEFT + column * (END - LEFT) // COLUMNS, row))
    for k, line in enumerate(notes):
        at = HEIGHT + 6 + (legend + k) * ROW
        parts.append(f'<text x="{LEFT}" y="{at}" font-size="12" fill="#555">{escape(line)}</text>')
    return "\n".join([*parts, "</svg>\n"])


def wrapped(text: str) -> list[str]:
    """The text in lines that fit."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if len(longer) > WIDEST:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _marks(chart: Chart, x: Axis) -> Iterator[str]:
    """Where the notes belong."""
    for letter, note in lettered(chart):
        low, high = x.at(note.low), x.at(note.high)
        if high > low:
            size = f'width="{high - low:.1f}" height="{FLOOR - TOP}"'
            yield f'<rect x="{low:.1f}" y="{TOP}" {size} fill="#f0f0f0"/>'
        else:
            line = f'd="M{low:.1f} {TOP}V{FLOOR}" stroke="#777" stroke-dasharray="2 4"'
            yield f"<path {line}/>"
        yield f'<text x="{(low + high) / 2:.1f}" y="{TOP - 6}" text-anchor="middle">{letter}</text>'


def _axes(chart: Chart, x: Axis, y: Axis) -> Iterator[str]:
    for value in ticks(y):
        at = f"{y.at(value):.1f}"
        yield f'<path d="M{LEFT} {at}H{END}" stroke="#e4e4e4"/>'
        yield f'<text x="{LEFT - 8}" y="{at}" dy="4" text-anchor="end">{_number(value)}</text>'
    for value in ticks(x):
        at = f"{x.at(value):.1f}"
        yield f'<path d="M{at} {FLOOR}v5" stroke="#555"/>'
        yield f'<text x="{at}" y="{FLOOR + 20}" text-anchor="middle">{_number(value)}</text>'
    yield f'<path d="M{LEFT} {TOP}V{FLOOR}H{END}" fill="none" stroke="#555"/>'
    below = f'x="{(LEFT + END) / 2}" y="{FLOOR + 42}" text-anchor="middle"'
    yield f"<text {below}>{_title(chart.x_title, x)}</text>"
    yield (
        f'<text transform="translate(20 {(TOP + FLOOR) / 2}) rotate(-90)" text-anchor="middle">'
        f"{_title(chart.y_title, y)}</text>"
    )


def _title(text: str, axis: Axis) -> str:
    return escape(f"{text}, log scale" if axis.log else text)


def _number(value: float) -> str:
    if value != 0 and not 1e-3 <= abs(value) < 1e5:
        return f"{value:.0e}"
    return f"{value:.6g}"


def _drawn(series: Series, look: Style, x: Axis, y: Axis) -> Iterator[str]:
    if series.low is not None and series.high is not None:
        for start, stop in stretches(np.isfinite(series.low) & np.isfinite(series.high)):
            upper = _points(series.x[start:stop], series.high[start:stop], x, y)
            lower = _points(series.x[start:stop], series.low[start:stop], x, y)[::-1]
            around = " ".join(upper + lower)
            yield f'<polygon points="{around}" fill="{look.colour}" opacity="0.13"/>'
    for start, stop in stretches(np.isfinite(series.y)):
        points = _points(series.x[start:stop], series.y[start:stop], x, y)
        if len(points) == 1:
            across, down = points[0].split(",")
            yield f'<circle cx="{across}" cy="{down}" r="3" fill="{look.colour}"/>'
        else:
            yield f'<polyline points="{" ".join(points)}" {_stroke(look)}/>'


def stretches(known: BoolArray) -> list[tuple[int, int]]:
    """First and one past the last of every run of points without a gap."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], known, [False]]).astype(int)))
    return [(int(a), int(b)) for a, b in list(pairwise(edges))[::2]]


def _points(xs: FloatArray, ys: FloatArray, x: Axis, y: Axis) -> list[str]:
    pairs = zip(xs.tolist(), ys.tolist(), strict=True)
    return [f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in pairs]


def _stroke(look: Style) -> str:
    dash = f' stroke-dasharray="{DASHES[look.dash]}"' if DASHES[look.dash] else ""
    return f'fill="none" stroke="{look.colour}" stroke-width="{look.width:g}"{dash}'


def _key(name: str, look: Style, x: float, row: int) -> str:
    y = HEIGHT + 6 + row * ROW
    line = f'<path d="M{x} {y - 4}h34" {_stroke(look)}/>'
    return f'{line}<text x="{x + 42}" y="{y}">{escape(name)}</text>'
