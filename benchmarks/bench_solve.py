"""Optimum and equilibrium: against a general solver, and against the least that N clients cost."""

import tracemalloc
from collections.abc import Callable, Iterator

import numpy as np
from benchmarks.table import Ratio, medians, seconds
from numpy.typing import NDArray
from scipy.optimize import root

from pigou import AccuracyLoss, Game, Setting, Solution, equilibrium, optimum
from pigou.mechanisms import Pigouvian

CLIENTS, MANY = 1_000, 10**7
FASTER, SAME = 1_000.0, 1e-8
FLOORS, ARRAYS = 3.0, 4.0
Floats = NDArray[np.float64]


def ratios() -> Iterator[Ratio]:
    """Three games of a thousand clients, and two of ten million."""
    yield from against_root()
    yield from against_the_floor()


def against_root() -> Iterator[Ratio]:
    """scipy.optimize.root on the N first-order conditions, in logarithms, which suit it best.

    Both start at an error of 1: scipy at everybody's answer to it.
    """
    rng = np.random.default_rng(0)
    loss = AccuracyLoss.bound(16.0, 2.0)
    weights, spread = rng.dirichlet(np.full(CLIENTS, 5.0)), rng.uniform(0.0, 1.0, CLIENTS)
    game = Game(Setting(CLIENTS, loss, 0.5, weights, spread), rng.uniform(0.1, 0.9, CLIENTS))
    price = Pigouvian().terms(game.setting, game.alpha).unit_price
    own, free = 1.0 - game.alpha, np.zeros(CLIENTS)
    yield from compared("optimum", lambda: optimum(fresh(game)), game, own * 0 + own.sum(), free)
    yield from compared("equilibrium", lambda: equilibrium(fresh(game)), game, own, free)
    priced = "equilibrium with prices"
    yield from compared(priced, lambda: equilibrium(fresh(game), price), game, own, price)


def fresh(game: Game) -> Game:
    """The same game with nothing computed yet."""
    return Game(game.setting, game.alpha)


def compared(
    what: str, solve: Callable[[], Solution], game: Game, harm: Floats, price: Floats
) -> Iterator[Ratio]:
    """How many times faster, and how far apart the answers are."""
    phi = game.setting.loss.slope_over_error(1.0)
    weight2, gain = game.setting.weights**2, game.alpha * game.setting.privacy_scale
    start = np.log(gain / (harm * weight2 * phi + 2.0 * price)) / 3.0

    def conditions(log_sigma: Floats) -> list[float]:
        sigma = np.exp(log_sigma)
        error = float(np.sqrt(weight2 @ (sigma**2 + game.setting.spread)))
        marginal = harm * weight2 * game.setting.loss.slope_over_error(error) + 2.0 * price
        return list(np.log(marginal * sigma**3 / gain))

    found: list[Floats] = []
    theirs = seconds(lambda: found.append(root(conditions, start, tol=1e-12).x), 1)
    ours = seconds(solve, 50)
    note = f"{theirs:.3g} s over {1e6 * ours:.3g} us; N = {CLIENTS:,}, unequal weights and spreads"
    yield Ratio(f"scipy.optimize.root over {what}", theirs / ours, at_least=FASTER, note=note)
    apart = float(np.abs(np.exp(found[0]) / solve().sigma - 1.0).max())
    yield Ratio(f"{what}: largest relative difference to it", apart, at_most=SAME)


def against_the_floor() -> Iterator[Ratio]:
    """One cube root and one dot product over all clients; time includes checking the types."""
    alpha = np.random.default_rng(0).uniform(0.05, 0.95, MANY)
    setting = Setting(MANY, AccuracyLoss.bound(16.0, 2.0), 0.5)

    def floor() -> float:
        roots = np.cbrt(alpha)
        return float(roots @ roots)

    solves = [lambda: optimum(Game(setting, alpha)), lambda: equilibrium(Game(setting, alpha))]
    least, *times = medians(floor, *solves, repeats=9)
    for name, solve, time in zip(("optimum", "equilibrium"), solves, times, strict=True):
        what = f"{name} over one cbrt and one dot product"
        note = f"{1e3 * time:.3g} ms over {1e3 * least:.3g} ms; N = {MANY:,}, mean weights"
        yield Ratio(what, time / least, at_most=FLOORS, note=note)
        extra = peak(solve) / alpha.nbytes
        note = "the game's copy of the types is one of them"
        yield Ratio(f"{name}: extra memory in arrays of N", extra, at_most=ARRAYS, note=note)


def peak(call: Callable[[], object]) -> int:
    """Bytes allocated at the worst moment."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
