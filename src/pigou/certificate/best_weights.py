"""The least social cost that any weights could give, as far as it can be found (section 5).

Tried are every single volunteer, and sets of the clients with the smallest alpha sqrt(v), each at
its own best multiplier. Every candidate can be played, so that the least of them is an upper bound
on the optimum over all weights; it is not proven to be that optimum. In random games of 2 to 8
clients, descent from 30 starts never did better where spread was equal; where spread differed up to
a hundredfold it did better by 1.5 % or more in one game of a hundred, by 10 % at most.
"""

import numpy as np

from pigou.certificate.prefixes import BestWeights, Prefixes
from pigou.certificate.search import best_noise
from pigou.certificate.stakes import CERTAIN, Stakes
from pigou.checks import FloatArray
from pigou.game import Game


def best_over_weights(game: Game) -> BestWeights:
    """The cheapest of the candidates of the module's head."""
    alone = BestWeights(float(one_volunteer(game).min()), 1)
    if not (game.setting.spread > 0).any():
        return alone
    return min(alone, Prefixes.of(game).best(), key=lambda found: found.social_cost)


def one_volunteer(game: Game) -> FloatArray:
    """min M psi(sqrt(s^2 + v_i)) + alpha_i a / s: the social cost when only client i uploads."""
    setting, weight = game.setting, game.accuracy_weight
    ones = np.ones(setting.n)
    stakes = Stakes(
        linear=weight * setting.loss.linear * ones,
        quadratic=weight * setting.loss.quadratic * ones,
        privacy=game.alpha * setting.privacy_scale,
        others=np.sqrt(setting.spread)[:, None],
        weight=ones[:, None],
        price=np.zeros(setting.n),
        chance=CERTAIN,
    )
    return stakes.value(best_noise(stakes, ones))
