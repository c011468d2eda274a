"""The paper's model written out from its text: scalars and loops, and no code of pigou.

J_i = (1 - alpha_i) psi(Delta) + alpha_i a / sigma_i with psi = kappa Delta (1 + Delta / (2 L)).
Solutions come from the printed first-order conditions by bisection, not from closed forms.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

Floats = NDArray[np.float64]
UNLIMITED = 1e12  # noise that leaves no precision
WIDEST = 60.0  # bisection runs over exp(-60) to exp(60)


@dataclass(frozen=True)
class Model:
    """One game of the paper. The defaults are the page's numbers."""

    alpha: tuple[float, ...]
    kappa: float = 16.0
    smoothness: float = 2.0
    a: float = 0.5

    @property
    def n(self) -> int:
        return len(self.alpha)

    @property
    def weight(self) -> float:
        """M."""
        return math.fsum(1.0 - alpha for alpha in self.alpha)

    def psi(self, error: float) -> float:
        return self.kappa * error * (1.0 + error / (2.0 * self.smoothness))

    def slope(self, error: float) -> float:
        return self.kappa * (1.0 + error / self.smoothness)

    def own_cost(self, client: int, sigma: Sequence[float], error: float) -> float:
        alpha = self.alpha[client]
        return (1.0 - alpha) * self.psi(error) + alpha * self.a / sigma[client]

    def social_cost(self, sigma: Sequence[float], error: float) -> float:
        return math.fsum(self.own_cost(i, sigma, error) for i in range(self.n))


def half_and_half(n: int) -> Model:
    return Model((0.25,) * (n // 2) + (0.75,) * (n - n // 2))


def random_model(n: int, rng: np.random.Generator, low: float = 0.1, high: float = 0.9) -> Model:
    kappa, smoothness, a = 10.0 ** rng.uniform(-1.0, 1.0, 3)
    alpha = tuple(rng.uniform(low, high, n).tolist())
    return Model(alpha, float(kappa), float(smoothness), float(a))


def following(sigma: Sequence[float]) -> float:
    """Delta^MLE when weights follow the noise."""
    return 1.0 / math.sqrt(math.fsum(s**-2.0 for s in sigma))


def committed(sigma: Sequence[float], weights: Sequence[float]) -> float:
    return math.sqrt(math.fsum((w * s) ** 2 for w, s in zip(weights, sigma, strict=True)))


def precision_weights(sigma: Sequence[float]) -> list[float]:
    total = math.fsum(s**-2.0 for s in sigma)
    return [s**-2.0 / total for s in sigma]


def mle_point(model: Model, accuracy: Sequence[float]) -> list[float]:
    """Proposition 2: accuracy_i kappa S^(-3/2) (S^(-1/2) + L) / L = alpha_i a sigma_i."""

    def noise(log_total: float) -> list[float]:
        total = math.exp(log_total)
        left = total**-1.5 * model.slope(total**-0.5)
        return [
            w * left / (alpha * model.a) for w, alpha in zip(accuracy, model.alpha, strict=True)
        ]

    def mismatch(log_total: float) -> float:
        return math.log(math.fsum(s**-2.0 for s in noise(log_total))) - log_total

    return noise(bisect(mismatch))


def mle_equilibrium(model: Model) -> list[float]:
    return mle_point(model, [1.0 - alpha for alpha in model.alpha])


def mle_optimum(model: Model) -> list[float]:
    return mle_point(model, [model.weight] * model.n)


def committed_point(
    model: Model, weights: Sequence[float], accuracy: Sequence[float]
) -> list[float]:
    """accuracy_i psi'(Delta) w_i^2 sigma_i / Delta = alpha_i a / sigma_i^2, Delta unknown."""

    def noise(log_error: float) -> list[float]:
        error = math.exp(log_error)
        pull = model.slope(error) / error
        return [
            (alpha * model.a / (m * w * w * pull)) ** (1.0 / 3.0)
            for alpha, m, w in zip(model.alpha, accuracy, weights, strict=True)
        ]

    def mismatch(log_error: float) -> float:
        return math.log(committed(noise(log_error), weights)) - log_error

    return noise(bisect(mismatch))


def mean_optimum(model: Model) -> list[float]:
    return committed_point(model, [1.0 / model.n] * model.n, [model.weight] * model.n)


def mean_equilibrium(model: Model) -> list[float]:
    return committed_point(model, [1.0 / model.n] * model.n, [1.0 - a for a in model.alpha])


def mean_cost(model: Model, sigma: Sequence[float]) -> float:
    return model.social_cost(sigma, committed(sigma, [1.0 / model.n] * model.n))


def mle_cost(model: Model, sigma: Sequence[float]) -> float:
    return model.social_cost(sigma, following(sigma))


def bisect(function: Callable[[float], float]) -> float:
    return float(brentq(function, -WIDEST, WIDEST, xtol=1e-13, rtol=1e-14))


def second_differences(
    cost: Callable[[Sequence[float]], float], sigma: Sequence[float], step: float = 1e-3
) -> Floats:
    """The Hessian of cost in log sigma, by central differences: their error is O(step^2)."""
    n = len(sigma)

    def at(i: int, di: float, j: int, dj: float) -> float:
        moved = list(sigma)
        moved[i] *= math.exp(di * step)
        moved[j] *= math.exp(dj * step)
        return cost(moved)

    hessian = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            corners = at(i, 1, j, 1) - at(i, 1, j, -1) - at(i, -1, j, 1) + at(i, -1, j, -1)
            hessian[i, j] = corners / (4.0 * step * step)
    return hessian
