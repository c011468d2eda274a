"""Running commands inside the test's process, as the installed program would."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from pigou.cli import main

HOSPITALS = str(Path(__file__).parents[2] / "examples" / "three_hospitals.toml")


@dataclass(frozen=True)
class Result:
    """What a command left behind."""

    status: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run one command: its words, as the shell would split them."""

    def command(*words: str) -> Result:
        capsys.readouterr()
        status = main(words)
        printed = capsys.readouterr()
        return Result(status, printed.out, printed.err)

    return command
