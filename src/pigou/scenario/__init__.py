"""A run, described in TOML and validated completely before anything starts."""

from pigou.scenario.problems import InvalidScenario
from pigou.scenario.reading import load, parse
from pigou.scenario.registry import MECHANISMS, mechanism_named
from pigou.scenario.schema import Scenario
from pigou.scenario.writing import to_plain, to_toml

__all__ = [
    "MECHANISMS",
    "InvalidScenario",
    "Scenario",
    "load",
    "mechanism_named",
    "parse",
    "to_plain",
    "to_toml",
]
