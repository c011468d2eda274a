"""The errata as one Markdown page: docs/errata.md is what this writes."""

# ruff: noqa: RUF001
# The page's Greek letters and signs are meant.

from collections.abc import Iterable

from pigou.paper.errata.record import Erratum, Table, shown

INTRODUCTION = """\
# Errata of the paper

The paper is S. Hong and L. Duan, *Regulating Clients' Noise Adding in Federated Learning without
Verification* (arXiv 2302.12735v1). Its main idea, a price on how far an upload is from the
average, works without verification and is what this package builds on. This page lists where its
formulas or claims do not hold, each with numbers. In `pigou.paper` the paper's formulas stay as
they are printed, so that its results can be reproduced; the rest of the package uses the repaired
theory (`docs/explanation/theory.md`, whose symbols and numbers E1, E2, … are used here).

Unless said otherwise κ = 16, L = 2, cS = a = 0.5, honest updates have no spread (v = u = 0), and
“half and half” means α = 0.25 for one half of the clients and 0.75 for the other. σ\\* is the
paper's equilibrium without prices, σ\\*\\* what it calls the social optimum, SC the social cost;
costs, charges and q are in one unit. “Weights following” means weights proportional to 1/σ_i² of
the noise that is actually added, “committed” means fixed before the uploads.

Every number is computed by `python -m pigou.paper.errata`, which prints this page; a test compares
the two, and other tests check the same statements with code that shares nothing with it.
"""


def markdown(errata: Iterable[Erratum]) -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION, *(_section(erratum) for erratum in errata)])


def _section(erratum: Erratum) -> str:
    parts = [
        f"## {erratum.number}. {_plain(erratum.title)}",
        f"**Where.** {_plain(erratum.where)}.",
        f"**The paper.** {_plain(erratum.claim)}",
        f"**What is found.** {_plain(erratum.finding)}",
        *(_table(table) for table in erratum.evidence),
        f"**In fairness.** {_plain(erratum.fairness)}",
    ]
    return "\n\n".join(parts) + "\n"


def _table(table: Table) -> str:
    rows = [tuple(_plain(column) for column in table.columns), ("---",) * len(table.columns)]
    rows += [tuple(_plain(shown(cell)) for cell in row) for row in table.rows]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return f"{_plain(table.caption)}:\n\n" + "\n".join(lines)


def _plain(text: str) -> str:
    """Stars are part of the paper's symbols: they must not turn into emphasis."""
    return text.replace("*", "\\*")
