"""``pigou solve``: noise, prices, bills and costs of one case, with and without prices."""

import numpy as np

from pigou.checks import FloatArray
from pigou.cli import inputs
from pigou.cli.outcome import Outcome
from pigou.cli.output import print_json, print_lines, print_table, short
from pigou.comparison import Play
from pigou.solve import Outcome as Reached

MOST_ROWS = 40  # of the printed table; JSON holds every client

HEADERS = (
    "\nclient",
    "\ntype",
    "noise\nunpriced",
    "noise\npriced",
    "unit\nprice",
    "expected\ncharge",
    "expected\nrefund",
    "report\ntransfer",
    "expected\nnet",
    "\ncost",
)
TRANSFER = HEADERS.index("report\ntransfer")


def solve(
    scenario: inputs.ScenarioFile = None,
    alpha: inputs.Alpha = None,
    kappa: inputs.Kappa = None,
    smoothness: inputs.Smoothness = None,
    privacy_scale: inputs.PrivacyScale = None,
    weights: inputs.Weights = None,
    spread: inputs.Spread = None,
    mechanism: inputs.MechanismName = None,
    mean_alpha: inputs.MeanAlpha = None,
    population: inputs.PopulationOfTypes = None,
    points: inputs.Points = None,
    as_json: inputs.AsJson = False,
) -> None:
    """Show what clients do with and without prices, and what everybody pays.

    Examples:

    pigou solve examples/three_hospitals.toml

    pigou solve --alpha 0.2,0.5,0.8 --kappa 16 --smoothness 2 --privacy-scale 0.5

    pigou solve examples/three_hospitals.toml --mechanism posted --mean-alpha 0.4

    pigou solve examples/three_hospitals.toml --mechanism menu --population uniform:0.1,0.9

    pigou solve examples/three_hospitals.toml --weights 0.2,0.3,0.5 --spread 0.1 --json
    """
    options = inputs.Options(
        alpha,
        kappa,
        smoothness,
        privacy_scale,
        weights,
        spread,
        mechanism,
        mean_alpha,
        population,
        points,
    )
    outcome = Outcome.of(inputs.read_case(scenario, options))
    if as_json:
        print_json(_record(outcome))
    else:
        _show(outcome)


def _record(outcome: Outcome) -> dict[str, object]:
    case, play = outcome.case, outcome.play
    terms, bills = play.terms, play.bills
    columns = {
        "client": case.clients,
        "alpha": case.game.alpha.tolist(),
        "report": _reports(play.reports, case.game.setting.n),
        "weight": terms.weights.tolist(),
        "noise_unpriced": outcome.unpriced.sigma.tolist(),
        "noise_priced": play.sigma.tolist(),
        "unit_price": terms.unit_price.tolist(),
        "charge": bills.charge.tolist(),
        "refund": bills.refund.tolist(),
        "transfer": terms.transfers.tolist(),
        "net": play.owed.tolist(),
        "cost_unpriced": outcome.unpriced.costs.tolist(),
        "cost": play.costs.tolist(),
    }
    rows = zip(*columns.values(), strict=True)
    return {
        "scenario": case.title,
        "mechanism": terms.mechanism,
        "rounds": terms.rounds,
        "money": terms.money,
        "currency": case.currency,
        "clients": [dict(zip(columns, row, strict=True)) for row in rows],
        "totals": {
            "error_unpriced": outcome.unpriced.error,
            "error_priced": play.error,
            "social_cost_unpriced": outcome.unpriced.social_cost,
            "social_cost_priced": play.social_cost,
            "social_cost_optimum": outcome.best.social_cost,
            "price_of_anarchy": outcome.price_of_anarchy,
            "budget": play.reserve,
        },
    }


def _reports(reports: FloatArray | None, n: int) -> list[object]:
    return [None] * n if reports is None else reports.tolist()


def _show(outcome: Outcome) -> None:
    case, transfers = outcome.case, outcome.play.terms.transfers.any()
    print_lines(f"{case.title} · mechanism: {case.name}", "")
    table = [HEADERS, *_rows(outcome)]
    if not transfers:
        table = [(*row[:TRANSFER], *row[TRANSFER + 1 :]) for row in table]
    print_table(table[0], table[1:])
    hidden = case.game.setting.n - MOST_ROWS
    if hidden > 0:
        print_lines(f"… and {hidden} more (--json shows all)")
    print_lines("")
    print_table(("", ""), _totals(outcome))
    print_lines("", *_notes(outcome))


def _rows(outcome: Outcome) -> list[tuple[str, ...]]:
    play, bills = outcome.play, outcome.play.bills
    columns = (
        outcome.case.game.alpha,
        outcome.unpriced.sigma,
        play.sigma,
        play.terms.unit_price,
        bills.charge,
        bills.refund,
        play.terms.transfers,
        play.owed,
        play.costs,
    )
    names = outcome.case.clients[:MOST_ROWS]
    return [(name, *(short(column[k]) for column in columns)) for k, name in enumerate(names)]


def _totals(outcome: Outcome) -> list[list[str]]:
    reserve = short(round(outcome.play.reserve, 6))
    return [
        ["social cost, unpriced", short(outcome.unpriced.social_cost)],
        ["social cost, priced", short(outcome.play.social_cost)],
        ["social cost, optimum", short(outcome.best.social_cost)],
        ["price of anarchy", short(outcome.price_of_anarchy)],
        ["budget (to the reserve)", f"{reserve} {outcome.case.currency}"],
    ]


def _notes(outcome: Outcome) -> list[str]:
    case, play = outcome.case, outcome.play
    notes = [
        "Noise: standard deviation per coordinate. Unit price: cost per unit of noise variance.",
        f"Charge, refund, net: expected, for the whole run, in {case.currency} "
        f"({short(play.terms.money)} per unit of cost).",
        "Cost: before money, at the priced noise.",
    ]
    if play.terms.transfers.any():
        notes.insert(
            2, "Transfer: charged once, for the report; net is charge - refund + transfer."
        )
    if play.between:
        notes.append(f"Reports: {between(play)}.")
    for name, solution in (("Unpriced", outcome.unpriced), ("Priced", play.selfish)):
        if solution.status.outcome is Reached.UNLIMITED:
            notes.append(f"{name}: {solution.status}.")
    return notes


def between(play: Play) -> str:
    """What clients do whose types are not on the menu."""
    menu = ", ".join(map(short, np.unique(np.asarray(play.mechanism.report_space))))
    return f"each client takes the nearest type of the menu ({menu}), and the noise that suits it"
