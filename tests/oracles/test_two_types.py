"""The two-type model against reference numbers, enumeration, the paper's equations and mpmath.

Nothing here calls the package's sums: the paper's equations are written out anew, with exact
binomials and over every profile of types where there are few clients.
"""

import itertools
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from pigou import AccuracyLoss
from pigou.paper.two_types import Case, PerType, Reading, TwoTypes

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "two_types.json").read_text(encoding="utf-8")
)
AGREE = 1e-8  # relative, as the reference numbers are asked to be met
EXACT = 1e-11  # relative: what rounding leaves in sums of a few hundred terms

KAPPA, SMOOTHNESS, SCALE = 16.0, 2.0, 0.5
LOSS = AccuracyLoss.bound(KAPPA, SMOOTHNESS)
SMALL = [
    TwoTypes(5, 0.4, 0.5, 0.6, LOSS, SCALE),
    TwoTypes(6, 0.1, 0.35, 0.7, AccuracyLoss(0.0, 2.0), 3.0),
    TwoTypes(6, 0.2, 0.25, 0.75, AccuracyLoss(5.0, 0.0), 0.1),
    TwoTypes(7, 0.3, 0.7, 1.0, AccuracyLoss(2.0, 0.3), 1.0),
]


def model_of(vector: Mapping[str, Any]) -> TwoTypes:
    loss = AccuracyLoss.bound(vector["kappa"], vector["smoothness"])
    return TwoTypes(
        vector["N"],
        vector["eta"],
        vector["alpha_L"],
        vector["alpha_H"],
        loss,
        vector["privacy_scale"],
    )


READ: dict[str, Callable[[TwoTypes], object]] = {
    "sigma_stationary": lambda m: (m.sigma_low, m.sigma_high),
    "social_cost_stationary": lambda m: m.social_cost,
    "beta_L": lambda m: m.beta_low,
    "beta_H_as_printed": lambda m: m.beta_high_as_printed,
    "beta_H_corrected": lambda m: m.beta_high,
    "Q1": lambda m: m.q1,
    "Q2": lambda m: m.q2,
    "Q1_H": lambda m: m.q1_high,
    "Q2_H": lambda m: m.q2_high,
    "sigma_bne_case3_unpriced": lambda m: m.unpriced.sigma,
    "social_cost_bne_case3_unpriced": lambda m: m.social_cost_unpriced,
    "sigma_bne_case3_corrected": lambda m: m.equilibrium(Case.TRUTHFUL).sigma,
    "sigma_bne_case3_as_printed": lambda m: (
        m.truthful_equilibrium(m.beta(Reading.AS_PRINTED)).sigma
    ),
    "sigma_bne_case1_beta_L": lambda m: m.equilibrium(Case.ALL_LOW).sigma,
    "sigma_bne_case1_beta_H_corrected": lambda m: m.equilibrium(Case.ALL_HIGH).sigma,
    "sigma_bne_case2_corrected": lambda m: m.equilibrium(Case.SWAPPED).sigma,
}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: f"N={v['N']}, eta={v['eta']}")
@pytest.mark.parametrize("name", READ)
def test_reference_numbers(vector: dict[str, Any], name: str) -> None:
    found = np.array(READ[name](model_of(vector)))
    np.testing.assert_allclose(found, vector[name], rtol=AGREE, atol=0.0)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: f"N={v['N']}, eta={v['eta']}")
@pytest.mark.parametrize("name", ["interim_mle", "interim_mean"])
def test_reference_interim_costs(vector: dict[str, Any], name: str) -> None:
    found, expected = getattr(model_of(vector), name), vector[name]
    for key in ("sigma", "beta", "cost", "lower", "upper"):
        np.testing.assert_allclose(getattr(found, key), expected[key], rtol=AGREE, atol=0.0)
    assert found.feasible is expected["feasible"]


def test_every_reference_number_is_read() -> None:
    given = {"N", "eta", "alpha_L", "alpha_H", "kappa", "smoothness", "privacy_scale"}
    for vector in VECTORS:
        assert set(vector) == set(READ) | given | {"interim_mle", "interim_mean"}


# The paper's equations, written out anew


def pmf(n: int, k: int, eta: float) -> float:
    return math.comb(n, k) * eta**k * (1.0 - eta) ** (n - k)


