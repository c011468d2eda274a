"""What the commands work on: a scenario file, options, or a file with options on top."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from pigou.checks import count, is_number
from pigou.cli.populations import SYNTAX, population
from pigou.errors import InvalidArgument, NotApplicable, PigouError, require
from pigou.game import AccuracyLoss, Game, Setting
from pigou.mechanisms import Mechanism
from pigou.scenario import MECHANISMS, Details, Kind, Scenario, kind_named, load
from pigou.scenario.tables import LossTable, MechanismTable

DEFAULT_KAPPA = 16.0
DEFAULT_SMOOTHNESS = 2.0
DEFAULT_PRIVACY_SCALE = 0.5
DEFAULT_MECHANISM = MechanismTable().name

ScenarioFile = Annotated[
    Path | None,
    typer.Argument(metavar="SCENARIO.toml", help="A scenario file; options replace what it says."),
]
Alpha = Annotated[
    str | None,
    typer.Option(metavar="A,B,…", help="Privacy sensitivities, each in [0, 1]: one per client."),
]
Kappa = Annotated[
    float | None,
    typer.Option(help=f"Linear loss of the paper's bound. Without a file: {DEFAULT_KAPPA:g}."),
]
Smoothness = Annotated[
    float | None,
    typer.Option(help=f"L of the paper's bound. Without a file: {DEFAULT_SMOOTHNESS:g}."),
]
PrivacyScale = Annotated[
    float | None,
    typer.Option(help=f"Cost of 1 / noise. Without a file: {DEFAULT_PRIVACY_SCALE:g}."),
]
Weights = Annotated[
    str | None,
    typer.Option(
        metavar="mean|A,B,…", help="Aggregation weights that sum to 1. Without a file: mean."
    ),
]
Spread = Annotated[
    str | None,
    typer.Option(
        metavar="V|A,B,…", help="Variance of honest updates from finite data. Without a file: 0."
    ),
]
MechanismName = Annotated[
    str | None,
    typer.Option(
        "--mechanism",
        metavar="|".join(MECHANISMS),
        help=f"Who pays what. Without a file: {DEFAULT_MECHANISM}.",
    ),
]
MeanAlpha = Annotated[
    float | None,
    typer.Option(help="The mean type that a posted price assumes. Without a file: 0.5."),
]
PopulationOfTypes = Annotated[
    str | None,
    typer.Option(
        "--population",
        metavar="KIND:A,B,…",
        help=f"What types are drawn from, for menu and paper-two-types: {SYNTAX}.",
    ),
]
Points = Annotated[
    int | None,
    typer.Option(help="Types of a menu for a population without gaps. Default: 2 to 5, by N."),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="One JSON object with full precision, instead of text.")
]


@dataclass(frozen=True)
class Options:
    """The options as typed; None where an option was not given."""

    alpha: str | None = None
    kappa: float | None = None
    smoothness: float | None = None
    privacy_scale: float | None = None
    weights: str | None = None
    spread: str | None = None
    mechanism: str | None = None
    mean_alpha: float | None = None
    population: str | None = None
    points: int | None = None


@dataclass(frozen=True, eq=False)
class Case:
    """One game, what mechanisms take besides, which one is meant, and how to talk about them."""

    title: str
    clients: tuple[str, ...]
    game: Game
    details: Details
    name: str
    currency: str

    @property
    def kind(self) -> Kind:
        """The kind of mechanism that is meant."""
        return kind_named(self.name)

    def mechanism(self) -> Mechanism:
        """The mechanism that is meant."""
        return self.kind.build(lambda: self.game.setting, self.details)


def read_case(path: Path | None, options: Options) -> Case:
    """The case that a file and options describe together, of one mechanism that takes them all."""
    case = read_any(path, options)
    taken = case.kind.options
    for name in ("mean_alpha", "population", "points"):
        given = getattr(options, name)
        if given is not None and name not in taken:
            takers = ", ".join(other for other, kind in MECHANISMS.items() if name in kind.options)
            option = f"--{name.replace('_', '-')}"
            raise NotApplicable(option, f"must be given for {takers} only, not {case.name}", given)
    return case


def read_any(path: Path | None, options: Options) -> Case:
    """The case that a file and options describe together."""
    if path is not None:
        return _from_scenario(load(path), options)
    if options.alpha is None:
        raise PigouError("give a scenario file, or the clients' types with --alpha")
    alpha = numbers("--alpha", options.alpha)
    setting = Setting(
        n=len(alpha),
        loss=bound(options.kappa, options.smoothness),
        privacy_scale=_first(options.privacy_scale, DEFAULT_PRIVACY_SCALE),
        weights=_weights(options.weights or "mean"),
        spread=_spread(options.spread or "0"),
    )
    names = tuple(map(str, range(setting.n)))
    return Case(
        title=clients(setting.n),
        clients=names,
        game=Game(setting, alpha),
        details=_details(Details(), options),
        name=options.mechanism or DEFAULT_MECHANISM,
        currency=MechanismTable().currency,
    )


def clients(n: int) -> str:
    """How many there are, in words."""
    return "1 client" if n == 1 else f"{n:,} clients"


def bound(kappa: float | None, smoothness: float | None) -> AccuracyLoss:
    """The paper's bound, with the documented values where an option was not given."""
    return AccuracyLoss.bound(_first(kappa, DEFAULT_KAPPA), _first(smoothness, DEFAULT_SMOOTHNESS))


