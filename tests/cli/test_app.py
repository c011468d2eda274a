"""The program as a whole: help, version, and the installed script in a process of its own."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.cli.conftest import HOSPITALS, Run

from pigou.cli.app import app

SCRIPT = Path(sys.executable).parent / "pigou"


def words_of(command: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every command of the program below this one, as the words that call it."""
    inner = getattr(command, "commands", {})
    below = [words for name, sub in inner.items() for words in words_of(sub, (*path, name))]
    return below or [path]


COMMANDS = words_of(typer.main.get_command(app))


def script(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SCRIPT, *words], capture_output=True, text=True, check=False)


def test_there_are_commands() -> None:
    assert {("solve",), ("certify",), ("anarchy",)} <= set(COMMANDS)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_explains_itself_with_examples(run: Run, words: tuple[str, ...]) -> None:
    result = run(*words, "--help")
    assert (result.status, result.err) == (0, "")
    assert "Examples:" in result.out
    assert f"pigou {' '.join(words)} " in result.out


@pytest.mark.parametrize("words", [(), ("--help",)])
def test_help(run: Run, words: tuple[str, ...]) -> None:
    result = run(*words)
    assert (result.status, result.err) == (0, "")
    assert all(path[0] in result.out for path in COMMANDS)


def test_version(run: Run) -> None:
    result = run("--version")
    assert (result.status, result.out) == (0, f"pigou {version('pigou')}\n")


def test_the_script_answers() -> None:
    done = script("solve", HOSPITALS)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Three hospitals · mechanism: pigouvian\n")


@pytest.mark.parametrize("words", [("solve", "absent.toml"), ("solve", "--colour"), ("nothing",)])
def test_the_script_refuses_in_one_line(words: tuple[str, ...]) -> None:
    done = script(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("pigou: ")
    assert done.stderr.count("\n") == 1


def test_a_reader_that_goes_away_leaves_no_traceback() -> None:
    with subprocess.Popen(
        [SCRIPT, "solve", HOSPITALS, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
