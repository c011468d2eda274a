"""``pigou anarchy``: how the price of anarchy grows with the number of clients."""

import math
from typing import Annotated

import typer

from pigou.anarchy import Scan, scan_clients
from pigou.cli import inputs
from pigou.cli.output import print_json, print_lines, print_table, short
from pigou.errors import require

MOST_CLIENTS = 10_000_000  # of one game here: each takes a few arrays of that length


def anarchy(
    n: Annotated[str, typer.Option(metavar="N,N,…", help="Numbers of clients, increasing.")],
    alpha: Annotated[float, typer.Option(help="The privacy sensitivity of every client.")] = 0.5,
    kappa: inputs.Kappa = None,
    smoothness: inputs.Smoothness = None,
    privacy_scale: Annotated[
        float, typer.Option(help="Cost of 1 / noise.")
    ] = inputs.DEFAULT_PRIVACY_SCALE,
    spread: Annotated[
        float, typer.Option(help="Variance of honest updates from finite data.")
    ] = 0.0,
    as_json: inputs.AsJson = False,
) -> None:
    """Show how the price of anarchy grows with the number of clients, for equal types.

    Examples:

    pigou anarchy --n 10,100,1000

    pigou anarchy --n 10,100,1000,10000 --alpha 0.8 --privacy-scale 0.01 --json
    """
    sizes = inputs.whole_numbers("--n", n)
    require(max(sizes) <= MOST_CLIENTS, "--n", f"must be at most {MOST_CLIENTS:,}", max(sizes))
    loss = inputs.bound(kappa, smoothness)
    found = scan_clients(sizes, loss, privacy_scale, alpha, spread)
    rows = list(zip(sizes, found.ratio.tolist(), found.slope.tolist(), strict=True))
    if as_json:
        points = [{"n": size, "price_of_anarchy": ratio} for size, ratio, _ in rows]
        for point, (_, _, slope) in zip(points[1:], rows[1:], strict=True):
            point["slope"] = slope
        print_json({"alpha": alpha, "points": points})
        return
    _show(found, alpha)


def _show(found: Scan, alpha: float) -> None:
    print_lines(f"Price of anarchy for equal types, alpha = {short(alpha)}", "")
    columns = zip(found.values.tolist(), found.ratio.tolist(), found.slope.tolist(), strict=True)
    rows = [
        [f"{size:,.0f}", short(ratio), "" if math.isnan(slope) else f"{slope:.3f}"]
        for size, ratio, slope in columns
    ]
    print_table(("clients", "price of\nanarchy", "growth\nexponent"), rows)
    print_lines("", "Growth exponent: of the price in the number of clients, since the row above.")
