"""Groves transfers among many clients, against one optimum of that size.

Each quadrature point of the exchange (pigou.mechanisms.groves_exchange) is one more optimum for
every client; the bound allows 50 times one optimum for each point.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
from benchmarks.table import Ratio, seconds

from pigou import AccuracyLoss, Game, Setting, optimum
from pigou.mechanisms import Groves
from pigou.mechanisms.groves_exchange import NODES, SPREAD_NODES

CLIENTS = 10_000
AT_MOST = 50.0


def ratios() -> Iterator[Ratio]:
    """Public spread, none and some, and reported spread."""
    yield measured("no spread", 0.0, reported=False)
    yield measured("public spread", 0.3, reported=False)
    yield measured("reported spread", 0.3, reported=True)


def measured(what: str, spread: float, *, reported: bool) -> Ratio:
    """The terms of one mechanism: time per quadrature point, in optima."""
    alpha = np.random.default_rng(0).uniform(0.1, 0.9, CLIENTS)
    setting = Setting(CLIENTS, AccuracyLoss.bound(16.0, 2.0), 0.5, spread=spread)
    reports = np.column_stack([alpha, setting.spread]) if reported else alpha
    points = NODES * (len(SPREAD_NODES) if reported else 1)
    one = seconds(partial(optimum, Game(setting, alpha)), 200)
    terms = seconds(partial(Groves(report_spread=reported).terms, setting, reports), 20)
    return Ratio(
        f"Groves at N = {CLIENTS:,}, {what}, over (optimum times points)",
        terms / one / points,
        at_most=AT_MOST,
        note=f"terms {1e3 * terms:.3g} ms, optimum {1e3 * one:.3g} ms, {points} points",
    )
