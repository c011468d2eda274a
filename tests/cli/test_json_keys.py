"""docs/reference/commands.md names every key that the commands print as JSON, and no other."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import HOSPITALS, Run

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "commands.md").read_text()
FIVE = ("--alpha", "0.25,0.75,0.25,0.75,0.75")
TEN = ("--alpha", ",".join(["0.25", "0.75", "0.75"] * 3 + ["0.75"]))
PAIR = ("--population", "two-point:0.25,0.75,0.3")
CALLS: dict[str, list[tuple[str, ...]]] = {
    "solve": [(HOSPITALS,), (*FIVE, "--mechanism", "groves")],
    "certify": [(HOSPITALS, "--mechanism", "groves"), (*FIVE, "--mechanism", "menu", *PAIR)],
    "compare": [(HOSPITALS,), (*TEN, *PAIR)],
    "anarchy": [("--n", "10,100")],
    "quote": [(HOSPITALS, "--client", "Riverside")],
    "calibrate": [(HOSPITALS,)],
}


def documented(command: str) -> set[str]:
    """The keys in the first column of the table that follows the command's name."""
    head = "Its JSON:" if command == "anarchy" else f"\n`{command}`:"
    table = PAGE.split(head)[1].split("\n\n")[1]
    return {re.findall(r"`([^`]+)`", row.split("|")[1])[0] for row in table.splitlines()[2:]}


def paths(value: Any, at: str = "") -> set[str]:
    """The way to every value that is neither an object nor a list."""
    if isinstance(value, dict):
        return {path for key, item in value.items() for path in paths(item, f"{at}.{key}")}
    if isinstance(value, list):
        return {path for item in value for path in paths(item, f"{at}[]")}
    return {at.removeprefix(".")}


@pytest.mark.parametrize("command", CALLS)
def test_every_key_is_documented_and_every_documented_key_printed(run: Run, command: str) -> None:
    printed: set[str] = set()
    for words in CALLS[command]:
        result = run(command, *words, "--json")
        assert (result.status, result.err) == (0, "")
        printed |= paths(json.loads(result.out))
    plain = {path.removesuffix("[]") for path in documented(command)}
    assert {path.removesuffix("[]") for path in printed} == plain
