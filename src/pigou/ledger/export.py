"""The journal for other programs: one row per posting as CSV, or whole entries as JSON."""

import csv
import json
from collections.abc import Iterable
from typing import TextIO

from pigou.ledger.entry import Sealed
from pigou.ledger.money import units

COLUMNS = (
    "entry",
    "posted",
    "consortium",
    "run",
    "round",
    "kind",
    "reverses",
    "account",
    "owner",
    "amount_micro",
    "amount",
    "currency",
    "hash",
)


def write_csv(entries: Iterable[Sealed], file: TextIO) -> None:
    """One row per posting; a positive amount is owed by its owner."""
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(COLUMNS)
    for sealed in entries:
        entry = sealed.entry
        where = (sealed.number, sealed.posted, entry.consortium, entry.run, entry.round)
        for line in entry.postings:
            amounts = (line.amount, units(line.amount), entry.currency)
            what = (entry.kind, entry.reverses, line.kind, line.owner)
            rows.writerow((*where, *what, *amounts, sealed.hash))


def write_json(entries: Iterable[Sealed], file: TextIO) -> None:
    """A list of entries, each with its postings and statements, written one by one."""
    file.write("[")
    for place, sealed in enumerate(entries):
        file.write(",\n" if place else "\n")
        json.dump(_plain(sealed), file)
    file.write("\n]\n")


def _plain(sealed: Sealed) -> dict[str, object]:
    entry = sealed.entry
    lines = [line._asdict() for line in entry.postings]
    return {
        "entry": sealed.number,
        "posted": sealed.posted,
        "consortium": entry.consortium,
        "run": entry.run,
        "round": entry.round,
        "kind": entry.kind,
        "currency": entry.currency,
        "unit": entry.unit,
        "terms": entry.terms,
        "reverses": entry.reverses,
        "reason": entry.reason,
        "postings": lines,
        "statements": [vars(statement) for statement in entry.statements],
        "content": sealed.content,
        "previous": sealed.previous,
        "hash": sealed.hash,
        "signature": sealed.signature,
    }
