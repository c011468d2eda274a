"""The games that the evidence is computed on (section 6: kappa = 16, L = 2, a = 0.5, 0.25/0.75)."""

# ruff: noqa: RUF001
# The page's Greek letters and signs are meant.

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from pigou.game import AccuracyLoss, Game, Setting

KAPPA, SMOOTHNESS, PRIVACY_SCALE = 16.0, 2.0, 0.5
LOW, HIGH = 0.25, 0.75


def game(alpha: ArrayLike) -> Game:
    """These types, the page's loss and privacy scale, mean weights, and the paper's spread 0."""
    types = np.asarray(alpha, dtype=np.float64)
    loss = AccuracyLoss.bound(KAPPA, SMOOTHNESS)
    return Game(Setting(types.size, loss, PRIVACY_SCALE), types)


def half_and_half(n: int) -> Game:
    """n // 2 clients with alpha = 0.25, the others with 0.75."""
    return game(np.repeat([LOW, HIGH], [n // 2, n - n // 2]))


def random_games(n: int, draws: int, rng: np.random.Generator) -> Iterator[Game]:
    """alpha ~ U(0.02, 0.98); kappa over 0.1 to 100, L and a over 0.1 to 10, log-uniform."""
    for _ in range(draws):
        kappa, smoothness, scale = 10.0 ** rng.uniform([-1.0, -1.0, -1.0], [2.0, 1.0, 1.0])
        loss = AccuracyLoss.bound(kappa, smoothness)
        yield Game(Setting(n, loss, scale), rng.uniform(0.02, 0.98, n))


def describe(of: Game) -> str:
    """The types of a small game, or the shares of a large one."""
    values, counts = np.unique(of.alpha, return_counts=True)
    if of.setting.n <= 3:
        return ", ".join(f"{value:g}" for value in of.alpha)
    return " and ".join(f"{count} × {value:g}" for value, count in zip(values, counts, strict=True))


def with_weights(of: Game, weights: ArrayLike) -> Game:
    """The same game with other committed weights."""
    given = of.setting
    return Game(Setting(given.n, given.loss, given.privacy_scale, weights), of.alpha)
