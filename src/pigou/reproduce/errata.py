"""The errata as a chapter: what is wrong in the paper, with the evidence computed anew."""

# ruff: noqa: RUF001
# The page's Greek letters and signs are meant.

from collections.abc import Iterator
from typing import Final

from pigou.paper.errata import ERRATA, evidence
from pigou.paper.errata.record import Cell, Erratum, Table
from pigou.reproduce.part import Chapter, Heading, Item, Part, Progress, Request, Sheet

NAME: Final = "errata"
INTRO: Final = (
    "The paper's main idea, a price on how far an upload is from the average, works without "
    "verification and is what this project builds on. Here is where its formulas or claims do not "
    "hold, each with numbers, and what speaks for the paper. Unless said otherwise κ = 16, L = 2, "
    "cS = a = 0.5 and honest updates have no spread; “half and half” means α = 0.25 for one half "
    "of the clients and 0.75 for the other."
)


def make(request: Request) -> Chapter:
    """All errata in the order of their numbers."""
    content: list[Item] = [INTRO]
    for k, number in enumerate(ERRATA):
        content += _erratum(evidence(number))
        request.watch(Progress(NAME, k + 1, len(ERRATA), number))
    return Chapter(NAME, "Errata of the paper", tuple(content))


def _erratum(found: Erratum) -> Iterator[Item]:
    yield Heading(f"{found.number}. {found.title}")
    yield f"Where: {found.where}. The paper: {found.claim}"
    yield f"What is found: {found.finding}"
    for k, table in enumerate(found.evidence):
        yield Sheet(f"errata_{found.number}_{k + 1}", table, _words(table))
    yield f"In fairness: {found.fairness}"


def _words(table: Table) -> tuple[int, ...]:
    """The columns that do not hold numbers alone."""
    columns: Iterator[tuple[int, tuple[Cell, ...]]] = enumerate(zip(*table.rows, strict=True))
    return tuple(k for k, cells in columns if any(isinstance(cell, str) for cell in cells))


ERRATA_PART: Final = Part(NAME, make)
