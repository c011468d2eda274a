"""``pigou quote``: what a client is told before it joins."""

import json
from pathlib import Path

import pytest
from tests.cli.conftest import HOSPITALS, Run
from tests.small_runs import changed, ready_small

from pigou.runs.quoting import quote

NAMES = ("North", "East, far", "South", "West")


@pytest.fixture
def small(tmp_path: Path) -> str:
    path = tmp_path / "small.toml"
    path.write_text(changed(), encoding="utf-8")
    return str(path)


def test_json_is_the_quote(run: Run, small: str) -> None:
    for name in NAMES:
        result = run("quote", small, "--client", name, "--json")
        assert (result.status, result.err) == (0, "")
        found, wanted = json.loads(result.out), quote(ready_small(), name)
        assert found == {key: getattr(wanted, key) for key in found}
        assert found["currency"] == "CHF"
        assert found["net"] == found["charge"] - found["refund"] + found["transfer"]
        assert found["low"] < found["net"] < found["high"]


def test_what_all_expect_sums_to_zero(run: Run, small: str) -> None:
    quotes = [json.loads(run("quote", small, "--client", name, "--json").out) for name in NAMES]
    charged = sum(each["charge"] for each in quotes)
    assert sum(each["net"] for each in quotes) == pytest.approx(0, abs=1e-12 * charged)


def test_the_text_has_every_figure(run: Run, small: str) -> None:
    wanted = quote(ready_small(), "West")
    out = run("quote", small, "--client", "West").out
    lines = {line[:24].strip(): line[24:].strip() for line in out.splitlines() if line}
    assert out.startswith("West · 4 rounds · mechanism: pigouvian\n")
    assert lines["expected charge"].endswith(f"{wanted.charge:.4g} CHF")
    assert lines["expected refund"].endswith(f"{wanted.refund:.4g} CHF")
    assert lines["expected net"].endswith(f"{wanted.net:.4g} CHF")
    assert lines["99.9 % of runs"].endswith(f"{wanted.low:.4g} to {wanted.high:.4g} CHF")
    assert lines["epsilon, exact"].endswith(f"{wanted.epsilon:.4g} at delta = 1e-05")
    assert "uploads" not in lines


def test_a_cap_that_will_be_reached_is_told(run: Run, tmp_path: Path) -> None:
    cap = quote(ready_small(), "North").epsilon / 2
    path = tmp_path / "capped.toml"
    path.write_text(changed(("clip = 0.2", f"clip = 0.2\nepsilon_cap = {cap}")), encoding="utf-8")
    assert "then its epsilon cap is reached" in run("quote", str(path), "--client", "North").out


REFUSED = [
    ((HOSPITALS, "--client", "Nobody"), "client must be one of Riverside, St. Anna, Children's"),
    ((HOSPITALS,), "Missing option '--client'"),
    (("absent.toml", "--client", "North"), "absent.toml: cannot be read"),
]


@pytest.mark.parametrize(("words", "message"), REFUSED)
def test_refusals(run: Run, words: tuple[str, ...], message: str) -> None:
    result = run("quote", *words)
    assert (result.status, result.out) == (2, "")
    assert result.err.count("\n") == 1
    assert message in result.err


def test_nothing_is_quoted_without_prices_or_training(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(changed(("money = 100.0", 'money = 100.0\nname = "unpriced"')))
    result = run("quote", str(path), "--client", "North")
    assert (result.status, result.out) == (2, "")
    assert "mechanism must price something to be quoted" in result.err
    head, _, tail = changed().partition("[training]")
    path.write_text(head + tail[tail.index("[limits]") :])
    result = run("quote", str(path), "--client", "North")
    assert (result.status, result.out) == (2, "")
    assert "training must be given" in result.err
