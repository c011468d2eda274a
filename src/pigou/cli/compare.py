"""``pigou compare``: all mechanisms side by side on one scenario."""

from dataclasses import asdict

from pigou.certificate import GAIN_TOLERANCE
from pigou.cli import inputs
from pigou.cli.inputs import Case, clients
from pigou.cli.output import print_json, print_lines, print_table, short
from pigou.comparison import Comparison, NotHere, Row
from pigou.comparison import compare as compared

HEADERS = (
    "\n\nmechanism",
    "social\ncost over\noptimum",
    "gain\nfrom\nlying",
    "gain\nfrom\ndisobeying",
    "\nreserve\nreceives",
    "better\noff than\nunpriced",
    "the server must know",
)
BEYOND = 10.0  # times one's own cost: gains above are not told apart


def compare(
    scenario: inputs.ScenarioFile = None,
    alpha: inputs.Alpha = None,
    kappa: inputs.Kappa = None,
    smoothness: inputs.Smoothness = None,
    privacy_scale: inputs.PrivacyScale = None,
    weights: inputs.Weights = None,
    spread: inputs.Spread = None,
    mean_alpha: inputs.MeanAlpha = None,
    population: inputs.PopulationOfTypes = None,
    points: inputs.Points = None,
    as_json: inputs.AsJson = False,
) -> None:
    """Show all mechanisms side by side: what they achieve, what breaks them, what they ask for.

    Examples:

    pigou compare examples/three_hospitals.toml

    pigou compare examples/three_hospitals.toml --population uniform:0.1,0.9

    pigou compare --alpha 0.25,0.75,0.25,0.75,0.75 --population two-point:0.25,0.75,0.4 --json
    """
    options = inputs.Options(
        alpha,
        kappa,
        smoothness,
        privacy_scale,
        weights,
        spread,
        mean_alpha=mean_alpha,
        population=population,
        points=points,
    )
    case = inputs.read_any(scenario, options)
    found = compared(case.game, case.details)
    if as_json:
        print_json(_record(case, found))
    else:
        _show(case, found)


def _record(case: Case, found: Comparison) -> dict[str, object]:
    return {
        "scenario": case.title,
        "n": case.game.setting.n,
        "optimum": found.optimum,
        "mechanisms": [_row(row) for row in found.rows],
    }


def _row(row: Row | NotHere) -> dict[str, object]:
    if isinstance(row, NotHere):
        return {"mechanism": row.mechanism, "applicable": False, "reason": row.reason}
    return {"mechanism": row.mechanism, "applicable": True, **asdict(row)}


def _show(case: Case, found: Comparison) -> None:
    n = case.game.setting.n
    optimum = f"least social cost for these weights: {short(found.optimum)}"
    print_lines(" · ".join(dict.fromkeys([case.title, clients(n), optimum])), "")
    print_table(HEADERS, [_cells(row) for row in found.applicable])
    if found.refused:
        print_lines(
            "", *(f"{row.mechanism}: not applicable: {row.reason}" for row in found.refused)
        )
    print_lines("", *_notes(found, n))


def _cells(row: Row) -> list[str]:
    return [
        row.mechanism,
        f"{row.ratio:.4g}",
        _gain(row.lying) if row.asks else "no reports",
        _gain(row.disobeying),
        _signed(row.reserve),
        f"{100.0 * row.better_off:.3g} %",
        row.knows,
    ]


def _gain(share: float | None) -> str:
    if share is None:
        return "no search"
    if share <= GAIN_TOLERANCE:
        return "none"
    return f"> {100.0 * BEYOND:.0f} %" if share > BEYOND else f"{100.0 * share:.2g} %"


def _signed(share: float) -> str:
    """Of social cost; what rounding leaves is nothing."""
    return "0" if abs(share) <= GAIN_TOLERANCE else f"{100.0 * share:+.2g} %"


def _notes(found: Comparison, n: int) -> list[str]:
    rows = found.applicable
    notes = [
        "Social cost: before money, among clients who report truthfully. It does not hold where",
        "lying pays. Gains: the most that one client gains alone, of its own cost; a lie comes",
        "with the noise that goes best with it. Reserve: in all, of the least social cost.",
    ]
    on_average = [row.mechanism for row in rows if row.on_average]
    if on_average:
        names = " and ".join(on_average)
        notes.append(f"Gains and reserve are on average over the others' types for {names}.")
    searched = [row.searched for row in rows if 0 < row.searched < n]
    if searched:
        notes.append(f"Lies were searched for {max(searched)} of {n:,} clients, of all types.")
    for row in rows:
        if row.between:
            what = f"{row.between:,} clients' types are not on its menu of {row.types}"
            notes.append(f"{row.mechanism}: {what}; they take the nearest.")
        if row.unsearched:
            notes.append(f"{row.mechanism}: no search: {row.unsearched}.")
    return notes