def lemma_1(m: TwoTypes, s: PerType, beta: float) -> tuple[float, float]:
    """Left sides over right sides, minus 1; kappa = linear and kappa / L_F = 2 quadratic."""
    n_all, k, k_l = m.n, m.loss.linear, 2.0 * m.loss.quadratic
    sum_l = sum_h = 0.0
    for n in range(n_all):
        p = pmf(n_all - 1, n, m.eta)
        sum_l += p * ((n + 1) * s.low**2 + (n_all - 1 - n) * s.high**2) ** -0.5
        sum_h += p * (n * s.low**2 + (n_all - n) * s.high**2) ** -0.5
    return _relative(
        m,
        s,
        s.low * (k * sum_l / n_all + k_l / n_all**2),
        s.high * (k * sum_h / n_all + k_l / n_all**2),
        PerType(beta, beta),
    )


def lemma_2(m: TwoTypes, s: PerType, beta: PerType) -> tuple[float, float]:
    n_all, k, k_l = m.n, m.loss.linear, 2.0 * m.loss.quadratic
    sum_l = sum_h = 0.0
    for n in range(n_all):
        p = pmf(n_all - 1, n, m.eta)
        top_l = (n + 1) * s.low**2 / s.high**4 + (n_all - 1 - n) * s.high**2 / s.low**4
        bottom_l = (n + 1) / s.high**2 + (n_all - 1 - n) / s.low**2
        sum_l += p * (k * top_l**-0.5 / bottom_l + k_l / bottom_l**2)
        top_h = n * s.low**2 / s.high**4 + (n_all - n) * s.high**2 / s.low**4
        bottom_h = n / s.high**2 + (n_all - n) / s.low**2
        sum_h += p * (k * top_h**-0.5 / bottom_h + k_l / bottom_h**2)
    swapped = PerType(beta.high, beta.low)
    return _relative(m, s, s.low / s.high**4 * sum_l, s.high / s.low**4 * sum_h, swapped)


def lemma_3(m: TwoTypes, s: PerType, beta: PerType) -> tuple[float, float]:
    n_all, k, k_l = m.n, m.loss.linear, 2.0 * m.loss.quadratic
    sum_l = sum_h = 0.0
    for n in range(n_all):
        p = pmf(n_all - 1, n, m.eta)
        x1 = (n + 1) * s.low**-2 + (n_all - 1 - n) * s.high**-2
        x2 = n * s.low**-2 + (n_all - n) * s.high**-2
        sum_l += p * (k + k_l * x1**-0.5) * x1**-1.5
        sum_h += p * (k + k_l * x2**-0.5) * x2**-1.5
    return _relative(m, s, s.low**-3 * sum_l, s.high**-3 * sum_h, beta)


def _relative(
    m: TwoTypes, s: PerType, harm_l: float, harm_h: float, beta: PerType
) -> tuple[float, float]:
    share = ((m.n - 1) / m.n) ** 2
    left_l = (1.0 - m.alpha_low) * harm_l + 2.0 * beta.low * share * s.low
    left_h = (1.0 - m.alpha_high) * harm_h + 2.0 * beta.high * share * s.high
    right_l = m.alpha_low * m.privacy_scale / s.low**2
    right_h = m.alpha_high * m.privacy_scale / s.high**2
    return left_l / right_l - 1.0, left_h / right_h - 1.0


ALL_MODELS = [*SMALL, *(model_of(v) for v in VECTORS)]


@pytest.mark.parametrize("m", ALL_MODELS, ids=lambda m: f"N={m.n}, eta={m.eta}")
def test_the_cases_solve_the_papers_lemmas(m: TwoTypes) -> None:
    beta = PerType(m.beta_low, m.beta_high)
    printed = PerType(m.beta_low, m.beta_high_as_printed)
    for residual in (
        lemma_1(m, m.equilibrium(Case.ALL_LOW).required(), beta.low),
        lemma_1(m, m.equilibrium(Case.ALL_HIGH).required(), beta.high),
        lemma_2(m, m.equilibrium(Case.SWAPPED).required(), beta),
        lemma_3(m, m.equilibrium(Case.TRUTHFUL).required(), beta),
        lemma_3(m, m.truthful_equilibrium(printed).required(), printed),
    ):
        assert np.abs(residual).max() < EXACT


@pytest.mark.parametrize("m", ALL_MODELS, ids=lambda m: f"N={m.n}, eta={m.eta}")
def test_without_prices_lemma_3_has_beta_0(m: TwoTypes) -> None:
    if m.unpriced.sigma is not None:
        assert np.abs(lemma_3(m, m.unpriced.sigma, PerType(0.0, 0.0))).max() < EXACT


