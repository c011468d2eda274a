"""The two first-order conditions that every point of the paper's section IV solves.

Theory (1) in expectation: with m of the n clients low, the other n - m high, and
rho_k(m) proportional to tau_k^-2, tau_k the noise that the server predicts for what k reports,

    sigma_k^3 (E_k[omega_k phi(Delta) rho_k^2] + 2 b_k) = alpha_k a,     k = low, high,
    Delta^2 = m rho_L^2 sigma_L^2 + (n - m) rho_H^2 sigma_H^2,           phi = psi'(Delta) / Delta.

E_k is the expectation of one who is itself of type k. omega_k = 1 - alpha_k gives the equilibria
of lemmas 1 to 3, and omega = M(m) the optimum. Everything is in the logarithm of sigma.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Literal

import numpy as np

from pigou.checks import FloatArray
from pigou.paper.two_types.pair import Pair

MAX_STEPS = 60
STEP_TOLERANCE = 1e-14  # of log(sigma)
STALLED = 1e-11  # a step this small that no longer shrinks is at the rounding of the sums

ZERO_PRICE = np.zeros(2)


class Weights(Enum):
    """tau as a linear map of log sigma: whose noise the weights are made of."""

    MEAN = ((0.0, 0.0), (0.0, 0.0))  # everyone's weight is 1/n
    TRUTHFUL = ((1.0, 0.0), (0.0, 1.0))
    SWAPPED = ((0.0, 1.0), (1.0, 0.0))


@dataclass(frozen=True, eq=False)
class System:
    """The conditions for one rule, one meaning of omega and one pair of unit prices b."""

    pair: Pair
    number: FloatArray  # of low and of high clients, in every event
    chance: FloatArray  # of the events, for a low and for a high client
    omega: FloatArray
    price: FloatArray
    weights: Weights

    def __call__(self, log_sigma: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The logarithm of left side over right side, and its Jacobian."""
        tau_map = np.array(self.weights.value)
        log_tau = tau_map @ log_sigma
        precision = np.exp(-2.0 * (log_tau - log_tau.min()))[:, None]
        rho = precision / (self.number * precision).sum(axis=0)
        noise = self.number * np.square(rho * np.exp(log_sigma)[:, None])
        variance = noise.sum(axis=0)
        error = np.sqrt(variance)
        loss = self.pair.loss
        phi = loss.linear / error + 2.0 * loss.quadratic

        harm_by_event = self.chance * self.omega * phi * np.square(rho)
        harm = harm_by_event.sum(axis=1)
        held_by = harm + 2.0 * self.price
        residual = 3.0 * log_sigma + np.log(held_by)
        residual -= np.log(self.pair.alpha * self.pair.privacy_scale)

        share, weight = noise / variance, self.number * rho  # each sums to 1 over the types
        error_slope = share + tau_map.T @ (2.0 * (weight - share))  # d log Delta / d log sigma
        linear_share = loss.linear / (error * phi)
        jacobian = np.empty((2, 2))
        for k in range(2):
            own = np.eye(2)[:, [k]]
            rho_slope = tau_map.T @ (2.0 * (weight - own))  # d log rho_k / d log sigma
            slope = 2.0 * rho_slope - linear_share * error_slope
            jacobian[k] = slope @ harm_by_event[k] / held_by[k]
        return residual, jacobian + 3.0 * np.eye(2)


@dataclass(frozen=True, eq=False)
class Root:
    """A solution in logarithms, and the Jacobian's determinant there: 0 where branches fold."""

    log_sigma: FloatArray
    determinant: float


def conditions(
    pair: Pair,
    *,
    weights: Weights,
    goal: Literal["own", "social"],
    price: FloatArray = ZERO_PRICE,
    interest: float = 1.0,
    spread: float = 1.0,
) -> System:
    """The system of one point.

    ``interest`` scales how much a client cares about accuracy; ``spread`` scales how far the
    number of low clients strays from its mean: at 0 it is n eta for sure, as if types were known.
    """
    counts = pair.all_clients
    mean = pair.n * pair.probability
    drawn = np.stack([counts.number, pair.n - counts.number])
    number = drawn if spread == 1.0 else mean[:, None] + spread * (drawn - mean[:, None])
    # Among the members of a type an event weighs as much as it has of them: E_N[m g(m)] / (n eta)
    chance = counts.chance * number / mean[:, None]
    care = interest * (1.0 - pair.alpha)
    omega = (care @ number)[None, :] if goal == "social" else care[:, None]
    return System(pair, number, chance, omega, price, weights)


def newton(system: System, start: FloatArray, reach: float = np.inf) -> Root | None:
    """The solution near ``start``; None where Newton's method leaves ``reach`` or never settles.

    With mean weights the Jacobian is 3 minus a matrix of non-negative entries whose rows sum to
    at most 1, so that each step leaves at most half of the error, from any start (section 2).
    """
    at = start
    last = np.inf
    for _ in range(MAX_STEPS):
        residual, jacobian = system(at)
        determinant = float(np.linalg.det(jacobian))
        if determinant == 0.0 or not np.isfinite(residual).all():
            return None
        move = np.linalg.solve(jacobian, -residual)
        at = at + move
        size = float(np.abs(move).max())
        if np.abs(at - start).max() > reach:
            return None
        if size <= STEP_TOLERANCE or (size <= STALLED and size >= last / 2.0):
            return Root(at, determinant)
        last = size
    return None
