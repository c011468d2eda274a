"""Every mechanism by name: what it makes of a case, what its certificate says, side by side."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.conftest import HOSPITALS, Result, Run

from pigou import AccuracyLoss, Game, Setting, equilibrium, optimum
from pigou.mechanisms import Groves, Mechanism, Menu, Pigouvian, PostedPrice, Unpriced
from pigou.mechanisms.billing import expected_bills
from pigou.paper import PaperPricing
from pigou.paper.two_types import PaperTwoTypes
from pigou.population import Uniform, two_point
from pigou.scenario import MECHANISMS

LOSS = AccuracyLoss.bound(16.0, 2.0)
TYPES = [0.25, 0.75, 0.75, 0.25, 0.75, 0.75, 0.25, 0.75, 0.75, 0.75]
SETTING = Setting(len(TYPES), LOSS, 0.5)
PAIR = two_point(0.25, 0.75, 0.3)
PAPER = PaperTwoTypes.for_setting(SETTING, PAIR)
GAIN = 1e-9  # of the client's own cost: what a certificate lets pass
DIGITS = 1e-9  # of a round settled to 1e-12, and of a noise at a flat minimum

MADE: dict[str, Mechanism] = {
    "unpriced": Unpriced(),
    "pigouvian": Pigouvian(),
    "posted": PostedPrice(),
    "groves": Groves(),
    "menu": Menu(PAIR),
    "paper": PaperPricing(),
    "paper-two-types": PAPER,
}
REPAIRED = ("posted", "groves", "menu")
POPULATION = ("--population", "two-point:0.25,0.75,0.3")


def words(command: str, mechanism: str, *more: str) -> tuple[str, ...]:
    alpha = ",".join(map(str, TYPES))
    population = POPULATION if mechanism in ("menu", "paper-two-types") else ()
    return (command, "--alpha", alpha, "--mechanism", mechanism, *population, *more)


def answer(result: Result, status: int = 0) -> Any:
    assert (result.status, result.err) == (status, "")
    return json.loads(result.out)


def column(found: Any, key: str) -> Any:
    return np.array([row[key] for row in found["clients"]], dtype=float)


def test_all_are_here() -> None:
    assert list(MADE) == list(MECHANISMS)


@pytest.mark.parametrize("name", MADE)
def test_solve_shows_the_mechanism_s_terms_and_what_selfish_clients_do(run: Run, name: str) -> None:
    found = answer(run(*words("solve", name, "--json")))
    mechanism = MADE[name]
    asked = mechanism.report_space is not None
    terms = mechanism.terms(SETTING, reports=TYPES if asked else None)
    assert found["mechanism"] == name
    assert column(found, "alpha").tolist() == TYPES
    assert [row["report"] for row in found["clients"]] == (TYPES if asked else [None] * len(TYPES))
    np.testing.assert_allclose(column(found, "weight"), terms.weights, rtol=1e-12)
    if name != "posted":  # which is shown where its rounds settle
        np.testing.assert_allclose(column(found, "unit_price"), terms.unit_price, rtol=1e-12)
    np.testing.assert_allclose(column(found, "transfer"), terms.transfers, rtol=1e-12)
    assert found["totals"]["budget"] == pytest.approx(column(found, "net").sum(), abs=1e-12)
    owed = column(found, "charge") - column(found, "refund") + column(found, "transfer")
    np.testing.assert_allclose(column(found, "net"), owed, atol=1e-12)


@pytest.mark.parametrize("name", MADE)
def test_the_noise_is_a_nash_equilibrium_or_the_target(run: Run, name: str) -> None:
    found = answer(run(*words("solve", name, "--json")))
    setting = Setting(len(TYPES), LOSS, 0.5, column(found, "weight"))
    game = Game(setting, TYPES)
    noise = column(found, "noise_priced")
    played = equilibrium(game, column(found, "unit_price")).sigma
    if name in ("menu", "paper-two-types"):  # whose clients do not know the others' types
        played = np.array(MADE[name].terms(SETTING, reports=TYPES).sigma)
    np.testing.assert_allclose(noise, played, rtol=DIGITS)
    totals = found["totals"]
    assert totals["social_cost_priced"] == pytest.approx(game.social_cost(noise))
    assert totals["social_cost_optimum"] == optimum(Game(SETTING, TYPES)).social_cost
    assert totals["error_priced"] == pytest.approx(game.error(noise))


@pytest.mark.parametrize(("name", "most"), [("pigouvian", 1.0), ("groves", 1.0), ("menu", 1.001)])
def test_prices_buy_the_optimum(run: Run, name: str, most: float) -> None:
    totals = answer(run(*words("solve", name, "--json")))["totals"]
    ratio = totals["social_cost_priced"] / totals["social_cost_optimum"]
    assert 1.0 - 1e-12 <= ratio <= most + 1e-12


def test_the_posted_price_is_where_its_rounds_settle(run: Run) -> None:
    for mean in ("0.3", "0.6"):
        found = answer(run(*words("solve", "posted", "--mean-alpha", mean, "--json")))
        limit = PostedPrice(float(mean)).converge(Game(SETTING, TYPES), 60)
        np.testing.assert_allclose(column(found, "unit_price"), limit.price[-1], rtol=DIGITS)
        ratio = found["totals"]["social_cost_priced"] / found["totals"]["social_cost_optimum"]
        assert ratio == pytest.approx(limit.ratio[-1], rel=DIGITS)


def test_transfers_have_a_column_where_there_are_any(run: Run) -> None:
    with_transfers = run(*words("solve", "groves")).out
    assert "transfer" in with_transfers and "net is charge - refund + transfer" in with_transfers
    assert "transfer" not in run(*words("solve", "pigouvian")).out


def test_the_budget_is_what_reports_leave(run: Run) -> None:
    game = Game(SETTING, TYPES)
    terms = Groves().terms(SETTING, TYPES)
    bills = expected_bills(SETTING, terms, optimum(game).sigma)
    found = answer(run(*words("solve", "groves", "--json")))["totals"]["budget"]
    assert found == pytest.approx(terms.transfers.sum() + bills.net.sum(), rel=1e-9)
    assert 0 < found < 0.01 * game.social_cost(optimum(game).sigma)


def test_types_off_the_menu_take_the_nearest_and_are_said_to(run: Run) -> None:
    menu = ("--mechanism", "menu", "--population", "uniform:0.1,0.9", "--points", "4")
    found = answer(run("solve", HOSPITALS, *menu, "--json"))
    types = np.array(Menu(Uniform(0.1, 0.9), 4).report_space)
    nearest = [types[np.abs(types - alpha).argmin()] for alpha in column(found, "alpha")]
    assert column(found, "report").tolist() == nearest
    text = run("solve", HOSPITALS, *menu).out
    assert "each client takes the nearest type of the menu (0.2, 0.4, 0.6, 0.8)" in text


@pytest.mark.parametrize("name", REPAIRED)
def test_certificates_of_the_repaired_hold(run: Run, name: str) -> None:
    found = answer(run(*words("certify", name, "--json")))
    assert found["ok"] is True
    assert found["max_gain"] <= GAIN
    assert found["budget"]["holds"] is True
    assert "certificate holds" in run(*words("certify", name)).out


@pytest.mark.parametrize(
    ("name", "scope"),
    [
        ("posted", "Nothing is reported: there is nothing to lie about."),
        ("groves", "Misreports were searched for: all clients."),
        ("menu", "Gains are those of each type (0.25, 0.75), on average over the others' types."),
        ("pigouvian", "Types are taken to be known: no misreports were searched for"),
    ],
)
def test_what_was_searched_for_is_said(run: Run, name: str, scope: str) -> None:
    assert scope in run(*words("certify", name)).out


def test_what_was_searched_for_is_in_the_record(run: Run) -> None:
    groves = answer(run(*words("certify", "groves", "--json")))["misreports"]
    assert groves == {
        "clients": [str(k) for k in range(len(TYPES))],
        "types": None,
        "probabilities": None,
    }
    menu = answer(run(*words("certify", "menu", "--json")))
    assert menu["misreports"] == {
        "clients": [],
        "types": [0.25, 0.75],
        "probabilities": [0.3, 0.7],
    }
    assert abs(menu["budget"]["residual_on_average"]) <= 1e-12 * menu["budget"]["charges"]


def test_the_paper_s_mechanism_fails_and_the_lie_that_pays_is_named(run: Run) -> None:
    text = run(*words("certify", "paper-two-types"))
    assert (text.status, text.err) == (1, "")
    assert "certificate FAILS" in text.out
    assert "FAILS: a client of type 0.75 reports 0.25 and plays noise" in text.out
    found = answer(run(*words("certify", "paper-two-types", "--json")), status=1)
    assert found["ok"] is False
    assert found["worst"]["client"] is None
    assert (found["worst"]["type"], found["worst"]["report"]) == (0.75, 0.25)
    lie = PAPER.model.interim_mle.best_lie()  # at these types the paper pays no rewards
    assert found["worst"]["gain"] == pytest.approx(lie.gain, rel=1e-6)
    assert found["worst"]["noise"] == pytest.approx(lie.sigma, rel=1e-6)


@pytest.mark.parametrize("name", ["pigouvian", "paper"])
def test_reports_taken_to_be_true_are_attacked_if_asked_for(run: Run, name: str) -> None:
    assert run(*words("certify", name)).status == 0
    found = answer(run(*words("certify", name, "--reports", "--json")), status=1)
    worst = found["worst"]
    assert worst["report"] not in (None, TYPES[int(worst["client"])])
    assert found["max_gain"] > 0.01
    text = run(*words("certify", name, "--reports")).out
    assert f"FAILS: client {worst['client']} reports" in text
    assert "Misreports were searched for: all clients." in text


def test_compare_puts_all_side_by_side(run: Run) -> None:
    found = answer(run("compare", "--alpha", ",".join(map(str, TYPES)), *POPULATION, "--json"))
    rows = {row["mechanism"]: row for row in found["mechanisms"]}
    assert list(rows) == list(MADE)
    assert all(row["applicable"] for row in rows.values())
    for name in REPAIRED:
        assert rows[name]["disobeying"] <= GAIN
        assert rows[name]["lying"] is None if name == "posted" else rows[name]["lying"] <= GAIN
        assert rows[name]["ratio"] < rows["paper"]["ratio"] < rows["unpriced"]["ratio"]
    for name in ("pigouvian", "paper", "paper-two-types"):
        assert rows[name]["lying"] > 0.01
    solved = answer(run(*words("solve", "groves", "--json")))["totals"]
    share = solved["budget"] / solved["social_cost_optimum"]
    assert rows["groves"]["reserve"] == pytest.approx(share)
    assert rows["unpriced"]["ratio"] == pytest.approx(solved["price_of_anarchy"])


def test_compare_says_what_does_not_apply_and_why(run: Run) -> None:
    words = ("compare", "--alpha", "0.2,0.5,0.8", "--weights", "0.2,0.3,0.5")
    found = answer(run(*words, "--population", "uniform:0.1,0.9", "--json"))
    refused = {r["mechanism"]: r["reason"] for r in found["mechanisms"] if not r["applicable"]}
    assert set(refused) == {"menu", "paper-two-types"}
    assert "weights must be equal" in refused["menu"]
    assert "population must have two types" in refused["paper-two-types"]
    text = run(*words).out
    assert "menu: not applicable: population must be given" in text
    assert "received None" not in text


def test_the_table_for_people(run: Run) -> None:
    result = run("compare", "--alpha", ",".join(map(str, TYPES)), *POPULATION)
    assert (result.status, result.err) == (0, "")
    assert result.out.startswith("10 clients · least social cost for these weights: 15.57\n")
    rows = {line.split()[0]: line.split() for line in result.out.splitlines() if line.strip()}
    assert rows["groves"][1:4] == ["1", "none", "none"]
    assert rows["posted"][2:5] == ["no", "reports", "none"]
    assert rows["paper"][2:4] == [">", "1000"]
    assert "on average over the others' types for menu and paper-two-types" in result.out


def test_a_scenario_may_name_its_population(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    text = Path(HOSPITALS).read_text()
    kind = '\n[mechanism.population]\nkind = "uniform"\nlow = 0.1\nhigh = 0.9\n'
    path.write_text(text.replace('name = "pigouvian"', 'name = "menu"') + kind)
    by_file = answer(run("solve", str(path), "--json"))
    option = ("--mechanism", "menu", "--population", "uniform:0.1,0.9")
    assert by_file["clients"] == answer(run("solve", HOSPITALS, *option, "--json"))["clients"]


REFUSED: list[tuple[tuple[str, ...], str]] = [
    (("--mechanism", "menu"), "population must be given"),
    (("--mechanism", "paper-two-types"), "population must be given"),
    (("--mechanism", "paper-two-types", "--population", "uniform:0,1"), "must have two types"),
    (("--mechanism", "groves", "--mean-alpha", "0.5"), "--mean-alpha must be given for posted"),
    (("--mechanism", "posted", "--population", "uniform:0,1"), "--population must be given for"),
    (("--mechanism", "groves", "--points", "3"), "--points must be given for menu only"),
    (("--mechanism", "posted", "--mean-alpha", "1"), "--mean-alpha must lie in [0, 1)"),
    (("--mechanism", "posted", "--mean-alpha", "nan"), "--mean-alpha must lie in [0, 1)"),
    (("--mechanism", "posted", "--mean-alpha", "0"), "mean_alpha must be above 0 when spread is 0"),
    (("--mechanism", "menu", "--population", "normal:0,1"), "--population must be one of"),
    (("--mechanism", "menu", "--population", "uniform:0.5"), "--population must be uniform:LOW"),
    (("--mechanism", "menu", "--population", "uniform:a,b"), "--population must be uniform:LOW"),
    (("--mechanism", "menu", "--population", "uniform:0.9,0.1"), "low must be below high"),
    (("--mechanism", "menu", "--population", "two-point:0.8,0.2,0.5"), "alpha_low must be below"),
    (("--mechanism", "menu", "--population", "two-point:0.2,0.8,0"), "eta must lie strictly"),
    (("--mechanism", "menu", "--population", "two-point:0.2,0.8,1"), "eta must lie strictly"),
    (("--mechanism", "menu", "--population", "finite:0.2,0.5,0.8"), "followed by a share"),
    (("--mechanism", "menu", "--population", "finite:0.2,0.5,0.8,0.6"), "must sum to 1"),
    (
        ("--mechanism", "menu", "--population", "uniform:0,1", "--points", "0"),
        "--points must be a whole number >= 1",
    ),
    (
        ("--mechanism", "menu", "--population", "uniform:0,1", "--weights", "0.2,0.3,0.5"),
        "weights must be equal",
    ),
    (
        ("--mechanism", "paper-two-types", "--population", "two-point:0.25,0.75,0.5"),
        "must exist; received none: the branch from the solution for known types ends",
    ),
]


@pytest.mark.parametrize("command", ["solve", "certify"])
@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_refusals(run: Run, command: str, options: tuple[str, ...], message: str) -> None:
    result = run(command, "--alpha", "0.2,0.5,0.8", *options)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("pigou: ")
    assert result.err.count("\n") == 1
    assert message in result.err


@pytest.mark.parametrize("name", ["unpriced", "posted"])
def test_there_is_no_lie_where_nothing_is_asked(run: Run, name: str) -> None:
    result = run(*words("certify", name, "--reports"))
    assert (result.status, result.out) == (2, "")
    assert f"--reports must not be given: {name} asks for none" in result.err


@pytest.mark.parametrize(
    ("alpha", "message"), [("1,1,1", "alpha must not be 1"), ("0,0,0", "alpha must not be 0")]
)
def test_compare_refuses_what_has_no_optimum(run: Run, alpha: str, message: str) -> None:
    result = run("compare", "--alpha", alpha)
    assert (result.status, result.out) == (2, "")
    assert message in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize("alpha", ["0.5", "0.5,0.6"])
def test_few_clients_leave_few_mechanisms(run: Run, alpha: str) -> None:
    found = answer(run("compare", "--alpha", alpha, "--json"))
    refused = {r["mechanism"]: r["reason"] for r in found["mechanisms"] if not r["applicable"]}
    for name in ("pigouvian", "groves"):
        assert "must be positive for 3 clients or more" in refused[name]
