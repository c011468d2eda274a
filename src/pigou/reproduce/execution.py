"""Making the parts that were asked for."""

from collections.abc import Iterable, Sequence

from pigou.errors import require
from pigou.reproduce.part import Chapter, Part, Request
from pigou.reproduce.parts import GROUPS, PARTS


def asked_for(names: Iterable[str]) -> tuple[Part, ...]:
    """The parts behind these names, in the order of the page, each once."""
    known = {part.name: (part.name,) for part in PARTS} | dict(GROUPS)
    wanted: set[str] = set()
    for name in names:
        require(name in known, "what", f"must be one of {', '.join(known)}", name)
        wanted |= set(known[name])
    return tuple(part for part in PARTS if part.name in wanted)


def make(parts: Sequence[Part], request: Request) -> tuple[Chapter, ...]:
    """Their chapters; what any of them needs is checked before the first one starts."""
    for part in parts:
        part.check(request)
    return tuple(part.make(request) for part in parts)
