"""Every Python block and every ``$ pigou`` command of README and docs, run as printed.

The blocks of a file share one namespace. What a command prints, on both streams, must be what the
page shows; ``...`` there stands for anything. A refusal (``pigou: …``) must come with status 2,
everything else with status 0.
"""

import doctest
import re
import shlex
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pigou.cli import main

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


class Block(NamedTuple):
    """A fenced block, and the line of the page on which its text starts."""

    language: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(found[1], found[2], text[: found.start(2)].count("\n") + 1)
        for found in BLOCK.finditer(text)
    ]


def commands(text: str) -> list[tuple[str, str]]:
    """Each ``$ pigou …`` line, and the output shown below it; other commands are left out."""
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    pairs = [part.partition("\n") for part in parts]
    return [(command, shown) for command, _, shown in pairs if command.startswith("pigou")]


def same(shown: str, printed: str) -> bool:
    wanted, got = (
        "\n".join(line.rstrip() for line in text.strip("\n").splitlines()) + "\n"
        for text in (shown, printed)
    )
    return doctest.OutputChecker().check_output(wanted, got, doctest.ELLIPSIS)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a reader would stand, with nothing in it but the examples."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


WITH_BLOCKS = [page for page in PAGES if blocks(page)]


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=lambda page: str(page.relative_to(ROOT)))
@pytest.mark.usefixtures("folder")
def test_page(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.language == "python":
            padded = "\n" * (block.line - 1) + block.text  # so that a failure names the page's line
            exec(compile(padded, str(page), "exec"), names)
            continue
        for command, shown in commands(block.text):
            capsys.readouterr()
            status = main(shlex.split(command)[1:])
            printed = "".join(capsys.readouterr())
            assert same(shown, printed), f"{page.name}: $ {command}\n{printed}"
            assert status == (2 if shown.startswith("pigou:") else 0), command


def test_the_readme_and_the_tutorial_have_examples() -> None:
    names = {page.name for page in WITH_BLOCKS if any(b.language == "python" for b in blocks(page))}
    assert "README.md" in names
    assert any(page.parent.name == "tutorial" for page in WITH_BLOCKS)


def test_the_readers_can_fail(tmp_path: Path) -> None:
    """The extraction finds blocks and commands, and the comparison sees a difference."""
    page = tmp_path / "page.md"
    page.write_text("a\n```python\nx = 1\n```\n```console\n$ pigou --version\npigou 9\n$ ls\n```\n")
    python, console = blocks(page)
    assert python == Block("python", "x = 1\n", 3)
    assert commands(console.text) == [("pigou --version", "pigou 9\n")]
    assert same("pigou ...", "pigou 0.1.0\n")
    assert same("a\nb  \n", "a  \nb\n\n")
    assert not same("pigou 9", "pigou 0.1.0\n")
    assert not same("", "pigou 0.1.0\n")
