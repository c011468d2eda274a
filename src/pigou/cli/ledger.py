"""``pigou ledger``: read the book, check it, and check a bill without trusting the book."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pigou.cli.output import print_lines, print_table
from pigou.errors import PigouError, require

if TYPE_CHECKING:
    from pigou.ledger import Ledger
    from pigou.ledger.check import Evidence
    from pigou.ledger.journal import Filter
    from pigou.ledger.ledger import Line

FAILED = 1

ledger = typer.Typer(help="The book of who owes what: read it, check it, export it.")

Url = Annotated[
    str, typer.Option("--ledger", metavar="URL", help="sqlite:///FILE or postgresql+psycopg://…")
]
Run = Annotated[str | None, typer.Option(help="Only this run.")]
Since = Annotated[
    str | None, typer.Option(metavar="TIME", help="Only what was posted from this day or time on.")
]
Until = Annotated[
    str | None, typer.Option(metavar="TIME", help="Only up to this day, or before this time.")
]


@ledger.callback(invoke_without_command=True)
def root(context: typer.Context) -> None:
    """The book of who owes what: read it, check it, export it."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit


@ledger.command()
def show(ledger: Url, run: Run = None, since: Since = None, until: Until = None) -> None:
    """List the entries of the book.

    Examples:

    pigou ledger show --ledger sqlite:///book.db --since 2025-01-01
    """
    from pigou.ledger.money import units

    rows = []
    with _opened(ledger) as book:
        for sealed in book.entries(_filter(run, since, until)):
            entry = sealed.entry
            owed = sum(line.amount for line in entry.postings if line.amount > 0)
            note = f"takes back entry {entry.reverses}: {entry.reason}" if entry.reverses else ""
            names = (str(sealed.number), sealed.posted[:19], entry.run, str(entry.round))
            rows.append((*names, entry.kind, f"{units(owed)} {entry.currency}", note))
    print_table(("entry", "posted (UTC)", "run", "round", "kind", "moved", ""), rows)


@ledger.command()
def statement(
    client: Annotated[str, typer.Argument(help="The client's name.")],
    ledger: Url,
    run: Run = None,
    since: Since = None,
    until: Until = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write each signed statement there, as JSON."),
    ] = None,
) -> None:
    """A client's bills, and what they come to.

    Examples:

    pigou ledger statement hospital-a --run demo --save bills --ledger sqlite:///book.db
    """
    from pigou.ledger.money import in_words

    with _opened(ledger) as book:
        lines = book.statement(client, run, _filter(None, since, until))
    saved = "" if save is None else _save(save, lines)
    print_table(
        ("entry", "run", "round", "kind", "deviation", "charge", "refund", "the client"),
        [_row(line) for line in lines],
    )
    for currency in sorted({line.sealed.entry.currency for line in lines}):
        amounts = [line.amount for line in lines if line.sealed.entry.currency == currency]
        print_lines("", f"Together: {client} {in_words(sum(amounts), currency)}.")
    if saved:
        print_lines(saved)


@ledger.command()
def balances(ledger: Url, run: Run = None, since: Since = None, until: Until = None) -> None:
    """What every account comes to; with a filter, by the entries it lets through.

    Examples:

    pigou ledger balances --ledger sqlite:///book.db
    """
    from pigou.ledger.money import in_words

    with _opened(ledger) as book:
        found = book.balances(_filter(run, since, until))
    print_table(
        ("account", "consortium", ""),
        [
            (
                each.owner if each.kind == "client" else "(reserve)",
                each.consortium,
                in_words(each.amount, each.currency),
            )
            for each in found
        ],
    )


@ledger.command()
def verify(
    ledger: Url,
    head: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A signed statement or head that the book must contain."),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The public key as you know it, not as the book says."),
    ] = None,
) -> None:
    """Check every entry, sum, balance and signature; exit status 1 if one fails.

    Examples:

    pigou ledger verify --ledger sqlite:///book.db --key book.db.key.pub --head bill.json
    """
    from pigou.ledger import keys
    from pigou.ledger.documents import read_head

    kept = None if head is None else read_head(head)
    trusted = None if key is None else keys.load_public(key)
    with _opened(ledger) as book:
        found = book.verify(kept, trusted)
    counts = f"{_count(found.entries, 'entry', 'entries')} with {_count(found.postings, 'posting')}"
    if not found.ok:
        print_lines(f"FAILS after {counts}: {found.fault}.")
        raise typer.Exit(FAILED)
    print_lines(f"Holds: {counts}; chain, sums, balances and signatures.")
    if found.head is not None:
        print_lines(f"Head: entry {found.head.entry}, {found.head.hash}")
    if kept is None:
        print_lines("Not checked: whether entries are missing at the end; give a kept --head.")
    if trusted is None:
        print_lines("Signatures were checked with the key that the book records; give --key.")


