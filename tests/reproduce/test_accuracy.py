"""Test accuracy: no noise, priced, unpriced; and the test that says what is significant."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from tests.reproduce.trained import QUICK, on_digits, on_mnist

from pigou.reproduce.accuracy import LEVEL, SEEDS, Accuracies, measured, significant, trials


def test_significance_is_scipys() -> None:
    rng = np.random.default_rng(0)
    judged = []
    for shift in np.linspace(-1.0, 2.0, 40):
        drawn = shift + rng.standard_normal(10)
        found = ttest_1samp(drawn, 0.0)
        expected = bool(found.pvalue < LEVEL and found.statistic > 0)
        assert significant(drawn) == expected
        judged.append(expected)
    assert 5 < sum(judged) < 35


def test_the_order_needs_both_differences() -> None:
    spread = 0.001 * np.arange(10.0)
    high, low = (0.8 + spread)[None], (0.6 + spread[::-1])[None]
    assert Accuracies((1.0,), 0.9, high, low).ordered(0)
    assert not Accuracies((1.0,), 0.9, low, high).ordered(0)
    assert not Accuracies((1.0,), 0.8, high, low).ordered(0)
    assert not Accuracies((1.0,), 0.9, high, high).ordered(0)


def test_treatments_of_a_seed_share_types_and_noise() -> None:
    made = trials(on_digits(), 3, (0.1, 1.0))
    assert len(made) == 12
    for seed in range(3):
        same = [each for each in made if each.seed == seed]
        assert len(same) == 4
        for each in same:
            np.testing.assert_array_equal(each.game.alpha, same[0].game.alpha)
    scales = sorted({each.game.setting.privacy_scale for each in made})
    assert scales == pytest.approx([0.1 * scales[1], on_digits().setting.privacy_scale])


def test_the_order_on_digits() -> None:
    found = measured(on_digits(), (1.0,), QUICK)
    assert found.priced.shape == found.unpriced.shape == (1, SEEDS)
    assert found.ordered(found.default)


@pytest.mark.long
def test_the_order_on_mnist() -> None:
    """Parameters as in examples/mnist_hundred.toml: fixed before any run with noise."""
    found = measured(on_mnist(), (1.0,), QUICK)
    assert found.ordered(found.default)
    harm, gain = (each.mean() for each in found.differences(0))
    assert harm > 0.05
    assert gain > 0.05
