"""``pigou certify``: can anybody gain by deviating from one case's outcome?"""

from typing import Annotated

import typer

from pigou.certificate import GAIN_TOLERANCE, Deviation
from pigou.cli import inputs
from pigou.cli.inputs import Case
from pigou.cli.outcome import Outcome
from pigou.cli.output import print_json, print_lines
from pigou.comparison import THOROUGH, Judged, judge
from pigou.errors import NotApplicable

FAILED = 1

Reports = Annotated[
    bool,
    typer.Option(
        "--reports",
        help="Search for misreports, too, where the mechanism takes types to be known. "
        "Where it asks for them in earnest they are searched for in any case.",
    ),
]


def certify(
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
    reports: Reports = False,
    as_json: inputs.AsJson = False,
) -> None:
    """Check an outcome from outside: who gains by deviating, does the budget hold.

    Exit status 1 if the certificate fails.

    Examples:

    pigou certify examples/three_hospitals.toml

    pigou certify examples/three_hospitals.toml --mechanism groves

    pigou certify examples/three_hospitals.toml --mechanism menu --population uniform:0.1,0.9

    pigou certify --alpha 0.2,0.5,0.8 --mechanism pigouvian --reports --json
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
    case = inputs.read_case(scenario, options)
    if reports and case.kind.types == "not asked":
        raise NotApplicable("--reports", f"must not be given: {case.name} asks for none", reports)
    outcome = Outcome.of(case)
    lies = reports or case.kind.types == "reported"
    judged = judge(outcome.play, case.kind, THOROUGH, lies=lies)
    if as_json:
        print_json(_record(case, judged))
    else:
        _show(case, judged)
    if not judged.certificate.ok:
        raise typer.Exit(FAILED)


def _show(case: Case, judged: Judged) -> None:
    certificate = judged.certificate
    verdict = "holds" if certificate.ok else "FAILS"
    print_lines(f"{case.title} · mechanism: {case.name} · certificate {verdict}", "")
    print_lines(certificate.explain(), _scope(case, judged))
    worst = certificate.worst
    if certificate.max_gain > GAIN_TOLERANCE and worst.alpha is None:
        counted, name = str(worst.client), case.clients[worst.client]
        named = "" if name == counted else f": client {counted} is {name}"
        print_lines(f"Clients are counted from 0{named}.")


def _scope(case: Case, judged: Judged) -> str:
    """What was searched for, of whom."""
    if judged.on_average is not None:
        types = ", ".join(f"{alpha:.4g}" for alpha in judged.on_average.types)
        return f"Gains are those of each type ({types}), on average over the others' types."
    n = case.game.setting.n
    if judged.searched:
        who = "all" if len(judged.searched) == n else f"{len(judged.searched)} of the {n:,}"
        return f"Misreports were searched for: {who} clients."
    return {
        "not asked": "Nothing is reported: there is nothing to lie about.",
        "known": "Types are taken to be known: no misreports were searched for (--reports does).",
        "reported": "No misreports were searched for: there are too many clients.",
    }[case.kind.types]


def _record(case: Case, judged: Judged) -> dict[str, object]:
    certificate, types = judged.certificate, judged.on_average
    budget = certificate.budget
    return {
        "scenario": case.title,
        "mechanism": case.name,
        "ok": certificate.ok,
        "max_gain": certificate.max_gain,
        "worst": _deviation(case, certificate.worst),
        "misreports": {
            "clients": [case.clients[client] for client in judged.searched],
            "types": None if types is None else types.types.tolist(),
            "probabilities": None if types is None else types.probabilities.tolist(),
        },
        "second_order": certificate.second_order,
        "curvature": certificate.curvature,
        "social_cost": certificate.social_cost,
        "optimum": certificate.optimum,
        "ratio_to_optimum": certificate.ratio_to_optimum,
        "best_weights": certificate.best_weights,
        "best_active": certificate.best_active,
        "ratio_to_best_weights": certificate.ratio_to_best_weights,
        "budget": {
            "promise": budget.promise,
            "holds": budget.holds,
            "charges": budget.charges,
            "refunds": budget.refunds,
            "transfers": budget.transfers,
            "residual": budget.residual,
            "residual_on_average": budget.ex_ante,
        },
        "better_off": certificate.better_off,
    }


def _deviation(case: Case, worst: Deviation) -> dict[str, object]:
    """Of a client, or of a type where gains are on average."""
    return {
        "client": case.clients[worst.client] if worst.alpha is None else None,
        "type": worst.alpha,
        "report": worst.report,
        "noise": worst.sigma,
        "gain": worst.gain,
        "relative": worst.relative,
    }
