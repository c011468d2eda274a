"""What clients pay, from the definitions: expected squared deviations from the covariance of
independent noise, charges from the linear system that makes their net slope the unit price."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pigou import Game
from pigou.terms import Terms

Floats = NDArray[np.float64]
Curve = Callable[[Floats], Floats]


def charges(price: Floats) -> Floats:
    """Charges that add up to a net slope of ``price``: d(charge_i - refund_i) / d sigma_i^2."""
    n = price.size
    back = 1.0 / (n - 1) ** 3  # through each of the others' deviations, of which a share comes back
    return np.asarray(np.linalg.solve(np.eye(n) * (1.0 + back) - back, price), np.float64)


def cost(
    game: Game, weights: Floats, charge: Floats, noise: Floats, client: int, own: Floats
) -> Floats:
    """What one client pays in all, for each noise of its own, with refunds that sum to zero."""
    setting, n = game.setting, noise.size
    sigma = np.repeat(noise[None], own.size, axis=0)
    sigma[:, client] = own
    s = sigma**2 + setting.spread
    error = np.sqrt((weights**2 * s).sum(axis=1))
    others = np.full((n, n), 1.0 / (n - 1) ** 2)
    np.fill_diagonal(others, 1.0)
    bill = charge * (s @ others + setting.divergence)  # one column per client
    refund = (bill.sum(axis=1) - bill[:, client]) / (n - 1)
    alpha, loss = game.alpha[client], setting.loss
    accuracy = (1.0 - alpha) * (loss.linear * error + loss.quadratic * error**2)
    privacy = alpha * setting.privacy_scale / own
    return np.asarray(accuracy + privacy + bill[:, client] - refund)


def paid(game: Game, terms: Terms, client: int) -> Curve:
    """The same under terms that the others obey, with the transfer."""
    assert terms.sigma is not None
    charge, target = charges(terms.unit_price), terms.sigma
    transfer = float(terms.transfers[client]) / terms.money

    def total(own: Floats) -> Floats:
        return cost(game, terms.weights, charge, target, client, own) + transfer

    return total


def unpaid(game: Game, terms: Terms, client: int) -> float:
    """The client's cost before money when everybody obeys."""
    assert terms.sigma is not None
    nothing = np.zeros(game.setting.n)
    own = terms.sigma[[client]]
    return float(cost(game, terms.weights, nothing, terms.sigma, client, own)[0])


def least(curve: Curve, centre: float, decades: float = 3.0, points: int = 401) -> float:
    """The least value of a curve on dense logarithmic grids, three times as fine again."""
    at, reach = np.log(centre), np.log(10.0) * decades
    for _ in range(3):
        grid = np.linspace(at - reach, at + reach, points)
        values = curve(np.exp(grid))
        at, reach = grid[np.argmin(values)], 4.0 * reach / points
    return float(values.min())
