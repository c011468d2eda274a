"""The table of optimised weights (section 5): who should upload at all.

Types are normal with mean 0.5 and sd 0.2, clipped to [0.02, 0.98]. Medians of several draws; the
optimum over weights is the best found, an upper bound on the least.
"""

from typing import Final

import numpy as np

from pigou.certificate import certify
from pigou.checks import FloatArray
from pigou.game import Game, Setting
from pigou.mechanisms import Pigouvian
from pigou.paper.errata.cases import PRIVACY_SCALE
from pigou.paper.errata.record import Cell, Table
from pigou.reproduce import formulas
from pigou.reproduce.part import Request, Sheet
from pigou.solve import equilibrium

SPREADS: Final = (0.0, 0.01, 0.1, 0.3, 1.0)
CENTRE, SD, LEAST, MOST = 0.5, 0.2, 0.02, 0.98
DRAWS, QUICK_DRAWS = 25, 5
COLUMNS: Final = (
    "v",
    "unpriced, mean weights",
    "optimum, mean weights",
    "optimum over weights too",
    "active clients",
)
WORDS: Final = (
    "All of the above keeps the weights of the mean. Minimised over the weights as well, social "
    "cost depends on v, the variance of honest updates from finite data. In the paper's model v is "
    "0, and the least social cost is one volunteer's (E1): with nobody to compare it with, there "
    "is nothing to price by. With v > 0 the optimum drops the clients that mind noise most."
)


def sheet(request: Request) -> Sheet:
    """The table."""
    draws = QUICK_DRAWS if request.quick else DRAWS
    rng = request.generator("weights")
    normal = rng.normal(CENTRE, SD, (draws, formulas.N))
    types = np.clip(normal, LEAST, MOST)
    rows = tuple(_row(spread, types) for spread in SPREADS)
    caption = f"Social cost of {formulas.N} clients by v: medians of {draws} draws of the types"
    return Sheet("weights", Table(caption, COLUMNS, rows), words=())


def _row(spread: float, types: FloatArray) -> tuple[Cell, ...]:
    setting = Setting(types.shape[1], formulas.LOSS, PRIVACY_SCALE, spread=spread)
    found = np.array([_costs(Game(setting, alpha)) for alpha in types])
    *costs, active = np.median(found, axis=0).tolist()
    return (spread, *costs, round(active))


def _costs(game: Game) -> tuple[float, float, float, int]:
    """Unpriced, optimum for the mean, the best over weights, and how many upload there."""
    found = certify(game, Pigouvian().terms(game.setting, game.alpha))
    return equilibrium(game).social_cost, found.optimum, found.best_weights, found.best_active
