"""The tables of docs/explanation/limits.md are what the code prints."""

import re
from pathlib import Path

import pytest

from pigou.federation.attacks.tables import tables

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "limits.md"
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
ROUNDING = 0.01  # relative: what float32 sums in another order may move an attack's outcome by


def shown_tables() -> list[str]:
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE)


def near(shown: str, computed: str) -> bool:
    """Equal but for one unit in the last place that is shown, and rounding."""
    one, other = (float(text.replace(",", "")) for text in (shown, computed))
    unit = 10.0 ** -len(shown.partition(".")[2])
    return abs(one - other) <= 1.01 * unit + ROUNDING * max(abs(one), abs(other))


def same(shown: str, computed: str) -> bool:
    numbers = [NUMBER.findall(text) for text in (shown, computed)]
    if NUMBER.sub("#", shown) != NUMBER.sub("#", computed):
        return False
    return all(near(*pair) for pair in zip(*numbers, strict=True))


@pytest.mark.long
def test_the_tables_are_what_the_code_prints() -> None:
    """If not: python -m pigou.federation.attacks prints them."""
    for shown, computed in zip(shown_tables(), tables(), strict=True):
        for row, again in zip(shown.strip().splitlines(), computed.splitlines(), strict=True):
            assert same(row, again), f"{row}\n{again}"


def test_the_comparison_sees_differences() -> None:
    assert len(shown_tables()) == 5
    row = "| a | 12.3 | -1,204 ± 3 |"
    assert same(row, "| a | 12.4 | -1,205 ± 3 |")
    for other in (
        "| b | 12.3 | -1,204 ± 3 |",
        "| a | 12.7 | -1,204 ± 3 |",
        "| a | 12.3 | 1,204 ± 3 |",
        "| a | 12.3 | -1,204 ± 5 |",
    ):
        assert not same(row, other)
