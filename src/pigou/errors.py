"""What can go wrong, as types.

Every error names the argument, the constraint it broke and the value received. All of them
are ``PigouError`` and ``ValueError`` at once, and are raised before any work starts.
"""

import reprlib
from typing import Any

import numpy as np

LONGEST_VALUE = 120


class PigouError(ValueError):
    """Base of every error that pigou raises on purpose."""


class InvalidArgument(PigouError):  # noqa: N818
    """One argument breaks one constraint."""

    def __init__(self, argument: str, constraint: str, received: object) -> None:
        self.argument, self.constraint, self.received = argument, constraint, shown(received)
        super().__init__(f"{argument} {constraint}; received {self.received}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.argument, self.constraint, self.received)


class Degenerate(InvalidArgument):
    """The game has no finite answer: an infinite optimum or an unbounded price."""


class TooFewClients(InvalidArgument):
    """Fewer clients than the rule needs: pricing compares, and zero-sum refunds take three."""


class NotApplicable(InvalidArgument):
    """The mechanism does not cover this setting."""


def require(holds: object, argument: str, constraint: str, received: object) -> None:
    """Raise ``InvalidArgument`` unless ``holds``."""
    if not holds:
        raise InvalidArgument(argument, constraint, received)


class Shown(str):
    """A value as messages show it: one short line, whatever the value was."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def shown(value: object) -> Shown:
    """The value's representation on one line, cut short."""
    brief = reprlib.Repr()
    brief.maxstring = brief.maxother = brief.maxlong = LONGEST_VALUE
    try:
        text = brief.repr(value.item() if isinstance(value, np.generic) else value)
    except ValueError:  # Python writes out no integer of thousands of digits
        text = f"<{type(value).__name__}>"
    text = " ".join(text.split())
    return Shown(text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…")
