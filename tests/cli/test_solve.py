"""``pigou solve``: the numbers of the reference vectors, printed for people and for programs."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.conftest import HOSPITALS, Run

from pigou import equilibrium, optimum
from pigou.mechanisms import billing
from pigou.scenario import load

VECTORS = Path(__file__).parents[1] / "oracles" / "complete_information.json"
CASES = [case for case in json.loads(VECTORS.read_text()) if len(case["input"]["alpha"]) >= 3]


def joined(values: list[float]) -> str:
    return ",".join(map(repr, values))


@pytest.mark.parametrize("case", CASES)
def test_json_holds_the_reference_numbers(run: Run, case: dict[str, Any]) -> None:
    given, expect = case["input"], case["expect"]
    result = run(
        *("solve", "--json", "--alpha", joined(given["alpha"])),
        *("--kappa", repr(given["kappa"]), "--smoothness", repr(given["smoothness"])),
        *("--privacy-scale", repr(given["privacy_scale"])),
        *("--weights", joined(given["weights"]), "--spread", joined(given["spread"])),
    )
    assert (result.status, result.err) == (0, "")
    found = json.loads(result.out)
    columns = {key: [row[key] for row in found["clients"]] for key in found["clients"][0]}
    for key, wanted in {
        "noise_unpriced": "sigma_equilibrium",
        "noise_priced": "sigma_optimum",
        "unit_price": "unit_price",
        "net": "expected_net_bill_at_optimum",
    }.items():
        np.testing.assert_allclose(columns[key], expect[wanted], rtol=1e-8, atol=1e-9)
    totals = found["totals"]
    assert totals["social_cost_unpriced"] == pytest.approx(expect["social_cost_equilibrium"])
    assert totals["social_cost_optimum"] == pytest.approx(expect["social_cost_optimum"])
    assert totals["social_cost_priced"] == pytest.approx(expect["social_cost_optimum"])
    wanted_ratio = expect["social_cost_equilibrium"] / expect["social_cost_optimum"]
    assert totals["price_of_anarchy"] == pytest.approx(wanted_ratio)
    assert totals["budget"] == pytest.approx(0.0, abs=1e-12 * sum(columns["charge"]))


def test_the_columns_add_up(run: Run) -> None:
    clients = json.loads(run("solve", HOSPITALS, "--json").out)["clients"]
    for row in clients:
        assert row["net"] == pytest.approx(row["charge"] - row["refund"])
    totals = json.loads(run("solve", HOSPITALS, "--json").out)["totals"]
    assert sum(row["cost"] for row in clients) == pytest.approx(totals["social_cost_priced"])
    unpriced = sum(row["cost_unpriced"] for row in clients)
    assert unpriced == pytest.approx(totals["social_cost_unpriced"])


def test_file_and_options_describe_the_same_game(run: Run) -> None:
    by_file = json.loads(run("solve", HOSPITALS, "--json").out)
    by_options = json.loads(run("solve", "--alpha", "0.2,0.5,0.8", "--json").out)
    assert by_file["totals"] == by_options["totals"]
    assert [row["client"] for row in by_file["clients"]] == ["Riverside", "St. Anna", "Children's"]
    assert [row["client"] for row in by_options["clients"]] == ["0", "1", "2"]


def test_options_replace_what_the_file_says(run: Run) -> None:
    changes = ("--alpha", "0.3,0.4,0.6", "--kappa", "8", "--privacy-scale", "0.25")
    more = ("--weights", "0.2,0.3,0.5", "--spread", "0.1")
    changed = json.loads(run("solve", HOSPITALS, *changes, *more, "--json").out)
    alone = json.loads(run("solve", *changes, *more, "--json").out)
    assert changed["totals"] == alone["totals"]
    assert changed["scenario"] == "Three hospitals"


def test_a_file_is_solved_as_it_stands(run: Run, tmp_path: Path) -> None:
    """Options left out leave everything alone, spread and divergence included."""
    differing = "spread = [0.1, 0.2, 0.3]\ndivergence = 0.5\nrounds = 3"
    text = Path(HOSPITALS).read_text().replace("spread = 0.0", "").replace("divergence = 0.0\n", "")
    text = text.replace("rounds = 10", differing)
    (tmp_path / "run.toml").write_text(text)
    found = json.loads(run("solve", str(tmp_path / "run.toml"), "--json").out)
    scenario = load(tmp_path / "run.toml")
    game = scenario.game()
    terms = scenario.build_mechanism().terms(game.setting, game.alpha)
    bills = billing.expected_bills(game.setting, terms, optimum(game).sigma)
    assert found["rounds"] == 3
    assert [row["noise_unpriced"] for row in found["clients"]] == equilibrium(game).sigma.tolist()
    assert [row["charge"] for row in found["clients"]] == pytest.approx(bills.charge.tolist())


def test_weights_may_go_back_to_the_mean(run: Run, tmp_path: Path) -> None:
    text = Path(HOSPITALS).read_text().replace('"mean"', "[0.2, 0.3, 0.5]")
    (tmp_path / "run.toml").write_text(text)
    found = json.loads(run("solve", str(tmp_path / "run.toml"), "--weights", "mean", "--json").out)
    assert [row["weight"] for row in found["clients"]] == [1 / 3] * 3


def test_the_money_of_the_scenario(run: Run, tmp_path: Path) -> None:
    text = Path(HOSPITALS).read_text().replace("money = 1.0", "money = 1000").replace("EUR", "CHF")
    (tmp_path / "run.toml").write_text(text)
    dear = json.loads(run("solve", str(tmp_path / "run.toml"), "--json").out)
    cheap = json.loads(run("solve", HOSPITALS, "--json").out)
    assert dear["currency"] == "CHF"
    for one, other in zip(dear["clients"], cheap["clients"], strict=True):
        assert one["net"] == pytest.approx(1000 * other["net"])
        assert one["cost"] == other["cost"]
    assert "in CHF (1000 per unit of cost)" in run("solve", str(tmp_path / "run.toml")).out


def test_without_prices(run: Run) -> None:
    found = json.loads(run("solve", HOSPITALS, "--mechanism", "unpriced", "--json").out)
    for row in found["clients"]:
        assert row["noise_priced"] == row["noise_unpriced"]
        assert row["unit_price"] == row["charge"] == row["refund"] == 0.0
    totals = found["totals"]
    assert totals["social_cost_priced"] == pytest.approx(totals["social_cost_unpriced"], rel=1e-12)


def test_the_table_for_people(run: Run) -> None:
    result = run("solve", HOSPITALS)
    assert (result.status, result.err) == (0, "")
    exact = json.loads(run("solve", HOSPITALS, "--json").out)
    shown = {line.split("  ")[0]: line for line in result.out.splitlines()}
    for row in exact["clients"]:
        cells = shown[row["client"]].removeprefix(row["client"]).split()
        keys = ("noise_unpriced", "noise_priced", "unit_price", "charge", "refund", "net", "cost")
        wanted = [row["alpha"], *(row[key] for key in keys)]
        assert [float(cell) for cell in cells] == pytest.approx(wanted, rel=1e-3)
    for name in ("unpriced", "priced", "optimum"):
        cell = shown[f"social cost, {name}"].split()[-1]
        assert float(cell) == pytest.approx(exact["totals"][f"social_cost_{name}"], rel=1e-3)
    assert "budget (to the reserve)  0 EUR" in result.out


def test_unlimited_noise_is_said_and_stays_valid_json(run: Run) -> None:
    text = run("solve", "--alpha", "0.2,0.5,1").out
    assert "Unpriced: some clients gain from adding noise without limit: 2." in text
    out = run("solve", "--alpha", "0.2,0.5,1", "--json").out
    found = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert found["clients"][2]["noise_unpriced"] == "Infinity"
    assert found["totals"]["price_of_anarchy"] == "Infinity"
    assert math.isfinite(found["totals"]["social_cost_priced"])


def test_names_are_printed_as_they_are(run: Run, tmp_path: Path) -> None:
    text = Path(HOSPITALS).read_text().replace("St. Anna", "[red]:smile: Anna[/red]")
    (tmp_path / "run.toml").write_text(text)
    assert "[red]:smile: Anna[/red]" in run("solve", str(tmp_path / "run.toml")).out


def test_a_long_table_is_cut_and_says_so(run: Run, tmp_path: Path) -> None:
    head = Path(HOSPITALS).read_text().partition("[[client]]")[0]
    (tmp_path / "run.toml").write_text(head + "[population]\nkind = 'uniform'\nn = 100\n")
    text = run("solve", str(tmp_path / "run.toml")).out
    assert "… and 60 more (--json shows all)" in text
    rows = [line.split()[0] for line in text.splitlines() if line[:1].isdigit()]
    assert rows == [str(k) for k in range(40)]
    found = json.loads(run("solve", str(tmp_path / "run.toml"), "--json").out)
    drawn = load(tmp_path / "run.toml").game().alpha
    assert [row["alpha"] for row in found["clients"]] == drawn.tolist()
