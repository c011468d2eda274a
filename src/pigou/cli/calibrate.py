"""``pigou calibrate``: what noise costs on a task, and how honest updates differ."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pigou.cli import inputs
from pigou.cli.output import print_json, print_lines, print_table, short
from pigou.cli.progress import say
from pigou.scenario import load

if TYPE_CHECKING:
    from pigou.checks import FloatArray
    from pigou.runs.measuring import Measured

MOST_LISTED = 20  # clients; of more, the mean stands in the lines to paste

HEADERS = (
    "noise of the\naggregate",
    "excess loss,\nmeasured",
    "standard\nerror",
    "\nfitted",
    "paper's\nbound",
)


def calibrate(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO.toml", help="A scenario file.")],
    as_json: inputs.AsJson = False,
) -> None:
    """Measure on the scenario's own task what noise costs, and print lines to paste into it.

    Examples:

    pigou calibrate examples/three_hospitals.toml
    """
    from pigou.runs.measuring import measure

    found = measure(load(scenario), say)
    if as_json:
        print_json(_record(found))
    else:
        _show(found)


def _show(found: "Measured") -> None:
    fit, ready = found.calibration, found.ready
    print_lines(f"{ready.scenario.name} · {fit.rounds} rounds", ready.split, "")
    columns = (fit.levels, fit.excess, fit.excess_error, fit.fitted, fit.bounded)
    print_table(HEADERS, [list(map(short, row)) for row in zip(*columns, strict=True)])
    linear, quadratic = (
        f"{short(value)} ± {short(error)}"
        for value, error in zip((fit.loss.linear, fit.loss.quadratic), fit.loss_error, strict=True)
    )
    print_lines(
        "",
        f"Loss: {linear} times the noise, plus {quadratic} times its square (± standard errors).",
        "Excess loss: training loss after the run, above that of a run without noise.",
        f"Smoothness L_F {short(fit.smoothness)}; distance from start to optimum "
        f"{short(fit.distance)}; a run without noise ends {short(fit.noiseless_gap)} above the "
        "least loss.",
        f"Spread (variance of an honest update from finite data): {_range(_spread(found))}.",
        f"Divergence (squared distance because data differ): {_range(_divergence(found))}.",
        f"Norm of an honest update in round 1, before clipping: {_range(found.norms)}; "
        f"clip = {short(ready.task.clip)}.",
        "",
        "To paste into the scenario:",
        "",
        "[loss]",
        f"linear = {fit.loss.linear!r}",
        f"quadratic = {fit.loss.quadratic!r}",
        "",
        "[federation]",
        f"spread = {_toml(_spread(found))}",
        f"divergence = {_toml(_divergence(found))}",
    )


def _spread(found: "Measured") -> "FloatArray":
    return found.heterogeneity.spread


def _divergence(found: "Measured") -> "FloatArray":
    return found.heterogeneity.divergence


def _range(values: "FloatArray") -> str:
    return f"{short(values.min())} to {short(values.max())}, mean {short(values.mean())}"


def _toml(values: "FloatArray") -> str:
    if values.size > MOST_LISTED:
        return f"{float(values.mean())!r}  # mean over {values.size} clients"
    return f"[{', '.join(map(repr, values.tolist()))}]"


def _record(found: "Measured") -> dict[str, object]:
    fit = found.calibration
    return {
        "scenario": found.ready.scenario.name,
        "rounds": fit.rounds,
        "linear": fit.loss.linear,
        "quadratic": fit.loss.quadratic,
        "linear_error": fit.loss_error[0],
        "quadratic_error": fit.loss_error[1],
        "levels": fit.levels,
        "excess": fit.excess,
        "excess_error": fit.excess_error,
        "fitted": fit.fitted,
        "bound": fit.bounded,
        "smoothness": fit.smoothness,
        "distance": fit.distance,
        "noiseless_gap": fit.noiseless_gap,
        "spread": _spread(found),
        "divergence": _divergence(found),
        "norms": found.norms,
    }
