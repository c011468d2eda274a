"""The scenario as it was resolved: every value that the run used."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pigou.report.markup import Html, element, facts, folded, joined, paragraph
from pigou.report.section import Section
from pigou.runs import RunRecord

MOST: Final = 24  # items of a list, and tables of a kind, that are written out


def scenario(record: RunRecord) -> Section:
    """Its values, table by table, closed until clicked."""
    title = "The scenario as resolved"
    if not record.scenario:
        return Section.of("scenario", title, paragraph("The record holds none."))
    intro = "Every value that the run used: defaults and measurements are filled in."
    return Section.of(
        "scenario",
        title,
        paragraph(intro),
        folded("Show it", *_parts(record.scenario)),
    )


def _parts(table: Mapping[str, Any]) -> list[Html]:
    plain = {key: value for key, value in table.items() if not _tables(value)}
    parts = [facts((key, element("code", _value(value))) for key, value in plain.items())]
    for key, value in table.items():
        inner = _tables(value)
        parts += [joined([element("h3", key), *_parts(each)]) for each in inner[:MOST]]
        if len(inner) > MOST:
            parts.append(paragraph(f"… and {len(inner) - MOST:,} more of these."))
    return parts


def _tables(value: Any) -> list[Mapping[str, Any]]:
    """The tables that a value is, or holds."""
    if isinstance(value, Mapping):
        return [value]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [each for each in value if isinstance(each, Mapping)]
    return []


def _value(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        items = ", ".join(str(item) for item in value[:MOST])
        more = f", … ({len(value):,} values)" if len(value) > MOST else ""
        return f"[{items}{more}]"
    return str(value)
