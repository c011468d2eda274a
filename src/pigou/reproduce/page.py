"""The page that a person reads from top to bottom."""

from collections.abc import Sequence

from pigou.paper.errata.record import shown
from pigou.report.document import document
from pigou.report.markup import (
    Html,
    bullets,
    chart,
    element,
    folded,
    joined,
    link,
    paragraph,
    table,
    text,
)
from pigou.report.section import Section
from pigou.reproduce import drawing, tables
from pigou.reproduce.chart import Chart
from pigou.reproduce.part import Chapter, Claim, Heading, Item, Request, Sheet

TITLE = "Regulating clients' noise without verification: the paper, reproduced"
SUBTITLE = (
    "S. Hong and L. Duan, “Regulating Clients' Noise Adding in Federated Learning without "
    "Verification” (arXiv 2302.12735v1): every figure, claim and erratum, computed by pigou from "
    "the formulas and from training, with this project's mechanisms beside the paper's. Beside "
    "this page are a CSV and a picture per chart, and a CSV per table."
)
FULL = "This is the full version; random draws start from seed {seed}."
QUICK = (
    "This is the quick version: few draws, and the small data set of digits where models are "
    "trained. The full version takes longer and says more. Random draws start from seed {seed}."
)


def page(chapters: Sequence[Chapter], request: Request) -> str:
    """The whole document."""
    version = (QUICK if request.quick else FULL).format(seed=request.seed)
    sections = [
        *_summary(chapters),
        *_claims(chapters),
        *(_section(each) for each in chapters if each.content),
        *_parameters(chapters),
    ]
    return document(TITLE, joined([SUBTITLE, version], " "), sections)


def _summary(chapters: Sequence[Chapter]) -> list[Section]:
    """A sentence per chapter, with a link to it."""
    said = [each for each in chapters if each.summary]
    if not said:
        return []
    lines = [joined([link(each.name, each.title), ". ", each.summary]) for each in said]
    return [Section.of("summary", "In short", bullets(lines))]


def _claims(chapters: Sequence[Chapter]) -> list[Section]:
    stated = tables.claims(chapters)
    if not stated:
        return []
    intro = paragraph(
        f"{tables.counted(stated)}. “With correction” means that the statement holds once a "
        "slip is repaired or a condition is added; the evidence says which. E1, E2, … are the "
        "numbers of the errata."
    )
    rows = [(each.place, each.statement, each.verdict.value, _evidence(each)) for each in stated]
    headers = ("in the paper", "what it states", "verdict", "what shows it")
    drawn = _wide(table(headers, rows, tuple(range(len(headers)))))
    return [Section.of("claims", "The paper's statements, one by one", intro, drawn)]


def _evidence(claim: Claim) -> Html:
    tests = bullets(element("code", test) for test in claim.tests)
    return joined([claim.evidence, folded("held by the tests", tests)])


def _section(chapter: Chapter) -> Section:
    return Section.of(chapter.name, chapter.title, *map(_shown, chapter.content))


def _parameters(chapters: Sequence[Chapter]) -> list[Section]:
    left_open = tables.parameters(chapters)
    if not left_open:
        return []
    sheet = _table(tables.parameters_sheet(left_open))
    return [Section.of("parameters", "What the paper leaves open", sheet)]


def _shown(item: Item) -> Html:
    if isinstance(item, Chart):
        title = element("h3", item.title)
        drawn = chart(item.name, drawing.figure(item), drawing.caption(item))
        return joined([title, drawn])
    if isinstance(item, Sheet):
        return joined([paragraph(element("strong", item.table.caption)), _table(item)])
    if isinstance(item, Heading):
        return element("h3", item.text)
    return paragraph(item)


def _table(sheet: Sheet) -> Html:
    rows = [[_cell(cell) for cell in row] for row in sheet.table.rows]
    return _wide(table(sheet.table.columns, rows, sheet.words))


def _wide(content: Html) -> Html:
    return element("div", content, class_="wide")


def _cell(cell: str | int | float) -> Html:
    """Lines of a cell stay lines."""
    return joined([text(line) for line in shown(cell).split("\n")], element("br"))
