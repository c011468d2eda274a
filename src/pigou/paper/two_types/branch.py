"""Points that are reached by continuation, and what there is to say where they are not."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from pigou.checks import FloatArray
from pigou.errors import Degenerate, Shown
from pigou.paper.two_types.pair import PerType
from pigou.paper.two_types.system import Root, System, newton

LONGEST_MOVE = 0.25  # of log(sigma) between two points of the path
SHORTEST_STEP = 1e-7  # of the path's parameter: the branch ends before the next step


class Outcome(Enum):
    """Whether there is such a point; the values are the messages."""

    FOUND = "found"
    LOST = "the branch from the solution for known types ends, or runs off to infinity, on the way"
    UNLIMITED = "clients of alpha_high = 1 add noise without limit: no equilibrium"


class NoBranch(Degenerate):
    """A number was asked for of a point that does not exist."""


@dataclass(frozen=True)
class Point:
    """A pair of noise levels, or why there is none."""

    what: str
    outcome: Outcome
    sigma: PerType | None = None
    reached: float = 1.0  # how far along the path, 1 is all of it

    def __str__(self) -> str:
        if self.outcome is Outcome.LOST:
            return f"{self.what}: {self.outcome.value} (at {self.reached:.9g} of it)"
        return f"{self.what}: {self.outcome.value}"

    def required(self) -> PerType:
        """The noise levels; ``NoBranch`` where there are none."""
        if self.sigma is None:
            raise NoBranch(self.what, "must exist", Shown(f"none: {self.outcome.value}"))
        return self.sigma


def follow(what: str, at: Callable[[float], System], start: FloatArray) -> Point:
    """From the known solution of ``at(0)`` to that of ``at(1)``, without changing branch.

    Two branches that meet in a fold have determinants of opposite sign, so that a step which
    keeps the sign cannot have jumped across one.
    """
    root = newton(at(0.0), start, LONGEST_MOVE)
    if root is None:
        return Point(what, Outcome.LOST, reached=0.0)
    done, step = 0.0, 1.0
    while done < 1.0:
        target = min(1.0, done + step)
        found = newton(at(target), root.log_sigma, LONGEST_MOVE)
        if found is not None and found.determinant * root.determinant > 0:
            root, done, step = found, target, 2.0 * step
        elif (step := (target - done) / 2.0) < SHORTEST_STEP:
            return Point(what, Outcome.LOST, reached=done)
    return Point(what, Outcome.FOUND, per_type(root))


def settled(what: str, system: System, start: FloatArray) -> Point:
    """The one solution of a system with mean weights (section 2)."""
    root = newton(system, start)
    if root is None:
        raise Degenerate(what, "must be within the range of floating point", start)
    return Point(what, Outcome.FOUND, per_type(root))


def per_type(root: Root) -> PerType:
    """Noise levels from their logarithms."""
    return PerType(math.exp(root.log_sigma[0]), math.exp(root.log_sigma[1]))
