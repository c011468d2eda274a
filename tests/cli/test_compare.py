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
