"""docs/reference/python.md names what the public modules of the economics hold, and no more."""

import inspect
import re
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "python.md"
SECTION = re.compile(r"^(##|###) `([\w.]+)`\n(.*?)(?=^##|\Z)", re.DOTALL | re.MULTILINE)
NAME = re.compile(r"`(\w+)[^`]*`")
ELSEWHERE = {"pigou.terms": {"SignedHead", "SignedStatement", "Posted"}}  # of the ledger


def named(text: str) -> set[str]:
    """The names in the first column of a section's tables."""
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in NAME.findall(row.split(" | ")[0])}


def sections() -> list[tuple[str, str, set[str]]]:
    """Module, class or nothing, and names."""
    found, module = [], ""
    for level, title, text in SECTION.findall(PAGE.read_text(encoding="utf-8")):
        module = title if level == "##" else module
        found.append((module, title if level == "###" else "", named(text)))
    return found


def public(module: ModuleType) -> set[str]:
    """What a module offers: its ``__all__``, or the classes and functions that it defines."""
    if listed := getattr(module, "__all__", None):
        return set(listed)
    own = [
        name
        for name, value in vars(module).items()
        if (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == module.__name__
    ]
    return {name for name in own if not name.startswith("_")}


def attributes(of: Any) -> set[str]:
    """Fields, properties and methods of a class that are its users' to use."""
    names = {name for base in of.__mro__[:-1] for name in vars(base)} - {"mro"}
    names |= {field.name for field in fields(of)} if is_dataclass(of) else set()
    return {name for name in names if not name.startswith("_")}


MODULES = [(module, names) for module, inside, names in sections() if not inside]
CLASSES = [(module, inside, names) for module, inside, names in sections() if inside]


def test_the_page_is_read() -> None:
    assert {"pigou", "pigou.mechanisms", "pigou.population"} <= {module for module, _ in MODULES}
    assert {"Setting", "Certificate", "Terms"} <= {inside for _, inside, _ in CLASSES}


@pytest.mark.parametrize(("module", "names"), MODULES, ids=[module for module, _ in MODULES])
def test_every_public_name_is_there(module: str, names: set[str]) -> None:
    assert names == public(import_module(module)) - ELSEWHERE.get(module, set())


@pytest.mark.parametrize(("module", "of", "names"), CLASSES, ids=[of for _, of, _ in CLASSES])
def test_every_attribute_is_there(module: str, of: str, names: set[str]) -> None:
    assert names <= attributes(getattr(import_module(module), of))
    if of != "TwoTypes":  # which has its parts' inner quantities, too
        assert names == attributes(getattr(import_module(module), of))
