"""Links between the pages of the project lead somewhere, also those to a heading."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *ROOT.glob("*.md"),
    *(page for room in ("docs", "examples", "benchmarks") for page in (ROOT / room).rglob("*.md")),
]
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
TARGET = re.compile(r"\]\(([^)\s]+)\)")
ELSEWHERE = ("https://", "http://", "mailto:")


def prose(page: Path) -> str:
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def links(page: Path) -> list[str]:
    return [to for to in TARGET.findall(prose(page)) if not to.startswith(ELSEWHERE)]


def anchors(page: Path) -> set[str]:
    """What GitHub names the headings: small letters, hyphens for blanks, no other signs."""
    heads = re.findall(r"^#+ (.+?)\s*$", prose(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head).lower().replace(" ", "-") for head in heads}


def broken(page: Path) -> list[str]:
    found = []
    for to in links(page):
        name, _, anchor = to.partition("#")
        there = page.parent / name if name else page
        if not there.exists() or (anchor and anchor not in anchors(there)):
            found.append(to)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_every_page_of_the_docs_is_in_the_index() -> None:
    index = ROOT / "docs" / "index.md"
    listed = {(index.parent / to).resolve() for to in links(index)}
    pages = {page.resolve() for page in index.parent.rglob("*.md")}
    assert pages - listed == {index.resolve()}


def test_what_leads_nowhere_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One, two\n[a](#one-two) [b](#three) [c](page.md#one-two) [d](none.md)\n")
    assert broken(page) == ["#three", "none.md"]
