"""Folders and files that commands write: what the system refuses is one line, not a traceback."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

from pigou.errors import PigouError, require

if TYPE_CHECKING:
    from pigou.deployment import Files


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Whatever is written there meanwhile."""
    try:
        yield
    except OSError as error:
        raise PigouError(f"{path}: cannot be written: {error.strerror or error}") from error


def made(folder: Path) -> Path:
    """The folder, with those above it."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def written(path: Path, text: str) -> None:
    """A new text file, or another text in an old one, which stays as it was if there is no room."""
    part = path.with_name(path.name + ".part")
    with writing(path):
        try:
            part.write_text(text, encoding="utf-8")
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def require_empty(option: str, folder: Path) -> None:
    """Nothing that is there is ever overwritten."""
    require(_is_empty(folder), option, "must be an empty or a new folder", str(folder))


def free(folder: Path) -> Path:
    """The folder itself, or the first of NAME-2, NAME-3, … that is empty or not there yet."""
    found, k = folder, 1
    while not _is_empty(found):
        k += 1
        found = folder.with_name(f"{folder.name}-{k}")
    return found


def _is_empty(folder: Path) -> bool:
    with writing(folder):
        return not folder.exists() or not any(folder.iterdir())


def placed(folder: Path, files: "Files") -> None:
    """A new folder with these files, each with its rights from its first byte on; all or nothing.

    The folder is its owner's alone. It may be there already, if it is empty.
    """
    made(folder.parent)
    with writing(folder):
        part = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
        try:
            for path, file in files.items():
                place = part / path
                place.parent.mkdir(parents=True, exist_ok=True)
                handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, file.mode)
                with os.fdopen(handle, "wb") as opened:
                    os.fchmod(handle, file.mode)  # whatever the umask says
                    opened.write(file.content)
            part.rename(folder)  # over an empty folder; refused over any other
        except BaseException:
            rmtree(part)
            raise
