"""Signed statements and heads as JSON files, and arrays from .npz files: what clients keep."""

import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from pigou.ledger.errors import UnreadableDocument
from pigou.terms import SignedHead, SignedStatement, Statement

# What a damaged .npz archive may raise: it may also seem compressed otherwise, or encrypted.
UNREADABLE = (
    OSError,
    ValueError,
    EOFError,
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,
    RuntimeError,
)

Document = TypeVar("Document", Statement, SignedHead)


def to_plain(signed: SignedStatement) -> dict[str, Any]:
    """A signed statement as JSON has it."""
    head, statement = vars(signed.head), vars(signed.statement)
    return {"statement": {**statement}, "path": list(signed.path), "head": {**head}}


def write_statement(path: Path, signed: SignedStatement) -> None:
    """One signed statement in a file of its own."""
    path.write_text(json.dumps(to_plain(signed), indent=2) + "\n", encoding="utf-8")


def read_statement(path: Path) -> SignedStatement:
    """The signed statement of a file."""
    plain = _read(path)
    steps = plain.get("path")
    if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
        raise UnreadableDocument(f"{path} is not a signed statement: it has no path")
    statement = _made(path, Statement, plain.get("statement"))
    return SignedStatement(statement, tuple(steps), _made(path, SignedHead, plain.get("head")))


def read_head(path: Path) -> SignedHead:
    """The signed head of a file: of a head alone, or of a signed statement."""
    plain = _read(path)
    return _made(path, SignedHead, plain.get("head", plain))


def read_arrays(path: Path) -> list[NDArray[Any]]:
    """The arrays of an .npz file in their order, or the one of an .npy file."""
    try:
        with path.open("rb") as file:
            found = np.load(file, allow_pickle=False)
            if isinstance(found, np.ndarray):
                return [found]
            return [found[name] for name in found.files]
    except UNREADABLE as error:
        raise UnreadableDocument(f"{path} holds no arrays that can be read: {error}") from error


def _read(path: Path) -> Mapping[str, Any]:
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableDocument(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UnreadableDocument(f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(plain, dict):
        raise UnreadableDocument(f"{path} must hold a JSON object")
    return plain


def _made(path: Path, kind: type[Document], plain: object) -> Document:
    """The value, if it has every field, each of its type, and no other."""
    name = "signed head" if kind is SignedHead else "statement"
    hints = get_type_hints(kind)
    if not isinstance(plain, dict) or plain.keys() != hints.keys():
        raise UnreadableDocument(f"{path} is not a {name}: it must have {', '.join(hints)}")
    for field, hint in hints.items():
        allowed = (int, float) if hint is float else get_args(hint) or (hint,)
        value = plain[field]
        shown = not isinstance(value, str) or value.isprintable()  # it may go to a terminal
        if type(value) not in allowed or not shown:
            raise UnreadableDocument(f"{path} is not a {name}: {field} is {value!r:.60}")
    floats = {field: float(plain[field]) for field, hint in hints.items() if hint is float}
    return kind(**{**plain, **floats})