@pytest.mark.parametrize("m", ALL_MODELS, ids=lambda m: f"N={m.n}, eta={m.eta}")
def test_the_optimum_solves_lemma_3_only_under_the_corrected_prices(m: TwoTypes) -> None:
    """Proposition 5 with Bin(N-1) and N-1-n (E6, E7); beta^L as printed, alone, is exact."""
    low, high = lemma_3(m, m.sigma, PerType(m.beta_low, m.beta_high))
    assert max(abs(low), abs(high)) < EXACT
    low, high = lemma_3(m, m.sigma, PerType(m.beta_low, m.beta_high_as_printed))
    assert abs(low) < EXACT
    assert high > 1e-5 or m.alpha_high == 1.0  # 1 / N of a share: without care it is exact too


@pytest.mark.parametrize("m", SMALL, ids=lambda m: f"N={m.n}, eta={m.eta}")
def test_the_qs_are_the_papers_sums(m: TwoTypes) -> None:
    n_all, eta = m.n, m.eta
    found = (m.q1, m.q2, m.q1_high, m.q2_high)
    direct = np.zeros(4)
    for n in range(n_all):
        reports = (n_all - 1 - n, n + 1, n_all - n, n)
        direct += pmf(n_all - 1, n, eta) * np.array([pmf(n_all, k, eta) for k in reports])
    np.testing.assert_allclose(found, direct, rtol=EXACT)


# Enumeration of all profiles


Types = tuple[int, ...]


def error(tau: list[float], sigma: list[float]) -> float:
    """Delta^inc: actual noise in the numerator, the reported types' in the weights."""
    top = math.sqrt(sum(s**2 / t**4 for s, t in zip(sigma, tau, strict=True)))
    return top / sum(1.0 / t**2 for t in tau)


def profiles(m: TwoTypes, n: int) -> list[tuple[Types, float]]:
    """Types of n clients (0: low) and their probability."""
    found = []
    for types in itertools.product((0, 1), repeat=n):
        high = sum(types)
        found.append((types, m.eta ** (n - high) * (1.0 - m.eta) ** high))
    return found


def enumerated_social_cost(m: TwoTypes, sigma: PerType, tau: PerType) -> float:
    total = 0.0
    alpha = (m.alpha_low, m.alpha_high)
    for types, p in profiles(m, m.n):
        at = error([tau[k] for k in types], [sigma[k] for k in types])
        for k in types:
            cost = (1.0 - alpha[k]) * m.loss(at) + alpha[k] * m.privacy_scale / sigma[k]
            total += p * cost
    return total


def enumerated_cost(
    m: TwoTypes, kind: int, own: tuple[float, float], sigma: PerType, tau: PerType, beta: float
) -> float:
    """Expected cost before reward of a client that plays and is predicted ``own``."""
    played, predicted = own
    alpha = (m.alpha_low, m.alpha_high)[kind]
    total = 0.0
    for types, p in profiles(m, m.n - 1):
        noise = [sigma[k] for k in types]
        at = error([predicted, *(tau[k] for k in types)], [played, *noise])
        bill = ((m.n - 1) / m.n) ** 2 * played**2 + sum(s**2 for s in noise) / m.n**2
        total += p * ((1.0 - alpha) * m.loss(at) + beta * bill)
    return total + alpha * m.privacy_scale / played


def predicted_in(case: Case, sigma: PerType) -> PerType:
    """The noise that the server weights each type's uploads by, by its true type."""
    if case is Case.TRUTHFUL:
        return sigma
    return PerType(sigma.high, sigma.low) if case is Case.SWAPPED else PerType(1.0, 1.0)


@pytest.mark.parametrize("m", SMALL, ids=lambda m: f"N={m.n}, eta={m.eta}")
@pytest.mark.parametrize("case", Case)
def test_costs_equal_the_sum_over_all_profiles(m: TwoTypes, case: Case) -> None:
    sigma = m.points[case].required()
    tau = predicted_in(case, sigma)
    direct = enumerated_social_cost(m, sigma, tau)
    assert math.isclose(m.expected_social_cost(sigma, case), direct, rel_tol=EXACT)
    for kind in (0, 1):
        beta = (m.beta_low, m.beta_high)[case.reports[kind]]
        direct = enumerated_cost(m, kind, (sigma[kind], tau[kind]), sigma, tau, beta)
        assert math.isclose(m.costs_before_reward(case)[kind], direct, rel_tol=EXACT)


