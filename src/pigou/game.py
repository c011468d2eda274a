"""The model: who plays, what everybody knows, and what each client pays before money.

A client i with privacy sensitivity alpha_i adds Gaussian noise of standard deviation sigma_i
to every coordinate of what it uploads. Equation and section numbers: docs/explanation/theory.md.

    Delta(sigma) = sqrt(sum_j rho_j^2 (sigma_j^2 + v_j))         error of the aggregate
    psi(Delta)   = linear * Delta + quadratic * Delta^2          accuracy loss
    J_i          = (1 - alpha_i) psi(Delta) + alpha_i a / sigma_i   cost of client i
    SC           = sum_i J_i = M psi(Delta) + a sum_i alpha_i / sigma_i,  M = sum_i (1 - alpha_i)

=============  ==========  ======================================================================
symbol         name        meaning
=============  ==========  ======================================================================
N              n           number of clients; those of weight 0 are inactive but count in M
alpha_i        alpha       privacy sensitivity, in [0, 1]; private
sigma_i        sigma       standard deviation of the noise, per coordinate
v_i            spread      variance of an honest update from finite data: in the error
u_i            divergence  squared distance of an honest update from the others: in deviations only
rho_i          weights     aggregation weights, committed before uploads
Delta          error       standard error of the aggregate, per coordinate
a = cS         privacy_scale  the privacy loss of client i is a / sigma_i
=============  ==========  ======================================================================
"""

import math
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from pigou.checks import (
    BoolArray,
    FloatArray,
    count,
    noise_levels,
    non_negative,
    number,
    presence,
    sensitivities,
    simplex,
    vector,
)
from pigou.errors import require

WeightSpec = Literal["mean"] | ArrayLike

BLOCK = 1 << 16  # clients per partial sum: stays in cache, and no array of N is made for it


@dataclass(frozen=True)
class AccuracyLoss:
    """psi(Delta) = linear * Delta + quadratic * Delta^2 (section 1)."""

    linear: float
    quadratic: float

    def __post_init__(self) -> None:
        for name in ("linear", "quadratic"):
            object.__setattr__(self, name, number(name, getattr(self, name)))
        both = (self.linear, self.quadratic)
        require(max(both) > 0, "linear, quadratic", "must not both be 0", both)

    @classmethod
    def bound(cls, kappa: float, smoothness: float) -> Self:
        """The paper's convergence bound (Prop. 1): kappa * Delta * (1 + Delta / (2 L_F))."""
        linear = number("kappa", kappa, above_zero=True)
        quadratic = linear / (2.0 * number("smoothness", smoothness, above_zero=True))
        return cls(linear, quadratic)

    def __call__(self, error: float) -> float:
        if error == math.inf:  # where the sum below may be 0 * infinity
            return error
        return error * (self.linear + self.quadratic * error)

    def slope_over_error(self, error: float) -> float:
        """psi'(Delta) / Delta, the quantity that every price and best response needs."""
        per_error = self.linear / error if self.linear else 0.0
        return per_error + 2.0 * self.quadratic


@dataclass(frozen=True, init=False, eq=False)
class Setting:
    """All that a server knows. ``n`` counts everyone who uses the model, uploading or not."""

    n: int
    loss: AccuracyLoss
    privacy_scale: float
    weights: FloatArray
    spread: FloatArray
    divergence: FloatArray

    def __init__(
        self,
        n: int,
        loss: AccuracyLoss,
        privacy_scale: float,
        weights: WeightSpec = "mean",
        spread: ArrayLike = 0.0,
        divergence: ArrayLike = 0.0,
    ) -> None:
        require(isinstance(loss, AccuracyLoss), "loss", "must be an AccuracyLoss", loss)
        put = object.__setattr__
        put(self, "n", count("n", n))
        put(self, "loss", loss)
        put(self, "privacy_scale", number("privacy_scale", privacy_scale, above_zero=True))
        put(self, "weights", _weights(weights, self.n))
        put(self, "spread", non_negative("spread", spread, self.n))
        put(self, "divergence", non_negative("divergence", divergence, self.n))

    @classmethod
    def data_size(
        cls,
        sizes: ArrayLike,
        loss: AccuracyLoss,
        privacy_scale: float,
        spread: ArrayLike = 0.0,
        divergence: ArrayLike = 0.0,
    ) -> Self:
        """Weights in proportion to the clients' numbers of samples."""
        counts = vector("sizes", sizes)
        require(counts.min() >= 0, "sizes", "must not be negative", counts.min())
        largest = float(counts.max())
        require(largest > 0, "sizes", "must not all be 0", sizes)
        shares = counts / largest  # whose sum cannot overflow
        return cls(counts.size, loss, privacy_scale, shares / shares.sum(), spread, divergence)

    @property
    def active(self) -> BoolArray:
        """Clients of weight > 0: the others leave N, the deviations and the refunds."""
        return self.weights > 0

    @property
    def n_active(self) -> int:
        return self.n if self.weights.strides == (0,) else int(np.count_nonzero(self.weights))

    def restricted(self, present: ArrayLike) -> "Setting":
        """The setting of the clients that arrived: weights renormalised over them, M unchanged."""
        mask = presence("present", present, self.n)
        total = float(self.weights[mask].sum())
        require(total > 0, "present", "must leave a client of positive weight", present)
        weights = np.where(mask, self.weights, 0.0) / total
        weights /= weights.sum()
        return Setting(self.n, self.loss, self.privacy_scale, weights, self.spread, self.divergence)

    def __reduce__(self) -> tuple[type["Setting"], tuple[object, ...]]:
        """Copies and pickles are made anew: checked, and their arrays read-only."""
        return type(self), tuple(getattr(self, f.name) for f in fields(self))


