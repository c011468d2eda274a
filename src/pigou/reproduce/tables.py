"""The tables that are collected from all chapters: open parameters, and the verdict on claims."""

from collections.abc import Iterator, Sequence

from pigou.paper.errata.record import Table
from pigou.report import words as said
from pigou.reproduce.part import Chapter, Claim, Parameter, Sheet, Verdict

PLACES = (
    "Section II",
    "Proposition 1",
    "Proposition 2",
    "Proposition 3",
    "Definition 4",
    "Proposition 4",
    "Fig. 1",
    "Lemma 1",
    "Lemma 2",
    "Lemma 3",
    "Proposition 5",
    "Fig. 2",
    "Section V",
)


def claims(chapters: Sequence[Chapter]) -> tuple[Claim, ...]:
    """All claims, in the paper's order."""
    found = [claim for chapter in chapters for claim in chapter.claims]
    return tuple(sorted(found, key=lambda claim: PLACES.index(claim.place)))


def parameters(chapters: Sequence[Chapter]) -> tuple[Parameter, ...]:
    """All open parameters, each once."""
    return tuple(dict.fromkeys(each for chapter in chapters for each in chapter.parameters))


def claims_sheet(found: Sequence[Claim]) -> Sheet:
    """The claims table."""
    columns = ("in the paper", "what it states", "verdict", "what shows it", "held by the tests")
    rows = tuple(
        (each.place, each.statement, each.verdict.value, each.evidence, "\n".join(each.tests))
        for each in found
    )
    return Sheet("claims", Table(counted(found), columns, rows), tuple(range(len(columns))))


def counted(found: Sequence[Claim]) -> str:
    """How many of each verdict."""
    number = {verdict: sum(each.verdict is verdict for each in found) for verdict in Verdict}
    words = [f"{many} {verdict.value}" for verdict, many in number.items()]
    return f"{said.counted(len(found), 'statement')}: {', '.join(words)}"


def parameters_sheet(found: Sequence[Parameter]) -> Sheet:
    """The open parameters."""
    columns = ("", "what it is", "value used", "where the value comes from", "used in")
    rows = tuple((e.symbol, e.meaning, e.value, e.source, e.used_in) for e in found)
    caption = "Quantities that the paper does not state"
    return Sheet("parameters", Table(caption, columns, rows), tuple(range(len(columns))))


def sheets(chapters: Sequence[Chapter]) -> Iterator[Sheet]:
    """Every table of the page, those that are collected included."""
    for chapter in chapters:
        yield from chapter.sheets
    if stated := claims(chapters):
        yield claims_sheet(stated)
    if left_open := parameters(chapters):
        yield parameters_sheet(left_open)
