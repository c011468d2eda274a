"""The paper's complete-information results, verbatim (its section III; theory section 6).

The paper has no spread and no divergence, and weights each upload by its predicted precision,

    rho_i = sigma_i^-2 / sum_j sigma_j^-2,      Delta^MLE = (sum_j sigma_j^-2)^(-1/2),

so that with t_i = alpha_i / omega_i and R = sqrt(sum t_j^2) both equations of its Proposition 2 are

    sigma_i = Delta R / t_i,      psi'(Delta) Delta^2 = a R,

with omega_i = 1 - alpha_i at its equilibrium sigma* and omega_i = M at its optimum sigma**. Its
kappa is ``loss.linear`` and its kappa / L_F is ``2 * loss.quadratic``; its cS is a.

A client with alpha = 0 is given unlimited noise and hence no weight: it is inactive. Everything
that refers to N counts active clients; M counts all. The weights of the game that is passed in
say who is there, and nothing else. What is wrong with these results: ``pigou.paper.errata``.
"""

import math

import numpy as np

from pigou.checks import BoolArray, FloatArray
from pigou.errors import Degenerate, NotApplicable, TooFewClients
from pigou.fixed_point import closed_form, safe_log
from pigou.game import AccuracyLoss, Game, Setting
from pigou.mechanisms.expected import balancing_refund
from pigou.solve import Outcome, Solution, Status


def equilibrium(game: Game) -> Solution:
    """Proposition 2, sigma*: sigma_i = C (1 - alpha_i) / alpha_i, C^2 (1 + C/(RL)) = aR^3/kappa."""
    present = game.setting.active
    if (game.alpha[present] == 1.0).any():
        raise Degenerate("alpha", "must be below 1: sigma* is 0 at an infinite cost", game.alpha)
    with np.errstate(divide="ignore"):
        return _stationary_point(game, game.alpha / (1.0 - game.alpha))


def stationary(game: Game) -> Solution:
    """Proposition 2, sigma**: sigma_i = K / alpha_i, K^2 (1 + K/(AL)) = aA^3/(kappa M).

    The paper's "social optimum", which is the optimum for these weights once they are committed,
    and a saddle of the social cost when they follow the noise (E1).
    """
    if not game.accuracy_weight > 0:
        raise Degenerate("alpha", "must not be 1 for every client: no finite optimum", game.alpha)
    return _stationary_point(game, game.alpha / game.accuracy_weight)


def one_volunteer(game: Game) -> Solution:
    """The true minimum when weights follow the noise: only the least sensitive client uploads.

    Delta^2 (1 + Delta / L) = a alpha_min / (kappa M) (section 5, spread 0).
    """
    _require_paper_setting(game.setting)
    if not game.accuracy_weight > 0:
        raise Degenerate("alpha", "must not be 1 for every client: no finite optimum", game.alpha)
    least = int(np.argmin(np.where(game.setting.active, game.alpha, np.inf)))
    error = _error(game, float(game.alpha[least]) / game.accuracy_weight)
    sigma = np.full(game.setting.n, np.inf)
    sigma[least] = error
    return _solution(game, np.where(np.isinf(sigma), 0.0, 1.0), sigma, error)


def mle_error(sigma: FloatArray) -> float:
    """Delta^MLE = (sum sigma_i^-2)^(-1/2), in units of the least noise: nothing overflows."""
    least = float(sigma.min())
    if least == 0.0 or math.isinf(least):
        return least
    return least / math.sqrt(float(np.square(least / sigma).sum()))


def mle_social_cost(game: Game, sigma: FloatArray) -> float:
    """Social cost when the weights follow sigma, as in the paper's J_i."""
    return game.social_cost(sigma, mle_error(sigma))


def bound_mle(loss: AccuracyLoss, sigma: FloatArray) -> float:
    """Proposition 1's bound, kappa Delta (1 + Delta / (2 L_F)), with MLE aggregation."""
    return loss(mle_error(sigma))


def bound_mean(loss: AccuracyLoss, sigma: FloatArray) -> float:
    """The same bound with mean aggregation: Delta = sqrt(sum sigma_i^2) / N."""
    largest = float(sigma.max())
    if largest == 0.0 or math.isinf(largest):
        return loss(largest)
    return loss(largest * math.sqrt(float(np.square(sigma / largest).sum())) / sigma.size)