@pytest.mark.parametrize("m", SMALL, ids=lambda m: f"N={m.n}, eta={m.eta}")
def test_finite_differences_vanish_where_they_should(m: TwoTypes) -> None:
    """E[SC] at sigma**, and every client's expected cost in every case.

    A central difference with relative step h errs by h^2 times a third derivative of the order
    of the cost, and by rounding over h: 1e-8 at h = 1e-4, far below a first derivative that
    does not vanish.
    """
    step, small = 1e-4, 1e-6
    for k in (0, 1):
        up, down = (
            [s * (1.0 + h * (i == k)) for i, s in enumerate(m.sigma)] for h in (step, -step)
        )
        ends = [enumerated_social_cost(m, PerType(*s), PerType(*s)) for s in (up, down)]
        assert abs(ends[0] - ends[1]) / (2.0 * step) < small * m.social_cost
    for case in Case:
        sigma = m.points[case].required()
        tau = predicted_in(case, sigma)
        for kind in (0, 1):
            beta = (m.beta_low, m.beta_high)[case.reports[kind]]
            ends = [
                enumerated_cost(m, kind, (sigma[kind] * (1.0 + h), tau[kind]), sigma, tau, beta)
                for h in (step, -step)
            ]
            assert abs(ends[0] - ends[1]) / (2.0 * step) < small * ends[0]


@pytest.mark.parametrize("m", SMALL, ids=lambda m: f"N={m.n}, eta={m.eta}")
@pytest.mark.parametrize("rule", ["interim_mle", "interim_mean"])
def test_interim_costs_are_least_over_a_grid_of_enumerated_ones(m: TwoTypes, rule: str) -> None:
    found = getattr(m, rule)
    tau = found.sigma if rule == "interim_mle" else PerType(1.0, 1.0)
    for kind, report in itertools.product((0, 1), repeat=2):
        best = found.noise[kind][report]
        at = [
            enumerated_cost(m, kind, (s, tau[report]), found.sigma, tau, found.beta[report])
            for s in (best, *(best * np.exp(np.linspace(-3.0, 3.0, 41))))
        ]
        assert math.isclose(found.cost[kind][report], at[0], rel_tol=EXACT)
        assert min(at[1:]) >= at[0] * (1.0 - EXACT)


@pytest.mark.parametrize("m", SMALL, ids=lambda m: f"N={m.n}, eta={m.eta}")
def test_mean_prices_make_truth_and_obedience_best_in_noise(m: TwoTypes) -> None:
    found = m.interim_mean
    for kind in (0, 1):
        assert math.isclose(found.noise[kind][kind], found.sigma[kind], rel_tol=EXACT)


# mpmath


def mp_conditions(m: TwoTypes, low: Any, high: Any) -> list[Any]:
    """The two first-order conditions of the optimum, left over right minus 1, in 40 digits."""
    eta, a, lin, quad = (
        mp.mpf(x) for x in (m.eta, m.privacy_scale, m.loss.linear, m.loss.quadratic)
    )
    al, ah = mp.mpf(m.alpha_low), mp.mpf(m.alpha_high)
    others = m.n - 1
    window = others if m.n <= 1000 else round(40 * math.sqrt(others))
    centre = round(others * m.eta)
    first, last = max(0, centre - window), min(others, centre + window)
    p = mp.binomial(others, first) * eta**first * (1 - eta) ** (others - first)
    sums = [mp.mpf(0), mp.mpf(0)]
    for n in range(first, last + 1):
        for k, m_low in enumerate((n + 1, n)):
            delta = (m_low / low**2 + (m.n - m_low) / high**2) ** mp.mpf(-0.5)
            care = m_low * (1 - al) + (m.n - m_low) * (1 - ah)
            sums[k] += p * care * (lin * delta**3 + 2 * quad * delta**4)
        p *= mp.mpf(others - n) / (n + 1) * eta / (1 - eta)
    return [sums[0] / (al * a * low) - 1, sums[1] / (ah * a * high) - 1]


@pytest.mark.parametrize("eta", [0.3, 0.5])
def test_the_optimum_in_forty_digits(eta: float) -> None:
    m = TwoTypes(60, eta, 0.25, 0.75, LOSS, SCALE)
    with mp.workdps(40):
        root = mp.findroot(lambda x, y: mp_conditions(m, x, y), m.sigma, tol=1e-40)
        found = [float(mp.mpf(x) / y - 1) for x, y in zip(m.sigma, root, strict=True)]
    assert np.abs(found).max() < 1e-12


def test_many_clients_in_twenty_digits() -> None:
    """Over 80 standard deviations either way: the window is not taken from the code under test."""
    m = TwoTypes(40_000, 0.3, 0.25, 0.75, LOSS, SCALE)
    with mp.workdps(20):
        residual = [float(x) for x in mp_conditions(m, mp.mpf(m.sigma_low), mp.mpf(m.sigma_high))]
    assert np.abs(residual).max() < 1e-11
