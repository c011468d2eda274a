"""What a reproduction is made of: parts, each of which makes one chapter of the page.

A part is a function: asked with a ``Request`` it computes, reports how far it is, and returns a
``Chapter`` of values. It draws nothing, writes nothing and prints nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import numpy as np

from pigou.federation.randomness import stream
from pigou.paper.errata.record import Table
from pigou.reproduce.chart import Chart


@dataclass(frozen=True)
class Progress:
    """How far a part is."""

    part: str
    done: int
    total: int
    facts: str = ""  # a few words beside the bar


Watch = Callable[[Progress], None]


def unwatched(_: Progress) -> None:
    """Nobody looks."""


@dataclass(frozen=True)
class Request:
    """What was asked of a part."""

    quick: bool = False  # few draws, the digits data set: seconds for a part
    seed: int = 0
    data: Path | None = None  # the folder of data sets; None: where ``data_folder`` says
    watch: Watch = unwatched

    def generator(self, purpose: str) -> np.random.Generator:
        """Random numbers that depend on the seed and the purpose alone."""
        return stream(self.seed, f"reproduce {purpose}")


@dataclass(frozen=True)
class Parameter:
    """A quantity that the paper leaves open, and what it was set to."""

    symbol: str
    meaning: str
    value: str
    source: str  # where the value comes from
    used_in: str


class Verdict(Enum):
    """What became of a statement of the paper."""

    REPRODUCED = "reproduced"
    CORRECTED = "reproduced with correction"
    NOT = "not reproduced"


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, the verdict, computed evidence, and the tests that hold it."""

    place: str  # one of ``tables.PLACES``
    statement: str
    verdict: Verdict
    evidence: str  # a sentence with the numbers; computed, never typed in
    tests: tuple[str, ...]  # "tests/theorems/test_x.py::test_y"


@dataclass(frozen=True)
class Sheet:
    """A table with a name for its file; all columns hold numbers but those in ``words``."""

    name: str
    table: Table
    words: tuple[int, ...] = (0,)


@dataclass(frozen=True)
class Heading:
    """A heading within a chapter."""

    text: str


Item = str | Heading | Chart | Sheet  # a paragraph, a heading, a picture, a table


@dataclass(frozen=True, eq=False)
class Chapter:
    """What a part found: read from top to bottom, under one heading.

    One without content has no heading either: it adds claims or parameters to the page's tables.
    """

    name: str
    title: str
    content: tuple[Item, ...]
    summary: str = ""  # a sentence with the chapter's main numbers, for the head of the page
    parameters: tuple[Parameter, ...] = ()  # collected in one table of the page
    claims: tuple[Claim, ...] = ()  # collected in the claims table

    @property
    def charts(self) -> tuple[Chart, ...]:
        """The pictures."""
        return tuple(item for item in self.content if isinstance(item, Chart))

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        """The tables."""
        return tuple(item for item in self.content if isinstance(item, Sheet))


def ready(_: Request) -> None:
    """Nothing is needed beforehand."""


@dataclass(frozen=True)
class Part:
    """One part of the reproduction, as ``parts.PARTS`` lists it."""

    name: str
    make: Callable[[Request], Chapter]
    check: Callable[[Request], None] = ready  # raises a PigouError before any part starts
