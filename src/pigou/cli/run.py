"""``pigou run``: a scenario as a training, with prices, without, and without any noise."""

import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pigou.cli.files import free, made, require_empty, written
from pigou.cli.progress import say, watching
from pigou.cli.run_outcome import show
from pigou.errors import InvalidArgument, require
from pigou.ledger.errors import LedgerUnavailable
from pigou.scenario import load, to_toml

if TYPE_CHECKING:
    from pigou.cli.book import Book
    from pigou.runs import Ready, RunRecord
    from pigou.runs.engines import EngineName

STOPPED = 1
SCENARIO = "scenario.toml"
REPORT = "report.html"
RUNS = Path("runs")


def run(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO.toml", help="A scenario file.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The run's folder, empty or new. Default: in runs/."),
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Where bills are booked. Default: ledger.db in DIR."),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The ledger's signing key; PostgreSQL needs one."),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Go on with this run after the last round booked."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help='Only this treatment: "priced", "unpriced", "no noise". Repeatable.'),
    ] = None,
    engine: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help='What plays the rounds: "local", or "flower", Flower\'s simulation engine.',
        ),
    ] = "local",
    attacks: Annotated[
        bool | None,
        typer.Option(
            "--attacks/--no-attacks",
            help="Measure what copycats, rings and Sybils gain on this task, for the report. "
            "Default: where the scenario has copycats or rings.",
        ),
    ] = None,
) -> None:
    """Train with strategic clients, bill them every round, and see what pricing buys.

    Examples:

    pigou run examples/three_hospitals.toml

    pigou run examples/three_hospitals.toml --only priced --out priced

    pigou run examples/three_hospitals.toml --engine flower

    pigou run priced/scenario.toml --out priced --only priced --resume three-hospitals-0123abcd
    """
    from pigou import runs
    from pigou.runs.engines import require_engine

    treatments, plays = only or [], require_engine(engine)
    asked = load(scenario)
    runs.require_treatments(treatments)
    if out is not None and resume is None:
        require_empty("--out", out)
    ready = runs.prepare(asked, say)
    priced = any(arm.name == "priced" for arm in runs.arms(ready, treatments))
    if resume is not None and resume != ready.run:
        raise InvalidArgument("--resume", f"must be this scenario's run, {ready.run}", resume)
    bookings = {"--ledger": ledger, "--key": key, "--resume": resume}
    for option, value in bookings.items() if not priced else ():
        require(value is None, option, "must not be given where nobody is billed", str(value))
    scene = runs.attack_scene(ready, attacks)
    usual = RUNS / ready.run
    folder = out or (free(usual) if resume is None else usual)
    if priced:
        from pigou.cli.book import open_book
        from pigou.ledger.store import without_secrets

        where = None if ledger is None else without_secrets(ledger)
        chosen = None if plays == "local" else plays
        again = {"--ledger": where, "--key": key, "--resume": ready.run, "--out": folder}
        again["--engine"] = chosen
        place = (ready.run, ready.scenario.clients, folder, ledger, key)
        with (
            open_book(*place, resume=resume is not None) as book,
            _resumable(book, _again(scenario, again, treatments)),
        ):
            going_on = resume is not None
            record = _trained(ready, folder, treatments, plays, book, resume=going_on)
    else:
        record = _trained(ready, folder, treatments, plays, None, resume=False)
    _leave(record, folder)
    if scene is not None:
        say("measuring what attacks would bring ...")
        record = replace(record, attacks=runs.measure_attacks(scene))
        _leave(record, folder)
    show(record, folder, folder / REPORT)
    if any(each.stopped for each in record.treatments):
        raise typer.Exit(STOPPED)


def _trained(
    ready: "Ready",
    folder: Path,
    only: list[str],
    engine: "EngineName",
    book: "Book | None",
    *,
    resume: bool,
) -> "RunRecord":
    """The run itself, with a bar on the terminal; it begins with its scenario in its folder."""
    from pigou import runs

    kept = book.kept() if book is not None and resume else None
    written(made(folder) / SCENARIO, to_toml(ready.scenario))
    keep = None if book is None else book.keep
    with watching() as watch:
        return runs.run(ready, only, watch, keep, kept, engine)


def _leave(record: "RunRecord", folder: Path) -> None:
    """What is known of the run by now, in its folder."""
    from pigou import report, runs

    runs.write(record, folder)
    report.write(record, folder / REPORT)


@contextmanager
def _resumable(book: "Book", command: list[str]) -> Iterator[None]:
    """If the run is interrupted meanwhile, or its ledger fails, how to go on with it."""
    again = f"to go on: {shlex.join(['pigou', 'run', *command])}"
    try:
        yield
    except LedgerUnavailable as error:
        if book.last is None:
            raise
        raise LedgerUnavailable(f"{error}; {again}") from error
    except KeyboardInterrupt:
        told = "interrupted before a round was booked"
        if book.last is not None:
            told = f"interrupted after round {book.last}; {again}"
        print("pigou:", told, file=sys.stderr)
        raise


def _again(scenario: Path, options: Mapping[str, object], only: list[str]) -> list[str]:
    """The words that call this command again with these options."""
    named = [(name, value) for name, value in options.items() if value is not None]
    named += [("--only", name) for name in only]
    return [str(scenario), *(word for name, value in named for word in (name, str(value)))]
