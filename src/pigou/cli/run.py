"""``pigou run``: a scenario as a training, with prices, without, and without any noise."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pigou.cli.files import free, made, require_empty, written
from pigou.cli.output import print_lines, print_table, short
from pigou.cli.progress import say, watching
from pigou.errors import InvalidArgument, require
from pigou.scenario import load, to_toml

if TYPE_CHECKING:
    from pigou.runs import RunRecord, TreatmentRecord

STOPPED = 1
SCENARIO = "scenario.toml"
REPORT = "report.html"
RUNS = Path("runs")

HEADERS = (
    "\n",
    "\naccuracy",
    "\nloss",
    "social\ncost",
    "over\noptimum",
    "\nbudget",
    "largest\nbill",
    "epsilon,\nleast to most",
)


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
) -> None:
    """Train with strategic clients, bill them every round, and see what pricing buys.

    Examples:

    pigou run examples/three_hospitals.toml

    pigou run examples/three_hospitals.toml --only priced --out priced

    pigou run priced/scenario.toml --out priced --only priced --resume three-hospitals-0123abcd
    """
    from pigou import runs
    from pigou.cli.book import open_book

    asked = load(scenario)
    if out is not None and resume is None:
        require_empty("--out", out)
    ready = runs.prepare(asked, say)
    treatments = [arm.name for arm in runs.arms(ready, only or ())]
    if resume is not None and resume != ready.run:
        raise InvalidArgument("--resume", f"must be this scenario's run, {ready.run}", resume)
    usual = RUNS / ready.run
    folder = out or (free(usual) if resume is None else usual)
    if "priced" in treatments:
        with open_book(ready.run, folder, ledger, key, resume=resume is not None) as book:
            state = None if resume is None else book.state()
            written(folder / SCENARIO, to_toml(ready.scenario))
            with watching() as watch:
                record = runs.run(ready, only or (), watch, book.keep, state)
    else:
        unused = {"--ledger": ledger, "--key": key and str(key), "--resume": resume}
        for option, value in unused.items():
            require(value is None, option, "must not be given where nobody is billed", value)
        written(made(folder) / SCENARIO, to_toml(ready.scenario))
        with watching() as watch:
            record = runs.run(ready, only or (), watch)
    runs.write(record, folder)
    _show(record, folder)
    if any(each.stopped for each in record.treatments):
        raise typer.Exit(STOPPED)


def _show(record: "RunRecord", folder: Path) -> None:
    rounds = f"{record.rounds} rounds" if record.rounds > 1 else "1 round"
    mechanism = record.scenario["mechanism"]["name"]
    title = f"{record.scenario['name']} · {rounds} · mechanism: {mechanism} · run {record.run}"
    print_lines(title, record.split, "")
    print_table(HEADERS, [_row(each, record) for each in record.treatments])
    print_lines("", *_notes(record), f"Files: {folder}")


def _row(each: "TreatmentRecord", record: "RunRecord") -> list[str]:
    name, accuracy = each.name, f"{100 * each.accuracy[-1]:.1f} %"
    epsilon = f"{short(each.epsilon.min())} to {short(each.epsilon.max())}"
    if not each.rounds:
        return [name, accuracy, short(each.loss[-1]), "", "", "", "", epsilon]
    largest = int(each.total.argmax())
    bill = f"{short(each.total[largest])} {record.currency}"
    who = record.clients[largest]
    return [
        name,
        accuracy,
        short(each.loss[-1]),
        short(each.social_cost[-1]),
        short(each.ratio[-1]),
        f"{short(each.reserve[-1])} {record.currency}",
        f"{bill} ({who})" if each.total[largest] > 0 else "none",
        epsilon,
    ]


def _notes(record: "RunRecord") -> list[str]:
    notes = [
        "Accuracy on test samples and training loss: after the last round. Social cost: at the "
        "noise of the last round, before money.",
        f"Epsilon: of the whole run, at delta = {record.delta:g}, against {record.adjacency} of a "
        "client's updates; exact.",
    ]
    for each in record.treatments:
        if each.stopped:
            notes.append(f"{each.name} stopped after {each.rounds} rounds: {each.stopped}.")
        if each.certificate is not None and not each.certificate.ok:
            notes.append(f"The certificate FAILS: {each.certificate.text.splitlines()[0]}")
    return notes
