"""The price of anarchy in the reproduction: both ways in which it has no bound."""

import numpy as np
import pytest

from pigou.reproduce import anarchy
from pigou.reproduce.part import Request, Verdict


def test_the_papers_rule_diverges_too() -> None:
    """Ten times closer to 1 costs more each time, by a factor that does not shrink to 1."""
    ratio = np.array([anarchy.in_sensitivity_mle(distance) for distance in anarchy.DISTANCES])
    factors = ratio[1:] / ratio[:-1]
    assert (factors > 10.0**0.45).all()
    assert ratio[-1] > anarchy.UNBOUNDED


def test_slopes_are_close_to_the_limits_that_are_printed_beside_them() -> None:
    chapter = anarchy.make(Request())
    (sheet,) = chapter.sheets
    for loss, in_n, limit_n, in_distance, limit_distance in sheet.table.rows:
        far = 0.08 if loss == anarchy.PAPERS else 0.01  # 7/12 is reached beyond a million clients
        assert float(in_n) == pytest.approx(fraction(limit_n), abs=far)
        assert float(in_distance) == pytest.approx(fraction(limit_distance), abs=0.01)


def fraction(text: object) -> float:
    over, under = str(text).split("/")
    return int(over) / int(under)


def test_a_ratio_that_stops_growing_is_not_reproduced() -> None:
    grows, stops = np.array([1.0, 10.0, 1e6]), np.array([1.0, 10.0, 10.0])
    assert anarchy._claim((2, 3, 4), grows, grows, grows).verdict is Verdict.REPRODUCED
    assert anarchy._claim((2, 3, 4), grows, stops, grows).verdict is Verdict.NOT
    assert anarchy._claim((2, 3, 4), stops, grows, grows).verdict is Verdict.NOT
