"""``pigou solve``: noise, prices, bills and costs of one case, with and without prices."""

from pigou.cli import inputs
from pigou.cli.outcome import Outcome
from pigou.cli.output import print_json, print_lines, print_table, short
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
    "expected\nnet",
    "\ncost",
)


def solve(
    scenario: inputs.ScenarioFile = None,
    alpha: inputs.Alpha = None,
    kappa: inputs.Kappa = None,
    smoothness: inputs.Smoothness = None,
    privacy_scale: inputs.PrivacyScale = None,
    weights: inputs.Weights = None,
    spread: inputs.Spread = None,
    mechanism: inputs.MechanismName = None,
    as_json: inputs.AsJson = False,
) -> None:
    """Show what clients do with and without prices, and what everybody pays.

    Examples:

    pigou solve examples/three_hospitals.toml

    pigou solve --alpha 0.2,0.5,0.8 --kappa 16 --smoothness 2 --privacy-scale 0.5

    pigou solve examples/three_hospitals.toml --weights 0.2,0.3,0.5 --spread 0.1 --json
    """
    options = inputs.Options(alpha, kappa, smoothness, privacy_scale, weights, spread, mechanism)
    outcome = Outcome.of(inputs.read_case(scenario, options))
    if as_json:
        print_json(_record(outcome))
    else:
        _show(outcome)


def _record(outcome: Outcome) -> dict[str, object]:
    case, terms, bills = outcome.case, outcome.terms, outcome.bills
    columns = {
        "client": case.clients,
        "alpha": case.game.alpha.tolist(),
        "weight": terms.weights.tolist(),
        "noise_unpriced": outcome.unpriced.sigma.tolist(),
        "noise_priced": outcome.priced.sigma.tolist(),
        "unit_price": terms.unit_price.tolist(),
        "charge": bills.charge.tolist(),
        "refund": bills.refund.tolist(),
        "net": bills.net.tolist(),
        "cost_unpriced": outcome.unpriced.costs.tolist(),
        "cost": outcome.priced.costs.tolist(),
    }
    rows = zip(*columns.values(), strict=True)
    return {
        "scenario": case.title,
        "mechanism": terms.mechanism,
        "rounds": terms.rounds,
        "money": case.money,
        "currency": case.currency,
        "clients": [dict(zip(columns, row, strict=True)) for row in rows],
        "totals": {
            "error_unpriced": outcome.unpriced.error,
            "error_priced": outcome.priced.error,
            "social_cost_unpriced": outcome.unpriced.social_cost,
            "social_cost_priced": outcome.priced.social_cost,
            "social_cost_optimum": outcome.best.social_cost,
            "price_of_anarchy": outcome.price_of_anarchy,
            "budget": outcome.budget,
        },
    }


def _show(outcome: Outcome) -> None:
    case, terms = outcome.case, outcome.terms
    print_lines(f"{case.title} · mechanism: {terms.mechanism}", "")
    print_table(HEADERS, _rows(outcome))
    hidden = case.game.setting.n - MOST_ROWS
    if hidden > 0:
        print_lines(f"… and {hidden} more (--json shows all)")
    print_lines("")
    print_table(("", ""), _totals(outcome))
    print_lines("", *_notes(outcome))


def _rows(outcome: Outcome) -> list[list[str]]:
    bills = outcome.bills
    columns = (
        outcome.case.game.alpha,
        outcome.unpriced.sigma,
        outcome.priced.sigma,
        outcome.terms.unit_price,
        bills.charge,
        bills.refund,
        bills.net,
        outcome.priced.costs,
    )
    names = outcome.case.clients[:MOST_ROWS]
    return [[name, *(short(column[k]) for column in columns)] for k, name in enumerate(names)]


def _totals(outcome: Outcome) -> list[list[str]]:
    return [
        ["social cost, unpriced", short(outcome.unpriced.social_cost)],
        ["social cost, priced", short(outcome.priced.social_cost)],
        ["social cost, optimum", short(outcome.best.social_cost)],
        ["price of anarchy", short(outcome.price_of_anarchy)],
        ["budget (to the reserve)", f"{short(round(outcome.budget, 6))} {outcome.case.currency}"],
    ]


def _notes(outcome: Outcome) -> list[str]:
    case = outcome.case
    notes = [
        "Noise: standard deviation per coordinate. Unit price: cost per unit of noise variance.",
        f"Charge, refund, net: expected, for the whole run, in {case.currency} "
        f"({short(case.money)} per unit of cost).",
        "Cost: before money, at the priced noise.",
    ]
    for name, solution in (("Unpriced", outcome.unpriced), ("Priced", outcome.priced)):
        if solution.status.outcome is Reached.UNLIMITED:
            notes.append(f"{name}: {solution.status}.")
    return notes
