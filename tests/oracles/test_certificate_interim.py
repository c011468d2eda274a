"""Lies that pay on average over the others' types, against sums over every profile of types."""

import dataclasses
import json
import math
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.oracles.certificate_by_hand import least, paid, unpaid

from pigou import AccuracyLoss, Game, Setting
from pigou.certificate import Certificate, certify
from pigou.certificate.interim import MOST_STATES, states
from pigou.errors import Degenerate, NotApplicable
from pigou.population import Finite, two_point
from pigou.terms import Interval, Terms

Floats = NDArray[np.float64]
Rule = Callable[[Floats], Terms]

ORACLE = json.loads((Path(__file__).parent / "two_types.json").read_text())


def schedule(
    types: Floats,
    sigma: Floats,
    price: Floats,
    payment: Floats,
    *,
    precise: bool = False,
    by_crowd: float = 0.0,
) -> Rule:
    """Noise, price and payment by reported type; weights equal, or by announced precision.

    With ``by_crowd`` prices depend on the others' types as well, which nobody knows.
    """

    def rule(reports: Floats) -> Terms:
        chosen = np.searchsorted(types, reports)
        crowd = 1.0 + by_crowd * float(reports.mean())
        share = sigma[chosen] ** -2 if precise else np.ones(reports.size)
        return Terms(
            mechanism="schedule",
            weights=share / share.sum(),
            unit_price=price[chosen] * crowd,
            sigma=sigma[chosen],
            transfers=-payment[chosen],
        )

    return rule


def expected_costs(setting: Setting, rule: Rule, population: Finite) -> tuple[Floats, Floats]:
    """C[type][report] at the best noise, and the types' costs before money when truthful."""
    types, chances = population.types, population.probabilities
    k = types.size
    profiles = [np.array(indices) for indices in product(range(k), repeat=setting.n - 1)]
    likely = [math.prod(chances[profile]) for profile in profiles]
    costs, own = np.zeros((k, k)), np.zeros(k)
    for true, told in product(range(k), range(k)):
        curves = []
        for profile in profiles:
            game = Game(setting, np.append(types[true], types[profile]))
            terms = rule(np.append(types[told], types[profile]))
            curves.append(paid(game, terms, 0))
            if true == told:
                own[true] += likely[len(curves) - 1] * unpaid(game, terms, 0)
        assert terms.sigma is not None
        costs[true, told] = least(
            lambda noise, curves=curves: sum(  # type: ignore[misc]
                chance * curve(noise) for chance, curve in zip(likely, curves, strict=True)
            ),
            float(terms.sigma[0]),
            points=201,
        )
    return costs, own


def obedient_costs(setting: Setting, rule: Rule, population: Finite) -> Floats:
    """What each type pays on average when truthful and obedient."""
    types, chances = population.types, population.probabilities
    total = np.zeros(types.size)
    for kind in range(types.size):
        for indices in product(range(types.size), repeat=setting.n - 1):
            others = np.array(indices)
            game = Game(setting, np.append(types[kind], types[others]))
            terms = rule(game.alpha)
            assert terms.sigma is not None
            chance = math.prod(chances[others])
            total[kind] += chance * float(paid(game, terms, 0)(terms.sigma[:1])[0])
    return total


def certified(setting: Setting, rule: Rule, population: Finite, seed: int = 0) -> Certificate:
    game = Game(setting, population.sample(setting.n, np.random.default_rng(seed)))
    menu = tuple(population.types.tolist())
    terms = rule(game.alpha)
    return certify(game, terms, rule=rule, report_space=menu, population=population)


@pytest.mark.parametrize("precise", [False, True])
def test_the_worst_lie_of_a_random_schedule_is_that_of_brute_force(precise: bool) -> None:
    rng = np.random.default_rng(12)
    for _ in range(6):
        k, n = int(rng.integers(2, 4)), int(rng.integers(3, 5))
        types = np.sort(rng.uniform(0.1, 0.9, k))
        population = Finite(types, rng.dirichlet(np.full(k, 3.0)))
        sizes = 10.0 ** rng.uniform(-0.5, 0.5, (3, k))
        rule = schedule(types, *sizes, precise=precise, by_crowd=3.0)
        setting = Setting(n, AccuracyLoss(3.0, 2.0), 0.5, spread=float(rng.uniform(0.0, 0.5)))
        costs, own = expected_costs(setting, rule, population)
        gains = (obedient_costs(setting, rule, population) - costs.min(axis=1)) / own
        found = certified(setting, rule, population).report
        assert found is not None
        assert found.relative == pytest.approx(gains.max(), rel=0.01)
        assert found.client == int(np.argmax(gains))
        assert found.alpha == types[found.client]
        told = types[int(np.argmin(costs[found.client]))]
        assert found.report == (None if told == found.alpha else told)


LOW, HIGH = 0, 1
CASES = [(case["N"], case["eta"], kind) for case in ORACLE for kind in ("mle", "mean")]


