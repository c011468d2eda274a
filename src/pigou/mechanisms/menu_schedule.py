"""The menu itself: what each reported type is asked, priced and paid (section 4).

N clients upload with equal weights rho = 1/N, their types independent draws from a known finite
distribution. All who report k play sigma_k, and s_k = sigma_k^2 + v. E[. | k] is over the others'
types when they are truthful and obedient, M_-i counts all the others who use the model.

* sigma_k: the least expected social cost. E[SC] is convex in (sigma_k), and stationary where
  sigma_k^3 = alpha_k a / (rho^2 E[M psi'(Delta)/Delta | k]): a contraction in log(sigma).
* b_k = rho^2 E[M_-i psi'(Delta) / (2 Delta) | k]: price (2) in expectation. Then sigma_k is the
  best noise of type k, and b_k falls in k.
* C_theta(k) = min over s of E[(1 - alpha_theta) psi(Delta)] + alpha_theta a / s + b_k E[D], D the
  client's own deviation: what type theta expects to pay after reporting k, but for the payment and
  the rest of the bill.
* That rest, E[net bill] - b_k E[D], does not depend on the client's own noise, but on its report,
  by way of the refunds. With r_k its expectation, the payment for reporting k is t_k + r_k: what
  remains is C_theta(k) - t_k.
* Truth is best iff C_theta(theta) - t_theta <= C_theta(k) - t_k for all pairs. C has increasing
  differences in (theta, b_k), so adjacent pairs are enough:
  C_k(k) - C_k(k+1) <= t_k - t_(k+1) <= C_(k+1)(k) - C_(k+1)(k+1); the middle is taken.
* Payments are balanced in expectation: the bills sum to zero, so sum p_k (t_k + r_k) = 0.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pigou.checks import FloatArray
from pigou.errors import Degenerate, NotApplicable, TooFewClients
from pigou.game import AccuracyLoss, Game, Setting
from pigou.mechanisms.menu_expectation import Expectation, Integral, Moments, expectation
from pigou.population import Finite
from pigou.solve import optimum
from pigou.terms import RefundRule

MAX_STEPS = 100
STEP_TOLERANCE = 1e-13  # of log(sigma); steps shrink to a third at least
EVEN = 1e-12  # relative difference of weights that count as equal


@dataclass(frozen=True)
class Symmetric:
    """A setting in which clients differ by their types alone, and expectations over these."""

    population: Finite
    loss: AccuracyLoss
    scale: float  # a
    uploading: int  # N
    absent: int  # users of the model who do not upload
    spread: float
    divergence: float

    @property
    def accuracy(self) -> FloatArray:
        """1 - alpha, per type."""
        return 1.0 - self.population.types

    def expected_loss(self, moments: Moments, x: FloatArray, s: FloatArray) -> FloatArray:
        """E[psi(Delta)] with Delta = rho X^(1/2)."""
        n, mean = self.uploading, float(self.population.probabilities @ s)
        square = (x + (n - 1) * mean) / n**2
        return self.loss.linear / n * moments.root + self.loss.quadratic * square

    def expected_slope(self, moments: Moments) -> FloatArray:
        """E[psi'(Delta) / Delta]."""
        return self.loss.linear * self.uploading * moments.inverse + 2.0 * self.loss.quadratic

    def others_slope(self, moments: Moments) -> FloatArray:
        """E[M_-i psi'(Delta) / Delta]."""
        mean = float(self.population.probabilities @ self.accuracy)
        absent, present = self.absent * mean, (self.uploading - 1) * mean
        linear = self.loss.linear * self.uploading * (moments.weighted + absent * moments.inverse)
        return linear + 2.0 * self.loss.quadratic * (present + absent)


@dataclass(frozen=True, eq=False)
class Schedule:
    """What the menu says per type, in increasing order of types; costs are before payments."""

    population: Finite
    sigma: FloatArray
    unit_price: FloatArray
    costs: FloatArray  # C[type, report]
    payment: FloatArray  # to the client, for the report, in units of cost

    @property
    def lower(self) -> FloatArray:
        """C_k(k) - C_k(k+1): the least t_k - t_(k+1) at which type k tells the truth."""
        return np.diag(self.costs)[:-1] - np.diag(self.costs, 1)

    @property
    def upper(self) -> FloatArray:
        """C_(k+1)(k) - C_(k+1)(k+1): the largest at which type k + 1 does."""
        return np.diag(self.costs, -1) - np.diag(self.costs)[1:]


def schedule(game: Symmetric, refund: RefundRule) -> Schedule:
    """The menu for all clients that upload."""
    expect = expectation(game.population, game.uploading - 1)
    sigma = _targets(game, expect)
    price = _slopes(game, expect, sigma)[1] / (2.0 * game.uploading**2)
    costs = _interim_costs(game, expect, sigma, price)
    unpaid = Schedule(game.population, sigma, price, costs, np.zeros(sigma.size))
    falls = 0.5 * (unpaid.lower + unpaid.upper)
    margin = np.append(np.cumsum(falls[::-1])[::-1], 0.0)
    payment = margin + _rest_of_bill(game, sigma, price, refund)
    payment -= game.population.probabilities @ payment
    return Schedule(game.population, sigma, price, costs, payment)


def symmetric(setting: Setting, population: Finite) -> Symmetric:
    """The setting as the menu sees it; refused where clients differ by more than their types."""
    active = setting.active
    n = setting.n_active
    if n < 2:
        raise TooFewClients("weights", "must be positive for 2 clients or more to compare", n)
    for name in ("weights", "spread", "divergence"):
        values = getattr(setting, name)[active]
        if np.ptp(values) > EVEN * values.max():
            raise NotApplicable(name, "must be equal for all active clients: a menu", values)
    types, spread = population.types, float(setting.spread[active][0])
    if types[0] == 1.0:
        raise Degenerate("population", "must hold a type below 1: no finite optimum", types)
    if types[0] == 0.0 and spread == 0.0:
        limit = "must hold no type 0 where spread is 0: no noise, no finite price"
        raise Degenerate("population", limit, types)
    return Symmetric(
        population=population,
        loss=setting.loss,
        scale=setting.privacy_scale,
        uploading=n,
        absent=setting.n - n,
        spread=spread,
        divergence=float(setting.divergence[active][0]),
    )


def _targets(game: Symmetric, expect: Expectation) -> FloatArray:
    """sigma_k of the least E[SC], from the optimum of as many clients of the mean type."""
    n, privacy = game.uploading, game.population.types * game.scale
    setting = Setting(n, game.loss, game.scale, spread=game.spread)
    alike = optimum(Game(setting, np.full(n, game.population.mean)))
    harm = alike.game.accuracy_weight * game.loss.slope_over_error(alike.error)

    def respond(expected: Expectation, sigma: FloatArray) -> FloatArray:
        own, others = _slopes(game, expected, sigma)
        return np.cbrt(privacy * n**2 / (game.accuracy * own + others))

    return _settle(game, expect, respond, np.cbrt(privacy * n**2 / harm))


def _slopes(
    game: Symmetric, expect: Expectation, sigma: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """E[psi'/Delta | k] and E[M_-i psi'/Delta | k], if all obey."""
    s = np.square(sigma) + game.spread
    moments = expect(s, s)
    return game.expected_slope(moments), game.others_slope(moments)


def _interim_costs(
    game: Symmetric, expect: Expectation, sigma: FloatArray, price: FloatArray
) -> FloatArray:
    """C[type, report], each at its best noise, found as the targets are."""
    s = np.square(sigma) + game.spread
    types = game.population.types.size
    privacy = np.repeat(game.population.types * game.scale, types)
    accuracy, charged = np.repeat(game.accuracy, types), np.tile(price, types)

    def respond(expected: Expectation, noise: FloatArray) -> FloatArray:
        own = game.expected_slope(expected(np.square(noise) + game.spread, s))
        return np.cbrt(privacy / (accuracy * own / game.uploading**2 + 2.0 * charged))

    noise = _settle(game, expect, respond, np.repeat(sigma, types))
    x = np.square(noise) + game.spread
    background = float(game.population.probabilities @ s) / (game.uploading - 1)
    costs = accuracy * game.expected_loss(expect(x, s), x, s)
    costs += charged * (x + game.divergence + background)
    costs += np.divide(privacy, noise, out=np.zeros_like(noise), where=privacy > 0)
    return costs.reshape(types, types)


def _settle(
    game: Symmetric,
    expect: Expectation,
    respond: Callable[[Expectation, FloatArray], FloatArray],
    sigma: FloatArray,
) -> FloatArray:
    """The fixed point of a contraction in log(sigma): by the integral, which is quick, then exact.

    Types that add no noise add none in every step.
    """
    noisy = sigma > 0
    for expected in (Integral(game.population, game.uploading - 1), expect):
        for _ in range(MAX_STEPS):
            better = respond(expected, sigma)
            step = np.abs(np.log(better[noisy] / sigma[noisy])).max(initial=0.0)
            sigma = better
            if step <= STEP_TOLERANCE:
                break
    return sigma


def _rest_of_bill(
    game: Symmetric, sigma: FloatArray, price: FloatArray, refund: RefundRule
) -> FloatArray:
    """r_k: the expected net bill of an obedient client that reports k, less b_k E[D].

    Charges are (b_j + kappa sum b) D_j / (1 + c), D_j = z_j + u + q sum_{l != j} z_l, with c and
    kappa of section 3, or 0 where refunds are constant, and q = 1/(N-1)^2. Types are independent,
    so that all expectations are products of means, but for those of one client's b z.
    """
    n, u = game.uploading, game.divergence
    c = 1.0 / (n - 1) ** 3 if refund == "zero-sum" else 0.0
    kappa, q = c / (1.0 + c - n * c), 1.0 / (n - 1) ** 2
    p, z = game.population.probabilities, np.square(sigma) + game.spread
    b_mean, z_mean, bz_mean = float(p @ price), float(p @ z), float(p @ (price * z))
    others_b, others_z = (n - 1) * b_mean, (n - 1) * z_mean
    one_all = bz_mean + (n - 2) * b_mean * z_mean  # one other's b, all others' z
    all_all = (n - 1) * one_all
    own_deviation = z + u + q * others_z
    own = price * (1.0 + kappa) * own_deviation
    own += kappa * (others_b * (z + u) + q * all_all)
    other_deviation = z_mean * (1.0 - q) + u + q * (z + others_z)
    other = (1.0 - q) * bz_mean + u * b_mean + q * (b_mean * z + one_all)
    other += kappa * price * other_deviation
    other += kappa * ((1.0 - q) * one_all + u * others_b + q * (z * others_b + all_all))
    net = (own - other) / (1.0 + c)
    if refund == "constant":
        net *= (n - 1) / n
    return np.asarray(net - price * own_deviation)
