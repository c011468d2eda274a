"""Certify an outcome: can anybody gain, does the budget hold, how good is it (section 7)."""

import numpy as np
from numpy.typing import ArrayLike

from pigou.certificate.best_weights import best_over_weights
from pigou.certificate.facing import Bills, Facing, expected_bills, facing
from pigou.certificate.interim import OnAverage, worst_type
from pigou.certificate.lies import Rule, relative_gain, worst_report
from pigou.certificate.prefixes import BestWeights
from pigou.certificate.report_search import check_space
from pigou.certificate.results import GAIN_TOLERANCE, Budget, Certificate, Deviation, Promise
from pigou.certificate.search import best_noise
from pigou.certificate.stakes import Stakes
from pigou.certificate.yardsticks import least_social_cost, unpriced_costs, with_weights
from pigou.checks import FloatArray, noise_levels
from pigou.errors import Degenerate, InvalidArgument, require
from pigou.game import Game
from pigou.population import Population
from pigou.terms import Reports, Terms

BUDGET_TOLERANCE = 1e-9  # of the charges


def certify(
    game: Game,
    terms: Terms,
    *,
    sigma: ArrayLike | None = None,
    rule: Rule | None = None,
    report_space: Reports | None = None,
    population: Population | None = None,
) -> Certificate:
    """Search for a client that gains by deviating when everybody else plays ``sigma``.

    ``sigma`` defaults to the terms' target. With ``rule`` (reports -> Terms) and a
    ``report_space``, clients may misreport as well, the others being truthful and obedient. With a
    finite ``population`` too, each type deviates on average over the others' types, which it does
    not know when it chooses its report and its noise; then that alone is judged.
    """
    _check(game, terms)
    _check_reports(rule, report_space, population)
    stated, game = game.setting, with_weights(game, terms.weights)
    played = _played(terms, sigma)
    faced = facing(game.setting, terms, played)
    stakes = Stakes.of(game.setting.loss, game.alpha, game.setting.privacy_scale, faced)
    own = game.costs(faced.sigma)
    noise, report, average = _own_noise(stakes, faced, own), None, None
    if rule is not None and report_space is not None:
        if population is None:
            report = worst_report(game, rule, report_space)
        else:
            average = worst_type(stated, rule, report_space, population)
            noise, report = average.noise, average.report
    curvature = stakes.curvature(faced.sigma)
    optimum = BestWeights(least_social_cost(game), game.setting.n_active)
    best = min(best_over_weights(game), optimum, key=lambda found: found.social_cost)
    return Certificate(
        noise=noise,
        report=report,
        curvature=curvature,
        second_order=bool((curvature >= 0).all()),
        social_cost=game.social_cost(faced.sigma),
        optimum=optimum.social_cost,
        best_weights=best.social_cost,
        best_active=best.active,
        budget=_budget(terms, expected_bills(game.setting, terms, faced.sigma), average),
        better_off=_better_off(own + faced.money, unpriced_costs(game)),
    )


def _check(game: Game, terms: Terms) -> None:
    require(isinstance(game, Game), "game", "must be a Game", game)
    require(isinstance(terms, Terms), "terms", "must be Terms", terms)
    size = terms.weights.size
    require(size == game.setting.n, "terms", f"must be for {game.setting.n} clients", size)
    if not game.accuracy_weight > 0:
        raise Degenerate("alpha", "must not be 1 for every client: no finite optimum", game.alpha)


def _check_reports(rule: Rule | None, space: Reports | None, population: Population | None) -> None:
    both = (rule is None) == (space is None)
    require(both, "report_space", "must be given where rule is, and only there", space)
    if space is not None:
        require(callable(rule), "rule", "must be callable: reports -> Terms", rule)
        check_space(space)
    require(rule is not None or population is None, "population", "needs a rule", population)


def _played(terms: Terms, sigma: ArrayLike | None) -> FloatArray:
    if sigma is None:
        if terms.sigma is None:
            raise InvalidArgument("sigma", "must be given: these terms name no target", None)
        return terms.sigma
    played = noise_levels("sigma", sigma, terms.weights.size)
    billed = played[terms.active] if terms.charge.any() else np.zeros(1)
    limit = "must be finite: these terms charge for noise"
    require(np.isfinite(billed).all(), "sigma", limit, played)
    return played


def _own_noise(stakes: Stakes, faced: Facing, own: FloatArray) -> Deviation:
    """The client that gains most, in relation to its own cost, by another noise."""
    best = best_noise(stakes, faced.sigma)
    gain = stakes.gain(faced.sigma, best)
    relative = relative_gain(gain, own)
    k = int(np.argmax(relative))
    return Deviation(k, float(best[k]), float(gain[k]), float(relative[k]))


def _budget(terms: Terms, bills: Bills, average: OnAverage | None) -> Budget:
    charges, refunds = float(bills.charge.sum()), float(bills.refund.sum())
    constant = terms.refund == "constant"
    promise: Promise = "zero in expectation" if constant else "zero every round"
    left = [charges - refunds]
    if constant and average is not None:  # q may balance over the types, rewards for reports too
        left.append(average.reserve)
    return Budget(
        promise=promise if terms.charge.any() else "nothing is charged",
        charges=charges,
        refunds=refunds,
        transfers=float(terms.transfers.sum()) / terms.money,
        holds=min(map(abs, left)) <= BUDGET_TOLERANCE * charges,
        ex_ante=None if average is None else average.reserve,
    )


def _better_off(paid: FloatArray, unpriced: FloatArray) -> float:
    """Share of clients who pay less, by more than rounding, than without prices."""
    return float(np.mean(paid < unpriced * (1.0 - GAIN_TOLERANCE)))
