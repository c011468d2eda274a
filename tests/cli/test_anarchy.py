"""``pigou anarchy``: the scan over the number of clients."""

import json
import math

import pytest
from tests.cli.conftest import Run

from pigou import AccuracyLoss
from pigou.anarchy import scan_clients


def test_json_is_the_scan(run: Run) -> None:
    result = run(
        *("anarchy", "--n", "10,100,1000", "--alpha", "0.8", "--kappa", "4"),
        *("--smoothness", "3", "--privacy-scale", "0.01", "--spread", "0.2", "--json"),
    )
    assert (result.status, result.err) == (0, "")
    found = json.loads(result.out)
    scan = scan_clients([10, 100, 1000], AccuracyLoss.bound(4.0, 3.0), 0.01, 0.8, 0.2)
    points = found["points"]
    assert [point["n"] for point in points] == [10, 100, 1000]
    assert [point["price_of_anarchy"] for point in points] == scan.ratio.tolist()
    assert [point["slope"] for point in points[1:]] == scan.slope[1:].tolist()
    assert "slope" not in points[0]


def test_the_table_shows_a_square_root(run: Run) -> None:
    """Small error, equal types: ten thousand times the clients, a hundred times the price."""
    out = run("anarchy", "--n", "100,10000,1000000", "--privacy-scale", "1e-9").out
    rows = [line.split() for line in out.splitlines() if line[:1].isdigit()]
    assert [row[0] for row in rows] == ["100", "10,000", "1,000,000"]
    prices = [float(row[1]) for row in rows]
    assert prices[2] / prices[0] == pytest.approx(100, rel=0.02)  # 1 / N of the first, and 4 digits
    assert [float(row[2]) for row in rows[1:]] == pytest.approx([0.5, 0.5], abs=0.01)


def test_one_size_has_no_exponent(run: Run) -> None:
    out = run("anarchy", "--n", "10").out
    assert "nan" not in out.lower()
    assert not math.isnan(float(out.splitlines()[4].split()[1]))
