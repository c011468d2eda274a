"""Charts with clients along an axis: by name while they fit, else in order, else in groups."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import plotly.graph_objects as go

from pigou.checks import FloatArray
from pigou.report import look
from pigou.report.crowd import EACH, NAMED, Members, of_groups, ranks
from pigou.report.markup import label

ROW: Final = 26  # pixels of one client's row
FEWEST: Final = 2  # rows that a chart is at least high


def by_name(n: int) -> bool:
    """Whether so many clients get rows with their names."""
    return n <= NAMED


def rows(clients: Sequence[str]) -> dict[str, Any]:
    """An axis with a row per client, the first on top."""
    n = len(clients)
    return {
        "tickvals": list(range(n)),
        "ticktext": [label(client) for client in clients],
        "range": [n - 0.5, -0.5],
        "ticklabelstandoff": 6,
    }


def height(n: int) -> int:
    """Pixels for so many rows."""
    return 150 + ROW * max(n, FEWEST)


def points(
    values: FloatArray, parts: Sequence[Members], clients: Sequence[str], how: Mapping[str, Any]
) -> go.Scatter:
    """One point per client, or per group: its median, and a bar over its middle 90 %."""
    low, middle, high = of_groups(look.drawable(values), parts)
    if values.size <= EACH:
        names = [label(clients[part[0]]) for part in parts]
        return go.Scatter(x=ranks(parts), y=middle, text=names, **how)
    bars = {"type": "data", "symmetric": False, "width": 0, "thickness": 1}
    spread = {**bars, "array": high - middle, "arrayminus": middle - low}
    return go.Scatter(x=ranks(parts), y=middle, error_y=spread, **how)


def rank_axis(order: str, n: int) -> dict[str, Any]:
    """Clients in this order."""
    return look.axis(f"clients in order of {order}", range=[0.5 - 0.01 * n, n + 0.5 + 0.01 * n])
