"""What selfishness costs: the price of anarchy of one game, and scans that show it has no bound.

Without prices, social cost over the least for the same weights grows with the number of clients
and, for any number, with one client's indifference to accuracy (section 2).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from pigou.checks import FloatArray, count, number, vector
from pigou.errors import Degenerate, InvalidArgument, require
from pigou.game import AccuracyLoss, Game, Setting
from pigou.solve import equilibrium, optimum


def price_of_anarchy(game: Game) -> float:
    """SC(equilibrium) / SC(optimum), without prices and for the committed weights.

    1 where selfishness costs nothing; infinite where some client's noise is unlimited.
    """
    best, selfish = optimum(game).social_cost, equilibrium(game).social_cost
    if not (0 < best < math.inf):
        raise Degenerate("game", "must have a social cost that a float can hold", best)
    return selfish / best


@dataclass(frozen=True, eq=False)
class Scan:
    """The price of anarchy along one quantity, everything else held."""

    quantity: str
    values: FloatArray
    ratio: FloatArray
    slope: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "slope", _slopes(self.values, self.ratio))


def scan_clients(
    n: Sequence[int],
    loss: AccuracyLoss,
    privacy_scale: float,
    alpha: float = 0.5,
    spread: float = 0.0,
) -> Scan:
    """Growth in the number of clients, for equal types and mean weights (section 2).

    With spread 0 the slope tends to 1/2 if quadratic is 0, to 2/3 if linear is 0 and to 7/12 if
    both are positive; it is 1/2 for as long as quadratic * Delta is small against linear.
    """

    def game(size: float) -> Game:
        setting = Setting(int(size), loss, privacy_scale, spread=spread)
        return Game(setting, np.full(setting.n, sensitivity))

    sizes = [count("n", size) for size in n]
    sensitivity = number("alpha", alpha)
    return _scan("n", sizes, game)


def scan_sensitivity(game: Game, client: int, distance: ArrayLike) -> Scan:
    """Divergence as one client's alpha goes to 1: ``distance`` is 1 - alpha, falling towards 0.

    By (1) the client's noise grows as distance^(-1/3) times a power of the error: the slope of the
    price of anarchy in 1 / distance tends to 1/2 if quadratic is 0 and to 2/3 otherwise.
    """
    who = count("client", client, least=0)
    require(who < game.setting.n, "client", f"must be below {game.setting.n}", client)
    require(game.setting.weights[who] > 0, "client", "must have a positive weight", client)
    steps = vector("distance", distance)
    inside = bool(((steps > 0) & (steps <= 1)).all())
    require(inside, "distance", "must lie in (0, 1]", distance)

    def moved(inverse: float) -> Game:
        types = np.array(game.alpha)
        types[who] = 1.0 - 1.0 / inverse
        return Game(game.setting, types)

    return _scan("1 / (1 - alpha)", (1.0 / steps).tolist(), moved)


def _scan(quantity: str, values: Sequence[float], game_at: Callable[[float], Game]) -> Scan:
    points = vector(quantity, values)
    if not (np.diff(points) > 0).all():
        raise InvalidArgument(quantity, "must increase strictly", values)
    ratios = np.array([price_of_anarchy(game_at(point)) for point in points.tolist()])
    return Scan(quantity, points, ratios)


def _slopes(values: FloatArray, ratio: FloatArray) -> FloatArray:
    """Growth exponent between each point and the one before; NaN at the first."""
    slopes = np.full(values.size, math.nan)
    with np.errstate(invalid="ignore"):  # between two infinite ratios there is no slope
        slopes[1:] = np.diff(np.log(ratio)) / np.diff(np.log(values))
    return slopes