@ledger.command()
def export(
    ledger: Url,
    form: Annotated[str, typer.Option("--format", metavar="csv|json", help="What to write.")],
    run: Run = None,
    since: Since = None,
    until: Until = None,
) -> None:
    """Write the journal to standard output: CSV by posting, JSON by entry.

    Examples:

    pigou ledger export --format csv --run demo --ledger sqlite:///book.db > book.csv
    """
    from pigou.ledger.export import write_csv, write_json

    require(form in ("csv", "json"), "--format", "must be csv or json", form)
    with _opened(ledger) as book:
        entries = book.entries(_filter(run, since, until))
        (write_csv if form == "csv" else write_json)(entries, sys.stdout)


@ledger.command("check-statement")
def check_statement(
    statement: Annotated[Path, typer.Argument(help="The signed statement, a JSON file.")],
    key: Annotated[Path, typer.Option(metavar="FILE", help="The ledger's public key.")],
    upload: Annotated[
        Path | None, typer.Option(metavar="FILE.npz", help="What you uploaded in that round.")
    ] = None,
    mean: Annotated[
        Path | None, typer.Option(metavar="FILE.npz", help="The published mean of all uploads.")
    ] = None,
    others: Annotated[
        Path | None, typer.Option(metavar="FILE.npz", help="Instead: the mean of the others'.")
    ] = None,
) -> None:
    """Recompute your bill from what you have; exit status 1 if anything differs.

    Examples:

    pigou ledger check-statement bill.json --key book.db.key.pub --upload mine.npz --mean mean.npz
    """
    from pigou.ledger import keys
    from pigou.ledger.check import check_statement as checked
    from pigou.ledger.documents import read_statement

    signed = read_statement(statement)
    findings = checked(signed, keys.load_public(key), _evidence(upload, mean, others))
    print_lines(
        f"{signed.statement.client}, round {signed.statement.round} of {signed.statement.run}"
    )
    for each in findings:
        compared = f": {each.said}, recomputed {each.found}" if each.said else ""
        print_lines(f"  {'agrees ' if each.ok else 'DIFFERS'}  {each.what}{compared}")
    if signed.statement.round > 0 and upload is None:
        print_lines("Not checked: the deviation; give --upload, and --mean or --others.")
    if not all(each.ok for each in findings):
        raise typer.Exit(FAILED)


def _opened(url: str) -> Ledger:
    from pigou.ledger import Ledger  # no other command needs a database

    return Ledger(url, write=False)


def _filter(run: str | None, since: str | None, until: str | None) -> Filter:
    from pigou.ledger.journal import Filter, moment

    return Filter(
        run,
        None if since is None else moment("--since", since),
        None if until is None else moment("--until", until, after=True),
    )


def _row(line: Line) -> tuple[str, ...]:
    from pigou.ledger.money import in_words, units

    entry = line.sealed.entry
    place = (str(line.sealed.number), entry.run, str(entry.round), entry.kind)
    amount = in_words(line.amount, entry.currency)
    if line.signed is None:
        return (*place, "", "", "", amount)
    bill = line.signed.statement
    return (*place, f"{bill.deviation:.6g}", units(bill.charge), units(bill.refund), amount)


def _save(folder: Path, lines: list[Line]) -> str:
    from pigou.ledger.documents import write_statement

    try:
        folder.mkdir(parents=True, exist_ok=True)
        for line in lines:
            if line.signed is not None:
                write_statement(folder / f"entry-{line.sealed.number}.json", line.signed)
    except OSError as error:
        raise PigouError(f"statements cannot be written to {folder}: {error.strerror}") from error
    saved = sum(line.signed is not None for line in lines)
    return f"Saved {_count(saved, 'signed statement')} in {folder}."


def _count(number: int, one: str, more: str = "") -> str:
    return f"{number} {one if number == 1 else more or one + 's'}"


def _evidence(upload: Path | None, mean: Path | None, others: Path | None) -> Evidence | None:
    from pigou.ledger.check import Evidence
    from pigou.ledger.documents import read_arrays

    given = [path for path in (mean, others) if path is not None]
    if upload is None and not given:
        return None
    if upload is None or len(given) != 1:
        raise PigouError("give --upload together with --mean or with --others")
    return Evidence(read_arrays(upload), read_arrays(given[0]), of_others=others is not None)
