"""Fig. 1 from training: shapes as inequalities, on digits and on MNIST."""

import numpy as np
import pytest
from tests.reproduce.named_tests import exists
from tests.reproduce.trained import QUICK, on_digits, on_mnist

from pigou.reproduce.fig1_training import (
    TRAINED_WIDTHS,
    TREATMENTS,
    claim,
    growth,
    plan,
    types,
)
from pigou.reproduce.part import Verdict
from pigou.reproduce.training import Measured
from pigou.reproduce.training_grid import Grid, run
from pigou.reproduce.treatments import CORRECTED, GROVES, MEAN_UNPRICED, POSTED, PRINTED, UNPRICED
from pigou.runs import Ready

SEEDS = 3
ENDS = (0, -1)


def trained(ready: Ready, names: tuple[str, ...]) -> Grid:
    alpha = types(QUICK, SEEDS)[list(ENDS)]
    return run(ready.task, plan(ready, alpha, names))


def test_types_are_the_same_quantiles_at_every_width() -> None:
    alpha = types(QUICK, SEEDS)
    assert alpha.shape == (len(TRAINED_WIDTHS), SEEDS, 100)
    assert (np.diff(alpha.var(axis=2), axis=0) > 0).all()
    ranks = np.argsort(alpha, axis=2)
    np.testing.assert_array_equal(ranks, np.broadcast_to(ranks[0], ranks.shape))
    assert (alpha[:, 0] != alpha[:, 1]).all()


def test_unpriced_rises_and_priced_stays_low() -> None:
    names = (UNPRICED, CORRECTED, MEAN_UNPRICED, GROVES, POSTED)
    grid = trained(on_digits(), names)
    assert growth(grid.cost[UNPRICED]) > 3.0
    assert growth(grid.cost[MEAN_UNPRICED]) > 1.2
    for name in (CORRECTED, GROVES, POSTED):
        assert 0.8 < growth(grid.cost[name]) < 1.25
        assert (grid.cost[name] < 0.5 * grid.cost[MEAN_UNPRICED]).all()  # seed by seed
        assert (grid.cost[name] < 0.5 * grid.cost[UNPRICED]).all()
        assert grid.accuracy[name].mean() > grid.accuracy[UNPRICED].mean()
    assert grid.batch.quiet_accuracy > grid.accuracy[GROVES].max()


@pytest.mark.parametrize(
    ("unpriced", "printed", "corrected", "verdict"),
    [
        (5.0, 1.1, 1.1, Verdict.REPRODUCED),
        (5.0, 9.0, 1.1, Verdict.CORRECTED),
        (5.0, 9.0, 2.0, Verdict.NOT),
        (1.5, 1.1, 1.1, Verdict.NOT),
    ],
)
def test_the_verdict_follows_the_curves(
    unpriced: float, printed: float, corrected: float, verdict: Verdict
) -> None:
    grown = dict.fromkeys(TREATMENTS, 1.0)
    grown |= {UNPRICED: unpriced, PRINTED: printed, CORRECTED: corrected}
    cost = {name: np.outer([1.0, factor], np.ones(3)) for name, factor in grown.items()}
    one = np.ones(1)
    found = claim(Grid(cost, cost, cost, Measured(one, one, one, one, one, 0.9, 1.0)))
    assert found.verdict is verdict
    assert f"{unpriced:g} times" in found.evidence
    assert all(exists(test) for test in found.tests)


@pytest.mark.long
def test_the_shape_holds_on_mnist() -> None:
    grid = trained(on_mnist(), (UNPRICED, CORRECTED))
    assert growth(grid.cost[UNPRICED]) > 3.0
    assert growth(grid.cost[CORRECTED]) < 1.25
    assert (grid.cost[CORRECTED] < 0.2 * grid.cost[UNPRICED]).all()
    assert (grid.accuracy[CORRECTED] > grid.accuracy[UNPRICED]).all()
