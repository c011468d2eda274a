"""How commands print: text tables, and JSON that any reader accepts."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

WIDTH = 200  # tables take what they need and are never cut to a terminal's width
NAME_WIDTH = 24


def print_json(value: Mapping[str, object]) -> None:
    """One JSON object; JSON has no infinities: they become the strings of their names."""
    print(json.dumps(_plain(value), indent=2, allow_nan=False))


def print_lines(*lines: str) -> None:
    """Text as it is, never broken into other lines."""
    print(*lines, sep="\n")


def print_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns of numbers beside one column of names."""
    table = Table(box=None, pad_edge=False, padding=(0, 1), show_header=any(headers))
    for k, header in enumerate(headers):
        if k == 0:
            table.add_column(header, max_width=NAME_WIDTH, no_wrap=True, overflow="ellipsis")
        else:
            table.add_column(header, justify="right", no_wrap=True, vertical="bottom")
    for row in rows:
        table.add_row(*row)
    _console().print(table)


def short(value: float) -> str:
    """Four significant digits, for people."""
    return f"{value + 0.0:.4g}"


def _console() -> Console:
    return Console(width=WIDTH, markup=False, highlight=False, emoji=False)


def _plain(value: object) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value
