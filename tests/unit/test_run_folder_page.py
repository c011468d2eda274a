"""docs/reference/run-folder.md names every file, column and key of a run's folder, and no other."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import HOSPITALS

from pigou.cli import main
from pigou.federation.audit import Flag

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "run-folder.md").read_text("utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run") / "out"
    assert main(["run", HOSPITALS, "--out", str(out)]) == 0
    return out


def first_column(part: str) -> list[str]:
    """What stands in back quotes in the first column of the part's first table."""
    text = PAGE.split(f"## {part}\n")[1] if part else PAGE
    rows = re.split(r"\n\n", text[text.index("\n|---") :])[0].splitlines()[2:]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])]


def keys(plain: dict[str, Any]) -> set[str]:
    """The keys, and those of every treatment."""
    inner = {f"treatments[].{key}" for each in plain["treatments"] for key in each}
    return (set(plain) - {"treatments"}) | inner


def test_every_file_is_named(folder: Path) -> None:
    files = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    named = first_column("")
    found = {re.sub(r"statements/[^/]+/round-\d+", "statements/CLIENT/round-N", path.as_posix())
             for path in files}  # fmt: skip
    assert found == set(named)


@pytest.mark.parametrize("table", ["rounds.csv", "clients.csv"])
def test_every_column_is_named(folder: Path, table: str) -> None:
    with (folder / table).open(encoding="utf-8", newline="") as file:
        head = next(csv.reader(file))
    assert first_column(f"`{table}`") == head


def test_every_key_is_named(folder: Path) -> None:
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert set(first_column("`summary.json`")) == keys(summary)


def test_every_flag_is_named() -> None:
    assert all(f"`{flag.value}`" in PAGE for flag in Flag)
