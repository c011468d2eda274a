"""Whether a test that a claim names is there."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


def exists(test: str) -> bool:
    """``tests/…/test_x.py::test_y`` is a function of that file."""
    file, _, name = test.partition("::")
    path = ROOT / file
    return path.is_file() and name.startswith("test_") and name in _functions(path)


@cache
def _functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
