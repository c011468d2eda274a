"""The numbers of docs/explanation/audit.md are those of the code."""

from pathlib import Path

import pytest

from pigou.federation.audit import detection_power, flag_chance

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "audit.md"
CLIENTS, ROUNDS, RATE = 100, 30, 0.01


def rows(after: str) -> list[list[str]]:
    """The body of the first table after a line that starts so; its head first."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(after))
    table = []
    for line in lines[start:]:
        if line.startswith("|"):
            table.append([cell.strip() for cell in line.strip("|").split("|")])
        elif table:
            break
    return [table[0], *table[2:]]


def number(text: str) -> float:
    return float(text.replace(",", "").replace("d = ", ""))


def per_cent(chance: float) -> str:
    return f"{100 * chance:.1f}" if chance >= 0.0005 else "0"


def test_the_table_of_the_power() -> None:
    head, *body = rows("## How soon a client without noise is found")
    assert len(body) == 5
    for size, *cells in body:
        powers = [
            detection_power(int(number(size)), CLIENTS, RATE, number(excess), ROUNDS)
            for excess in head[1:]
        ]
        assert cells == [per_cent(power) for power in powers]


def test_the_table_of_misstated_spreads() -> None:
    head, *body = rows("**Spread and divergence must be right.**")
    assert len(body) == 10
    for true, said, *cells in body:
        chances = [alarm(int(number(size)), float(true), float(said)) for size in head[2:]]
        assert cells == [per_cent(chance) for chance in chances]


def alarm(size: int, true: float, said: float) -> float:
    """Of one honest client with noise 1, where the others' spread is misstated alike."""
    background = [(1 + spread) / (CLIENTS - 1) for spread in (true, said)]
    seen = 1 + true + background[0]
    quiet = seen / (1 + said + min(background))
    loud = seen / (1 + said + max(background))
    chances = [flag_chance(size, CLIENTS, RATE, ratio, ROUNDS) for ratio in (quiet, loud)]
    return chances[0][0] + chances[1][1]


@pytest.mark.parametrize(("size", "told"), [(785, 0.05), (2_000_000, 0.001)])
def test_what_adds_up_over_rounds(size: int, told: float) -> None:
    """A misstatement of the size that the page names is found in the sum over all rounds."""
    found = flag_chance(size * ROUNDS, CLIENTS, RATE, 1 + 1.2 * told, ROUNDS)[1]
    passed = flag_chance(size * ROUNDS, CLIENTS, RATE, 1 + 0.5 * told, ROUNDS)[1]
    assert found > 0.5
    assert passed < 0.05
