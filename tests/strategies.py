"""Random games and settings for property tests: what Hypothesis draws from."""

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from pigou import AccuracyLoss, Game, Setting

Floats = NDArray[np.float64]


def rngs() -> st.SearchStrategy[np.random.Generator]:
    """A generator whose seed Hypothesis chooses, and so can shrink and repeat."""
    return st.integers(0, 2**32 - 1).map(np.random.default_rng)


@st.composite
def losses(draw: st.DrawFn) -> AccuracyLoss:
    """Linear, quadratic or both, over four decades."""
    size = st.floats(-2.0, 2.0).map(lambda x: 10.0**x)
    kind = draw(st.sampled_from(["both", "linear", "quadratic"]))
    linear = 0.0 if kind == "quadratic" else draw(size)
    return AccuracyLoss(linear, 0.0 if kind == "linear" else draw(size))


@st.composite
def games(
    draw: st.DrawFn,
    least: int = 1,
    most: int = 12,
    *,
    weights: str = "any",  # "mean", "random" or "any"
    spread: str = "any",  # "zero", "positive" or "any"
    low: float = 0.05,
    high: float = 0.95,
) -> Game:
    """A game whose types lie inside (0, 1), so that every closed form applies."""
    n = draw(st.integers(least, most))
    rng = draw(rngs())
    mean = weights == "mean" or (weights == "any" and draw(st.booleans()))
    quiet = spread == "zero" or (spread == "any" and draw(st.booleans()))
    setting = Setting(
        n=n,
        loss=draw(losses()),
        privacy_scale=float(10.0 ** rng.uniform(-2, 1)),
        weights="mean" if mean else rng.dirichlet(np.full(n, 3.0)),
        spread=0.0 if quiet else rng.uniform(0.01, 1.0, n),
    )
    return Game(setting, rng.uniform(low, high, n))


def changed(setting: Setting, **parts: Any) -> Setting:
    """The same setting with some parts replaced."""
    names = ("n", "loss", "privacy_scale", "weights", "spread", "divergence")
    return Setting(**{name: parts.get(name, getattr(setting, name)) for name in names})