@dataclass(frozen=True, init=False, eq=False)
class Game:
    """A setting plus the clients' types, which are private: a server never holds a Game."""

    setting: Setting
    alpha: FloatArray

    def __init__(self, setting: Setting, alpha: ArrayLike) -> None:
        require(isinstance(setting, Setting), "setting", "must be a Setting", setting)
        object.__setattr__(self, "setting", setting)
        object.__setattr__(self, "alpha", sensitivities("alpha", alpha, setting.n))

    @cached_property
    def accuracy_weight(self) -> float:
        """M = sum(1 - alpha), over everyone who uses the model (section 1)."""
        blocks = range(0, self.setting.n, BLOCK)
        return math.fsum(float((1.0 - self.alpha[b : b + BLOCK]).sum()) for b in blocks)

    def others_weight(self) -> FloatArray:
        """M_-i = M - (1 - alpha_i) (section 1)."""
        return without_own(1.0 - self.alpha)

    def error(self, sigma: ArrayLike) -> float:
        """Delta(sigma) (section 1)."""
        return aggregate_error(self.setting, self._noise(sigma))

    def costs(self, sigma: ArrayLike, error: float | None = None) -> FloatArray:
        """J_i of every client, before money. 0 * infinity counts as 0 (section 1)."""
        noise = self._noise(sigma)
        at = aggregate_error(self.setting, noise) if error is None else error
        accuracy = _zero_times(1.0 - self.alpha, self.setting.loss(at))
        return accuracy + privacy_costs(self.alpha, noise, self.setting.privacy_scale)

    def social_cost(self, sigma: ArrayLike, error: float | None = None) -> float:
        """SC = M psi(Delta) + a sum(alpha / sigma)."""
        noise = self._noise(sigma)
        at = aggregate_error(self.setting, noise) if error is None else error
        privacy = privacy_costs(self.alpha, noise, self.setting.privacy_scale)
        loss = self.setting.loss(at)
        weight = self.accuracy_weight
        return float(privacy.sum()) + (weight * loss if weight > 0 else 0.0)

    def __reduce__(self) -> tuple[type["Game"], tuple[Setting, FloatArray]]:
        """As a setting's."""
        return type(self), (self.setting, self.alpha)

    def _noise(self, sigma: ArrayLike) -> FloatArray:
        return noise_levels("sigma", sigma, self.setting.n)


def without_own(values: FloatArray) -> FloatArray:
    """Sums over all the other entries of a row, from both sides: a difference would cancel."""
    before, after = np.zeros(values.shape), np.zeros(values.shape)
    np.cumsum(values[..., :-1], axis=-1, out=before[..., 1:])
    np.cumsum(values[..., :0:-1], axis=-1, out=after[..., -2::-1])
    return before + after


def aggregate_error(setting: Setting, sigma: FloatArray) -> float:
    """Delta(sigma) (section 1), in units of its largest term: nothing under- or overflows."""
    active = setting.active
    weights, noise = setting.weights[active], sigma[active]
    parts = np.concatenate([weights * noise, weights * np.sqrt(setting.spread[active])])
    largest = float(parts.max())
    if largest == 0.0 or math.isinf(largest):
        return largest
    return largest * math.sqrt(float(np.square(parts / largest).sum()))


def privacy_costs(alpha: FloatArray, sigma: FloatArray, scale: float) -> FloatArray:
    """alpha a / sigma, with 0 for alpha = 0 whatever the noise (section 1, edges)."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        costs = alpha / (sigma / scale)
    return np.where(alpha > 0, costs, 0.0)


def _weights(spec: WeightSpec, n: int) -> FloatArray:
    if isinstance(spec, str):
        require(spec == "mean", "weights", 'must be "mean" or an array', spec)
        return np.broadcast_to(np.float64(1.0 / n), (n,))
    return simplex("weights", spec, n)


def _zero_times(factor: FloatArray, value: float) -> FloatArray:
    if math.isfinite(value):
        return factor * value
    return np.where(factor > 0, value, 0.0)
