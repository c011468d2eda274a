"""Tables of clients: all of them while they fit, else those at the two ends."""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from pigou.checks import FloatArray
from pigou.report.markup import Html, folded, joined, paragraph, table
from pigou.report.words import counted
from pigou.runs import RunRecord

OPEN: Final = 12  # rows that stand in the page; longer tables open on a click
ALL: Final = 300  # clients up to which every one has a row
ENDS: Final = 20  # else, rows from either end

Row = Callable[[int], Sequence[object]]


def people(
    record: RunRecord, headers: Sequence[str], row: Row, key: FloatArray, words: Sequence[int] = ()
) -> Html:
    """A row per client; of very many, those with the largest and the smallest key."""
    n = len(record.clients)
    chosen, left_out = list(range(n)), Html("")
    if n > ALL:
        order = np.argsort(-np.nan_to_num(key, posinf=np.finfo(float).max), kind="stable")
        chosen = [*order[:ENDS].tolist(), *order[-ENDS:].tolist()]
        told = f"The first and the last {ENDS} of {n:,} clients. All of them are in clients.csv "
        left_out = paragraph(told + "and summary.json of the run's folder.")
    rows = [[record.clients[i], *row(i)] for i in chosen]
    whole = joined([left_out, table(headers, rows, (0, *words))])
    return whole if n <= OPEN else folded(f"Table: {counted(len(rows), 'client')}", whole)
