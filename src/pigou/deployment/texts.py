"""The texts that go into a deployment's folders, with their places filled in."""

from importlib.resources import files
from string import Template

TEXTS = files("pigou.deployment") / "texts"


def filled(file: str, /, **values: str) -> str:
    """A text with every $place filled; a place without a value is an error."""
    quiet = (TEXTS / "quiet.sh").read_text(encoding="utf-8").rstrip()
    template = (TEXTS / file).read_text(encoding="utf-8")
    return Template(template).substitute(quiet=quiet, **values)
