"""A run's report: one HTML file that holds everything."""

from pathlib import Path

from pigou.errors import PigouError
from pigou.report.document import document
from pigou.report.markup import Html, joined
from pigou.report.sections import SECTIONS
from pigou.report.words import counted
from pigou.runs import RunRecord


def write(record: RunRecord, path: Path) -> None:
    """Write the report of a run to this file."""
    try:
        path.write_text(page(record), encoding="utf-8")
    except OSError as error:
        raise PigouError(f"{path}: cannot be written: {error.strerror or error}") from error


def page(record: RunRecord) -> str:
    """The whole document."""
    title = str(record.scenario.get("name") or record.run)
    return document(title, _subtitle(record), [make(record) for make in SECTIONS])


def _subtitle(record: RunRecord) -> Html:
    who = counted(len(record.clients), "client")
    return joined(
        [
            f"{who} trained one model together, in rounds, and each added noise to what it "
            "uploaded to protect its own data. This page shows what the noise did to the model, "
            "to everybody's privacy and to the bills, and what putting a price on it changed."
        ]
    )