def numbers(option: str, text: str) -> list[float]:
    """Numbers separated by commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise InvalidArgument(option, "must be numbers separated by commas", text) from error


def whole_numbers(option: str, text: str) -> list[int]:
    """Whole numbers separated by commas."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise InvalidArgument(option, "must be whole numbers separated by commas", text) from error


def _from_scenario(scenario: Scenario, options: Options) -> Case:
    """The scenario's case, with the parts replaced that options name."""
    old = scenario.setting()
    setting = Setting(
        n=old.n,
        loss=_loss(scenario.loss, options),
        privacy_scale=_first(options.privacy_scale, old.privacy_scale),
        weights=old.weights if options.weights is None else _weights(options.weights),
        spread=old.spread if options.spread is None else _spread(options.spread),
        divergence=old.divergence,
    )
    given = options.alpha
    types = scenario.game().alpha if given is None else numbers("--alpha", given)
    return Case(
        title=scenario.name,
        clients=scenario.clients,
        game=Game(setting, types),
        details=_details(scenario.details, options),
        name=options.mechanism or scenario.mechanism.name,
        currency=scenario.mechanism.currency,
    )


def _details(known: Details, options: Options) -> Details:
    """What mechanisms take, with the parts replaced that options name."""
    if options.mean_alpha is not None:
        inside = is_number(options.mean_alpha) and 0 <= options.mean_alpha < 1
        require(inside, "--mean-alpha", "must lie in [0, 1)", options.mean_alpha)
        known = replace(known, mean_alpha=options.mean_alpha)
    if options.points is not None:
        known = replace(known, points=count("--points", options.points))
    if options.population is not None:
        known = replace(known, population=population("--population", options.population))
    return known


def _loss(table: LossTable, options: Options) -> AccuracyLoss:
    if options.kappa is None and options.smoothness is None:
        return table.build()
    kappa = table.kappa if options.kappa is None else options.kappa
    smoothness = table.smoothness if options.smoothness is None else options.smoothness
    if kappa is None or smoothness is None:
        missing = "--kappa" if kappa is None else "--smoothness"
        raise InvalidArgument(missing, "must be given too: the scenario's loss has none", None)
    return AccuracyLoss.bound(kappa, smoothness)


def _weights(text: str) -> str | list[float]:
    return text if text == "mean" else numbers("--weights", text)


def _spread(text: str) -> float | Sequence[float]:
    values = numbers("--spread", text)
    return values[0] if len(values) == 1 else values


def _first(given: float | None, otherwise: float) -> float:
    return otherwise if given is None else given
