"""A run, described in TOML and validated completely before anything starts."""

from pigou.scenario.problems import InvalidScenario
from pigou.scenario.reading import load, parse
from pigou.scenario.registry import MECHANISMS, Details, Kind, kind_named
from pigou.scenario.schema import Scenario
from pigou.scenario.writing import to_plain, to_toml

__all__ = [
    "MECHANISMS",
    "Details",
    "InvalidScenario",
    "Kind",
    "Scenario",
    "kind_named",
    "load",
    "parse",
    "to_plain",
    "to_toml",
]
