"""What a command will write: contents with the rights they need, decided before any is written."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

SECRET: Final = 0o600
PUBLIC: Final = 0o644
PROGRAM: Final = 0o755


@dataclass(frozen=True)
class File:
    """One file: its bytes, and who may do what with it."""

    content: bytes
    mode: int = PUBLIC


Files = Mapping[str, File]  # by path below the folder that is written


def text(content: str) -> File:
    """A text that anybody may read."""
    return File(content.encode())


def secret(content: bytes) -> File:
    """A file for its owner alone."""
    return File(content, SECRET)


def program(content: str) -> File:
    """A script that its owner starts."""
    return File(content.encode(), PROGRAM)


def below(folder: str, files: Files) -> Files:
    """The same files in a folder further down."""
    return {f"{folder}/{path}": file for path, file in files.items()}
