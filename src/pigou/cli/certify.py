"""``pigou certify``: can anybody gain by deviating from one case's outcome?"""

import typer

from pigou.certificate import GAIN_TOLERANCE, Certificate
from pigou.certificate import certify as certified
from pigou.cli import inputs
from pigou.cli.outcome import Outcome
from pigou.cli.output import print_json, print_lines

FAILED = 1


def certify(
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
    """Check an outcome from outside: who gains by deviating, does the budget hold.

    Exit status 1 if the certificate fails.

    Examples:

    pigou certify examples/three_hospitals.toml

    pigou certify --alpha 0.2,0.5,0.8 --mechanism unpriced --json
    """
    options = inputs.Options(alpha, kappa, smoothness, privacy_scale, weights, spread, mechanism)
    outcome = Outcome.of(inputs.read_case(scenario, options))
    case, terms = outcome.case, outcome.terms
    played = outcome.priced.sigma if terms.sigma is None else None
    certificate = certified(case.game, terms, sigma=played)
    if as_json:
        print_json(_record(outcome, certificate))
    else:
        _show(outcome, certificate)
    if not certificate.ok:
        raise typer.Exit(FAILED)


def _show(outcome: Outcome, certificate: Certificate) -> None:
    verdict = "holds" if certificate.ok else "FAILS"
    case, mechanism = outcome.case, outcome.terms.mechanism
    print_lines(f"{case.title} · mechanism: {mechanism} · certificate {verdict}", "")
    print_lines(certificate.explain())
    if certificate.max_gain > GAIN_TOLERANCE:
        who = certificate.worst.client
        print_lines(f"Clients are counted from 0: client {who} is {case.clients[who]}.")


def _record(outcome: Outcome, certificate: Certificate) -> dict[str, object]:
    worst, budget = certificate.worst, certificate.budget
    return {
        "scenario": outcome.case.title,
        "mechanism": outcome.terms.mechanism,
        "ok": certificate.ok,
        "max_gain": certificate.max_gain,
        "worst": {
            "client": outcome.case.clients[worst.client],
            "noise": worst.sigma,
            "gain": worst.gain,
            "relative": worst.relative,
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
        },
        "better_off": certificate.better_off,
    }
