"""``pigou quote``: what a client can expect before it joins."""

from pathlib import Path
from typing import Annotated

import typer

from pigou.cli import inputs
from pigou.cli.output import print_json, print_lines, print_table, short
from pigou.cli.progress import say
from pigou.scenario import load


def quote(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO.toml", help="A scenario file.")],
    client: Annotated[str, typer.Option(help="The client's name.")],
    as_json: inputs.AsJson = False,
) -> None:
    """Tell a client its expected bill and its range, and its privacy after the run.

    Examples:

    pigou quote examples/three_hospitals.toml --client Riverside
    """
    from pigou.runs import prepare
    from pigou.runs.quoting import quote as quoted

    found = quoted(prepare(load(scenario), say), client)
    if as_json:
        parts = ("sigma", "charge", "refund", "transfer", "net", "low", "high")
        privacy = ("epsilon", "delta", "paper_epsilon", "uploads")
        names = ("client", "mechanism", "rounds", "currency", *parts, *privacy)
        print_json({name: getattr(found, name) for name in names})
        return
    unit = found.currency
    rows = [
        ["noise", f"{short(found.sigma)} per coordinate, every round"],
        ["expected charge", f"{short(found.charge)} {unit}"],
        ["expected refund", f"{short(found.refund)} {unit}"],
        ["transfer for the report", f"{short(found.transfer)} {unit}"],
        ["expected net", f"{short(found.net)} {unit}"],
        ["99.9 % of runs", f"{short(found.low)} to {short(found.high)} {unit}"],
        ["epsilon, exact", f"{short(found.epsilon)} at delta = {found.delta:g}"],
        ["epsilon, the paper's", f"{short(found.paper_epsilon)}, of one upload"],
    ]
    if found.uploads < found.rounds:
        rows.append(["uploads", f"{found.uploads}: then its epsilon cap is reached"])
    rounds = f"{found.rounds} rounds" if found.rounds > 1 else "1 round"
    print_lines(f"{found.client} · {rounds} · mechanism: {found.mechanism}", "")
    print_table(("", ""), rows)
    print_lines(
        "",
        "For the whole run, if everybody plays the announced noise. Net: positive where the client "
        "pays.",
        "The range is what noise leaves open; data that differ from round to round move it too.",
    )
