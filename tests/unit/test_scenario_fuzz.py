"""Thousands of damaged scenario files: each is refused with reasons, or it is a scenario."""

import random
import re
from collections import Counter
from pathlib import Path

import pytest

import pigou.scenario
from pigou.cli import main
from pigou.scenario import InvalidScenario, parse

ROOT = Path(__file__).parents[2]
TEMPLATE = Path(pigou.scenario.__file__).parent / "template.toml"
TEXTS = [path.read_text() for path in (TEMPLATE, *sorted((ROOT / "examples").glob("*.toml")))]
FILES = 5000
LEAST = 50  # times that each reason must have been seen

VALUES = [
    "1", "-1", "0", "0.5", "1e400", "nan", "-inf", "true", '"x"', '""', "[]", "[1, 2]", "[[1]]",
    "{}", "{a = 1}", "1979-05-27", '"mean"', '"uniform"', "1e20", '"copycat"',
]  # fmt: skip
LINES = [
    "[[client]]", "[population]", "[[group]]", "[training]", "surprise = 1", "conduct = 'ring'",
    "options = { rate = 2 }", "kind = 'beta'", "samples = 5", "kappa = 1", "[audit]", "= 3",
]  # fmt: skip
TABLES = ["population", "group", "client", "training", "limits", "audit", "mechanism"]
REASONS = {
    "not TOML": "is not valid TOML",
    "missing": "must be given|must not both be given or absent|must hold either",
    "unknown key": "is not a known key|is no option of",
    "no number": "must be (a|a finite) number",
    "no whole number": "must be a (valid )?(whole number|integer)",
    "no text": "must be a string|must not be empty",
    "no list or table": "must be a (list|table)",
    "out of range": "must be (greater|less) than|must lie|must not be negative|must not exceed",
    "no such choice": "must be (one of|'|\"|True|a valid boolean)",
}


def damaged(text: str, rng: random.Random) -> str:
    """The text with lines dropped, doubled, put in, or given another value."""
    lines = text.splitlines()
    for _ in range(rng.randint(1, 3)):
        k = rng.randrange(len(lines))
        entries = [i for i, line in enumerate(lines) if re.match(r"\w+ *=", line)]
        match rng.randrange(6):
            case 0:
                del lines[k]
            case 1:
                lines.insert(rng.randrange(len(lines)), lines[k])
            case 2:
                lines.insert(k, rng.choice(LINES))
            case 3:
                cut = rng.randrange(len(lines[k]) + 1)
                lines[k] = lines[k][:cut] + rng.choice(["", '"', "]", "\x00", "=", "é"])
            case 4:
                lines.insert(0, f"{rng.choice(TABLES)} = 3")
            case _ if entries:
                at = rng.choice(entries)
                lines[at] = lines[at].split("=")[0] + "= " + rng.choice(VALUES)
    return "\n".join(lines)


def reasons(problem: str) -> list[str]:
    return [name for name, words in REASONS.items() if re.search(words, problem)]


@pytest.mark.long
def test_thousands_of_damaged_files() -> None:
    rng = random.Random(1)
    seen: Counter[str] = Counter()
    refused = 0
    for _ in range(FILES):
        try:
            scenario = parse(damaged(rng.choice(TEXTS), rng), "run.toml")
        except InvalidScenario as error:
            assert error.problems
            assert str(error).startswith("run.toml: ")
            seen += Counter(reason for problem in error.problems for reason in reasons(problem))
            refused += 1
            continue
        assert scenario.types().size == scenario.weights.size == len(scenario.clients)
        assert scenario.conducts()
    assert refused > FILES / 2
    assert set(seen) == set(REASONS)
    assert min(seen.values()) >= LEAST, seen


@pytest.mark.long
def test_what_is_refused_is_told_on_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng, path = random.Random(2), tmp_path / "run.toml"
    for _ in range(40):
        path.write_text(damaged(rng.choice(TEXTS), rng), encoding="utf-8")
        status = main(["scenario", "check", str(path)])
        said = capsys.readouterr()
        assert status in (0, 2)
        assert "Traceback" not in said.err
        assert (status == 2) == said.err.startswith("pigou: ")
