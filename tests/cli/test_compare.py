"""``pigou compare``: every mechanism on one game, as the comparison finds it."""

import json
from dataclasses import asdict

import pytest
from tests.cli.conftest import HOSPITALS, Run

from pigou.comparison import NotHere, compare
from pigou.scenario import MECHANISMS, load


def test_json_is_the_comparison(run: Run) -> None:
    result = run("compare", HOSPITALS, "--json")
    assert (result.status, result.err) == (0, "")
    found = json.loads(result.out)
    scenario = load(HOSPITALS)
    wanted = compare(scenario.game(), scenario.details)
    assert found["optimum"] == wanted.optimum
    assert [row["mechanism"] for row in found["mechanisms"]] == list(MECHANISMS)
    for row, each in zip(found["mechanisms"], wanted.rows, strict=True):
        assert row["applicable"] == (not isinstance(each, NotHere))
        if isinstance(each, NotHere):
            assert row["reason"] == each.reason
        else:
            assert {key: row[key] for key in asdict(each)} == asdict(each)


def test_the_table_shows_what_theory_says(run: Run) -> None:
    """Known types: the optimum. Reported ones: truthful only with Groves. No prices: selfish."""
    words = ("--alpha", "0.2,0.5,0.8,0.4,0.6", "--population", "uniform:0.1,0.9")
    found = json.loads(run("compare", *words, "--json").out)
    rows = {row["mechanism"]: row for row in found["mechanisms"]}
    assert rows["pigouvian"]["ratio"] == pytest.approx(1, rel=1e-9)
    assert rows["groves"]["ratio"] == pytest.approx(1, rel=1e-9)
    assert rows["groves"]["lying"] < 1e-6 < rows["pigouvian"]["lying"]
    assert rows["unpriced"]["ratio"] > rows["posted"]["ratio"] > 1
    assert rows["unpriced"]["better_off"] == 0
    out = run("compare", *words).out
    for name, row in rows.items():
        if row["applicable"]:
            line = next(line for line in out.splitlines() if line.startswith(f"{name} "))
            assert f" {row['ratio']:.4g} " in line
            assert line.rstrip().endswith(row["knows"])
        else:
            assert f"{name}: not applicable: {row['reason']}" in out


def test_what_needs_a_population_says_so(run: Run) -> None:
    out = run("compare", HOSPITALS).out
    assert "menu: not applicable: population must be given" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "give a scenario file"),
        (("--alpha", "0.5,1.5,0.5"), "alpha must lie in [0, 1]"),
        (("--alpha", "1,1,1"), "alpha must not be 1 for every client"),
        ((HOSPITALS, "--population", "uniform"), "--population"),
        ((HOSPITALS, "--population", "square:1,2"), "--population"),
        ((HOSPITALS, "--points", "0"), "points"),
        (("absent.toml",), "absent.toml: cannot be read"),
    ],
)
def test_refusals(run: Run, words: tuple[str, ...], message: str) -> None:
    result = run("compare", *words)
    assert (result.status, result.out) == (2, "")
    assert result.err.count("\n") == 1
    assert message in result.err
