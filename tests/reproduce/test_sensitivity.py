"""Three open quantities are one number, and the conclusions do not hang on it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import rngs

from pigou.game import AccuracyLoss, Game, Setting
from pigou.paper import complete
from pigou.reproduce import fig1, sensitivity
from pigou.reproduce.part import Request
from pigou.solve import equilibrium, optimum

SOLVED = 1e-9  # relative: what solvers leave


@given(
    rngs(),
    st.integers(2, 30),
    st.floats(-2.0, 2.0),
    st.floats(-2.0, 2.0),
    st.floats(-3.0, 3.0),
)
def test_social_cost_over_its_unit_depends_on_chi_alone(
    rng: np.random.Generator, n: int, log_kappa: float, log_scale: float, log_chi: float
) -> None:
    alpha = rng.uniform(0.05, 0.95, n)
    kappa, scale, chi = 10.0**log_kappa, 10.0**log_scale, 10.0**log_chi
    smoothness = math.sqrt(scale / kappa) / chi
    here = Game(Setting(n, AccuracyLoss.bound(kappa, smoothness), scale), alpha)
    unit = Game(Setting(n, AccuracyLoss.bound(1.0, 1.0 / chi), 1.0), alpha)
    for solve in (equilibrium, optimum, complete.equilibrium, complete.stationary):
        expected = math.sqrt(scale * kappa) * solve(unit).social_cost
        assert solve(here).social_cost == pytest.approx(expected, rel=SOLVED)


def test_cases_of_the_same_chi_have_the_same_shapes() -> None:
    by_chi: dict[float, list[sensitivity.Shape]] = {}
    for case in sensitivity.cases():
        found = sensitivity.shape(case, (0.3, 0.5, 0.7), 3, Request().generator("same"))
        by_chi.setdefault(float(f"{case.chi:.9g}"), []).append(found)
    assert max(map(len, by_chi.values())) > 1
    for first, *others in by_chi.values():
        for other in others:
            assert other.peak_unpriced == first.peak_unpriced
            assert other.unpriced == pytest.approx(first.unpriced, rel=1e-8)
            assert other.saving == pytest.approx(first.saving, rel=1e-8)


def test_the_conclusions_hold_for_every_choice() -> None:
    for case in sensitivity.cases():
        found = sensitivity.shape(case, sensitivity.QUICK_ETAS[1::2], 20, Request().generator("x"))
        assert found.unpriced > fig1.STEEP, case.changed
        assert found.priced < fig1.FLAT, case.changed
        assert found.saving > 0.75, case.changed
        assert 0.5 <= found.peak_unpriced <= 0.8, case.changed


def test_the_limits_are_the_ends_of_chi() -> None:
    chis = [case.chi for case in sensitivity.cases()]
    assert (chis[-2], chis[-1]) == (0.0, math.inf)
    assert chis[0] == pytest.approx(math.sqrt(0.5 / 16.0) / 2.0)