def of_the_oracle(
    n: int, eta: float, kind: str
) -> tuple[Setting, Finite, Floats, Callable[[float], Rule]]:
    """A reference case, its interim costs C[type][report], and the rule for any t_L - t_H.

    C counts the whole expected charge, and no refund.
    """
    case = next(case for case in ORACLE if (case["N"], case["eta"]) == (n, eta))
    loss = AccuracyLoss.bound(case["kappa"], case["smoothness"])
    setting = Setting(n, loss, case["privacy_scale"])
    population = two_point(case["alpha_L"], case["alpha_H"], eta)
    interim = case[f"interim_{kind}"]
    sigma = np.array(interim["sigma"])
    price = np.array(interim["beta"]) * ((n - 1) / n) ** 2

    def with_payment(difference: float) -> Rule:
        payment = np.array([difference, 0.0])
        bare = schedule(population.types, sigma, price, payment, precise=kind == "mle")
        return lambda reports: dataclasses.replace(bare(reports), refund="constant")

    return setting, population, np.array(interim["cost"]), with_payment


@pytest.mark.parametrize(("n", "eta", "kind"), CASES)
def test_two_types_gain_what_the_reference_says(n: int, eta: float, kind: str) -> None:
    setting, population, cost, with_payment = of_the_oracle(n, eta, kind)
    for difference in (0.0, 5.0, -5.0):
        found = certified(setting, with_payment(difference), population).report
        assert found is not None
        paid_off = cost - np.array([difference, 0.0])  # one column per report
        gains = paid_off[[LOW, HIGH], [LOW, HIGH]] - paid_off[[LOW, HIGH], [HIGH, LOW]]
        if gains.max() <= 0:
            assert found.relative <= 1e-9
        else:
            liar = found.client
            assert gains[liar] > 0
            assert found.gain == pytest.approx(gains[liar], abs=1e-8 * cost[liar, liar])
            assert found.report == population.types[1 - liar]


@pytest.mark.parametrize(("n", "eta"), [(case["N"], case["eta"]) for case in ORACLE])
def test_with_mean_weights_payments_between_the_bounds_make_truth_best(n: int, eta: float) -> None:
    setting, population, cost, with_payment = of_the_oracle(n, eta, "mean")
    lower, upper = cost[LOW, LOW] - cost[LOW, HIGH], cost[HIGH, LOW] - cost[HIGH, HIGH]
    assert lower < upper
    for share, liar in ((0.01, None), (0.5, None), (0.99, None), (-0.01, LOW), (1.01, HIGH)):
        rule = with_payment(lower + share * (upper - lower))
        certificate = certified(setting, rule, population)
        found = certificate.report
        assert found is not None
        if liar is None:
            assert found.relative <= 1e-9
            assert found.report is None
        else:
            assert (found.client, found.report) == (liar, population.types[1 - liar])
            assert found.gain == pytest.approx(0.01 * (upper - lower), rel=1e-4)
            type_ = f"{population.types[liar]:.6g}"
            assert f"FAILS: a client of type {type_} reports " in certificate.explain()


def test_noise_is_judged_on_average_and_not_in_the_game_that_happens() -> None:
    setting, population, cost, with_payment = of_the_oracle(10, 0.3, "mean")
    lower, upper = cost[LOW, LOW] - cost[LOW, HIGH], cost[HIGH, LOW] - cost[HIGH, HIGH]
    rule = with_payment(0.5 * (lower + upper))
    game = Game(setting, np.repeat(population.types, [1, 9]))
    assert certify(game, rule(game.alpha)).max_gain > 1e-6  # who knows the others does better
    certificate = certified(setting, rule, population)
    assert certificate.noise.relative <= 1e-9
    assert certificate.noise.alpha is not None


def test_the_reserve_on_average_is_what_truthful_types_are_charged() -> None:
    population = Finite([0.2, 0.4, 0.9], [0.5, 0.3, 0.2])
    payment = np.array([0.1, 0.7, -0.2])
    setting = Setting(4, AccuracyLoss(1.0, 1.0), 0.5)
    rule = schedule(population.types, np.ones(3), np.array([3.0, 2.0, 1.0]), payment)
    budget = certified(setting, rule, population).budget
    assert budget.ex_ante == pytest.approx(-4.0 * float(population.probabilities @ payment))
    assert budget.residual != pytest.approx(budget.ex_ante)  # one draw is not the average


@pytest.mark.parametrize(("q", "holds"), [(0.0, True), (1e-6, False), (-1e-6, False)])
def test_a_constant_refund_may_balance_over_the_types_with_what_reports_earn(
    q: float, holds: bool
) -> None:
    """Refunds that return all charges and payments on average, as they do in no single draw."""
    population, setting = two_point(0.2, 0.9, 0.5), Setting(4, AccuracyLoss(1.0, 1.0), 0.5)
    bare = schedule(population.types, np.ones(2), np.array([3.0, 2.0]), np.array([0.2, 0.1]))

    def rule(reports: Floats) -> Terms:
        # E[D] = 1 + 3 / 9; on average 2.5 of it is charged, and 0.15 paid for the report
        refund = 2.5 * 4.0 / 3.0 - 0.15 + q
        return dataclasses.replace(bare(reports), refund="constant", constant_refund=refund)

    budget = certified(setting, rule, population).budget
    assert budget.promise == "zero in expectation"
    assert budget.holds is holds
    assert budget.ex_ante == pytest.approx(-4.0 * q, abs=1e-12)
    assert abs(budget.residual) > 0.1


