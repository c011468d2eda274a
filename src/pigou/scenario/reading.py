"""From TOML to a scenario: everything that is wrong is found and told before anything starts."""

import tomllib
from os import PathLike
from pathlib import Path

from pydantic import ValidationError

from pigou.scenario.problems import InvalidScenario, problems_of
from pigou.scenario.schema import Scenario


def load(path: str | PathLike[str]) -> Scenario:
    """The scenario of a TOML file."""
    source = str(path)
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidScenario(source, [f"cannot be read: {error.strerror or error}"]) from error
    except ValueError as error:  # not UTF-8, or a path that no file can have
        raise InvalidScenario(source, [f"cannot be read: {error}"]) from error
    return parse(text, source)


def parse(text: str, source: str = "scenario") -> Scenario:
    """The scenario of a TOML text; ``source`` names it in errors."""
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidScenario(source, [f"is not valid TOML: {error}"]) from error
    try:
        return Scenario.model_validate(tables)
    except ValidationError as error:
        raise InvalidScenario(source, problems_of(error, Scenario)) from error