def beta_as_printed(optimum: Solution) -> FloatArray:
    """Definition 4: N^2 sum_{j != i} (1-a_j) a_j cS / (2 (N-1)^2 sum_j (1-a_j) sigma_j**^3)."""
    alpha, sigma, active = _actives(optimum)
    product = (1.0 - alpha) * alpha
    others = product.sum() - product
    scale = optimum.game.setting.privacy_scale
    beta = _leave_one_out(alpha.size) * others * scale / ((1.0 - alpha) @ sigma**3)
    return _spread_out(beta, active)


def beta_corrected(optimum: Solution) -> FloatArray:
    """N^2 alpha_i cS sum_{j != i} (1-a_j) / (2 (N-1)^2 sigma_i**^3 sum_j (1-a_j)) (E4)."""
    alpha, sigma, active = _actives(optimum)
    game = optimum.game
    share = game.others_weight()[active] / game.accuracy_weight
    scale = game.setting.privacy_scale
    beta = _leave_one_out(alpha.size) * share * alpha * scale / sigma**3
    return _spread_out(beta, active)


def unit_price(beta: FloatArray, active: int) -> FloatArray:
    """b = ((N-1)/N)^2 beta: the paper compares with the mean of all, not of the others."""
    return ((active - 1) / active) ** 2 * beta


def q_as_printed(optimum: Solution, beta: FloatArray) -> float:
    """Definition 4: q = (2 (N-1)^2 / N) sum_i beta_i sigma_i**."""
    _, sigma, active = _actives(optimum)
    n = sigma.size
    return 2.0 * (n - 1) ** 2 / n * float(beta[active] @ sigma)


def q_balanced(optimum: Solution, beta: FloatArray) -> float:
    """q = (1/N) sum_i beta_i [((N-1)/N)^2 sigma_i^2 + sum_{j != i} sigma_j^2 / N^2] (E5)."""
    setting = optimum.game.setting
    return balancing_refund(setting, unit_price(beta, setting.n_active), optimum.sigma)


def _stationary_point(game: Game, t: FloatArray) -> Solution:
    """sigma_i = Delta R / t_i of the module's head."""
    _require_paper_setting(game.setting)
    t = np.where(game.setting.active, t, 0.0)
    largest = float(t.max())
    if largest == 0.0:
        raise Degenerate("alpha", "must be above 0 for a client: sigma is K / alpha", game.alpha)
    share = t / largest
    norm = math.sqrt(float(np.square(share).sum()))
    error = _error(game, largest * norm)
    with np.errstate(divide="ignore"):
        sigma = error * norm / share
    return _solution(game, np.square(share / norm), sigma, error)


def _error(game: Game, r: float) -> float:
    """The positive root of psi'(Delta) Delta^2 = a R: with v = 0 and H = R^(1/3), theory (1)."""
    setting = game.setting
    return math.exp(
        closed_form(setting.loss, math.log(setting.privacy_scale), safe_log(r) / 3.0).log_error
    )


def _solution(game: Game, weights: FloatArray, sigma: FloatArray, error: float) -> Solution:
    """The point, in the game whose committed weights are the ones that the paper predicts."""
    given = game.setting
    setting = Setting(given.n, given.loss, given.privacy_scale, weights / weights.sum())
    return Solution(Game(setting, game.alpha), sigma, error, 0, Status(Outcome.CLOSED_FORM))


def _require_paper_setting(setting: Setting) -> None:
    if setting.spread[setting.active].any():
        raise NotApplicable("spread", "must be 0 in the paper's model", setting.spread)


def _actives(optimum: Solution) -> tuple[FloatArray, FloatArray, BoolArray]:
    active = optimum.game.setting.active
    return optimum.game.alpha[active], optimum.sigma[active], active


def _leave_one_out(n: int) -> float:
    """N^2 / (2 (N-1)^2)."""
    if n < 2:
        raise TooFewClients("alpha", "must be above 0 for 2 clients or more to compare", n)
    return n**2 / (2.0 * (n - 1) ** 2)


def _spread_out(values: FloatArray, active: BoolArray) -> FloatArray:
    everyone = np.zeros(active.size)
    everyone[active] = values
    return everyone