@pytest.mark.parametrize(("others", "types"), [(0, 3), (5, 1), (4, 3), (40, 2)])
def test_states_are_all_counts_with_their_multinomial_chances(others: int, types: int) -> None:
    chances = np.random.default_rng(types).dirichlet(np.ones(types))
    counts, likely = states(others, chances)
    assert len(counts) == math.comb(others + types - 1, types - 1)
    assert len(np.unique(counts, axis=0)) == len(counts)
    assert (counts.sum(axis=1) == others).all()
    for row, chance in zip(counts.tolist(), likely, strict=True):
        ways = math.factorial(others) / math.prod(map(math.factorial, row))
        assert chance == pytest.approx(ways * math.prod(chances**row), rel=1e-12)


def test_a_rule_may_refuse_a_lie_but_not_the_truth() -> None:
    population = two_point(0.2, 0.8, 0.5)
    setting = Setting(3, AccuracyLoss(1.0, 1.0), 0.5)
    types = np.array([0.2, 0.5, 0.8])
    bare = schedule(types, np.ones(3), np.zeros(3), np.array([0.0, 99.0, 0.0]))

    def rule(reports: Floats) -> Terms:
        if (reports == 0.5).any():
            raise Degenerate("reports", "must not hold 0.5", reports)
        return bare(reports)

    game = Game(setting, [0.2, 0.8, 0.8])
    found = certify(
        game, rule(game.alpha), rule=rule, report_space=(0.2, 0.5, 0.8), population=population
    ).report
    assert found is not None
    assert found.report != 0.5
    with pytest.raises(Degenerate, match=r"0\.5"):
        certified(setting, rule, two_point(0.2, 0.5, 0.5))


REFUSED: list[tuple[dict[str, object], str]] = [
    ({"weights": [0.5, 0.25, 0.25]}, "weights must be equal"),
    ({"spread": [0.1, 0.1, 0.2]}, "spread must be equal"),
    ({"divergence": [0.1, 0.1, 0.2]}, "divergence must be equal"),
]


@pytest.mark.parametrize(("parts", "message"), REFUSED)
def test_clients_who_differ_in_more_than_type_are_refused(
    parts: dict[str, object], message: str
) -> None:
    setting = Setting(3, AccuracyLoss(1.0, 1.0), 0.5, **parts)  # type: ignore[arg-type]
    game = Game(setting, [0.2, 0.8, 0.8])
    types = np.array([0.2, 0.8])
    rule = schedule(types, np.ones(2), np.zeros(2), np.zeros(2))
    terms = dataclasses.replace(rule(game.alpha), weights=setting.weights)
    population = two_point(0.2, 0.8, 0.5)
    with pytest.raises(NotApplicable, match=message):
        certify(game, terms, rule=rule, report_space=(0.2, 0.8), population=population)


def test_pairs_and_too_many_counts_are_refused() -> None:
    population = Finite(np.linspace(0.1, 0.9, 9), np.full(9, 1 / 9))
    setting = Setting(100, AccuracyLoss(1.0, 1.0), 0.5)
    rule = schedule(population.types, np.ones(9), np.zeros(9), np.zeros(9))
    with pytest.raises(NotApplicable, match=f"at most {MOST_STATES} .* fewer types"):
        certified(setting, rule, population)
    game = Game(setting, np.full(100, 0.5))
    unit = Interval(0.0, 1.0)
    with pytest.raises(NotApplicable, match="types alone"):
        certify(
            game,
            rule(game.alpha),
            rule=rule,
            report_space=(unit, unit),
            population=population,
        )


def test_types_off_the_menu_are_refused() -> None:
    population = two_point(0.2, 0.8, 0.5)
    rule = schedule(np.array([0.2, 0.5]), np.ones(2), np.zeros(2), np.zeros(2))
    game = Game(Setting(3, AccuracyLoss(1.0, 1.0), 0.5), [0.2, 0.2, 0.2])
    with pytest.raises(ValueError, match=r"report_space must contain the true reports.*0\.8"):
        certify(game, rule(game.alpha), rule=rule, report_space=(0.2, 0.5), population=population)


def test_one_client_has_no_others_to_average_over() -> None:
    setting = Setting(1, AccuracyLoss(1.0, 0.0), 1.0)
    population = two_point(0.2, 0.5, 0.5)
    sigma = np.array([0.5, 1.0])  # sqrt(alpha a / ((1 - alpha) linear)): its own optimum
    rule = schedule(population.types, sigma, np.zeros(2), np.zeros(2))
    assert certified(setting, rule, population).ok
