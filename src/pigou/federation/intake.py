"""What comes in during one round: each upload accepted, or refused with a reason.

An upload must never be able to stop a run: every check here answers with a refusal, and nothing is
asked of a message before its type is known. Uploads come one by one (``offer``) or, from an engine
that holds them in one array, as a block of rows (``offer_block``); a round takes one kind only.
Accepted arrays are kept, not copied: whoever offers them must leave them as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pigou.checks import BoolArray
from pigou.errors import InvalidArgument, shown
from pigou.federation.plan import Plan
from pigou.federation.protocol import Array, Update

LONGEST_NOTE: Final = 200
WIDEST: Final = 8  # bytes of one number: what digests and other machines can take
Shapes = tuple[tuple[int, ...], ...]


class Reason(Enum):
    """Why a message was refused; the values are the words that the record shows."""

    UNKNOWN_CLIENT = "from a client that is not in this run"
    WRONG_RUN = "for another run"
    WRONG_ROUND = "for a round that is not open yet"
    NO_REPORT = "from a client that has not reported"
    LATE = "after the round, or the reports, had closed"
    DUPLICATE = "a second one from the same client"
    WITHDRAWN = "withdrawn by the client"
    NOT_ALLOWED = "of a value that the mechanism does not take"
    NOT_ARRAYS = "not an update, or not of arrays"
    WRONG_SHAPE = "of the wrong number, shape or size of arrays"
    WRONG_DTYPE = "of a type that is not a real number of 64 bits or fewer"
    NOT_FINITE = "with NaN or infinite numbers"
    TOO_LARGE = "with numbers beyond the announced limit"
    NOT_SIGNED = "not signed with the client's own key"
    FAILED = "none: the client's app or its node failed"


@dataclass(frozen=True)
class Refusal:
    """One refused message; round 0 is the time of reports."""

    round: int
    client: str
    reason: Reason
    detail: str = ""

    @classmethod
    def of(cls, round_: int, message: object, reason: Reason, detail: str = "") -> "Refusal":
        """The refusal of a message of any kind, whatever its fields hold."""
        sender = getattr(message, "client", "") if type(message) is Update else ""
        return cls(round_, named(sender), reason, detail[:LONGEST_NOTE])


Objection = tuple[Reason, str]


class Intake:
    """The uploads of one attempt at one round."""

    def __init__(
        self,
        plan: Plan,
        round_: int,
        attempt: int,
        shapes: Shapes,
        eligible: BoolArray,
        largest: float,
    ) -> None:
        self._plan, self._round, self._attempt, self._shapes = plan, round_, attempt, shapes
        self._eligible, self._largest = eligible, largest
        self._index = {client: i for i, client in enumerate(plan.clients)}
        self._uploads: list[tuple[Array, ...] | None] = [None] * len(plan.clients)
        self._withdrawn: set[int] = set()
        self._block: Array | None = None
        self._block_rows: BoolArray | None = None
        self.refusals: list[Refusal] = []

    def offer(self, update: object) -> Refusal | None:
        """Take one upload, or say why not."""
        found = self._objection(update)
        if found is None:
            return None
        refusal = Refusal.of(self._round, update, *found)
        self.refusals.append(refusal)
        return refusal

    def refuse(self, client: str, reason: Reason, detail: str = "") -> None:
        """Record that a client sent nothing that could be offered."""
        self.refusals.append(Refusal(self._round, client, reason, named(detail)))

    def offer_block(self, rows: Array, present: BoolArray) -> None:
        """Take the present rows of an (N, d) array; those that break a rule are refused."""
        n, size = len(self._plan.clients), sum(int(np.prod(s)) for s in self._shapes)
        if self._block is not None or rows.shape != (n, size) or rows.dtype.kind != "f":
            raise InvalidArgument("rows", f"must be one float block of ({n}, {size})", rows.shape)
        largest = np.maximum(rows.max(axis=1), -rows.min(axis=1))
        fine = present & self._eligible & (largest <= self._largest)
        for i in np.flatnonzero(present & ~fine).tolist():
            reason = Reason.TOO_LARGE if np.isfinite(largest[i]) else Reason.NOT_FINITE
            reason = reason if self._eligible[i] else Reason.NO_REPORT
            self.refusals.append(Refusal(self._round, self._plan.clients[i], reason))
        self._block, self._block_rows = rows, fine

    @property
    def arrived(self) -> BoolArray:
        """Whose upload was accepted."""
        if self._block_rows is not None:
            return self._block_rows
        return np.array([upload is not None for upload in self._uploads])

    @property
    def uploads(self) -> Array | Sequence[tuple[Array, ...] | None]:
        """The accepted uploads, in the order of the plan's clients."""
        return self._uploads if self._block is None else self._block

    def upload_of(self, client: int) -> tuple[Array, ...]:
        """One accepted upload, by layers."""
        if self._block is not None:
            return (self._block[client],)
        upload = self._uploads[client]
        if upload is None:
            raise InvalidArgument("client", "must have uploaded", self._plan.clients[client])
        return upload

    def _objection(self, update: object) -> Objection | None:
        """Why not; None once the upload is taken."""
        if type(update) is not Update:
            return Reason.NOT_ARRAYS, type(update).__name__
        if type(update.client) is not str or update.client not in self._index:
            return Reason.UNKNOWN_CLIENT, named(update.client)
        if type(update.run) is not str or update.run != self._plan.run:
            return Reason.WRONG_RUN, named(update.run)
        other = self._other_round(update)
        if other is not None:
            return other
        client = self._index[update.client]
        if not self._eligible[client]:
            return Reason.NO_REPORT, ""
        if self._uploads[client] is not None or client in self._withdrawn:
            return Reason.DUPLICATE, ""
        if update.arrays is None:
            self._withdrawn.add(client)
            return Reason.WITHDRAWN, named(update.note)
        if not isinstance(update.arrays, tuple | list):
            return Reason.NOT_ARRAYS, type(update.arrays).__name__
        return self._take(client, update.arrays)

    def _other_round(self, update: Update) -> Objection | None:
        """Late where round and attempt have passed; repeats of a round count in their order."""
        given, asked = (update.round, update.attempt), (self._round, self._attempt)
        told = f"{shown(given)}, asked: {asked}"
        if not all(type(number) is int for number in given):
            return Reason.WRONG_ROUND, told
        if given == asked:
            return None
        return (Reason.LATE if given < asked else Reason.WRONG_ROUND), told

    def _take(self, client: int, given: Sequence[object]) -> Objection | None:
        for part in given:
            if not isinstance(part, np.ndarray):
                return Reason.NOT_ARRAYS, type(part).__name__
        arrays = tuple(np.asarray(part) for part in given)  # masks, matrices: what they hold
        for part in arrays:
            if part.dtype.kind not in "fiu" or part.dtype.itemsize > WIDEST:
                return Reason.WRONG_DTYPE, str(part.dtype)
        shapes = tuple(part.shape for part in arrays)
        if shapes != self._shapes:
            return Reason.WRONG_SHAPE, f"{shown(shapes)}, asked: {shown(self._shapes)}"
        largest = max(map(_largest, arrays))
        if not np.isfinite(largest):
            return Reason.NOT_FINITE, ""
        if largest > self._largest:
            return Reason.TOO_LARGE, f"{largest:g} > {self._largest:g}"
        self._uploads[client] = arrays
        return None


def named(value: object) -> str:
    """A name as the record shows it, whatever was sent in its place."""
    return value[:LONGEST_NOTE] if type(value) is str else shown(value)


def _largest(part: NDArray[Any]) -> float:
    """max |x|, NaN if any is NaN, without a copy of the array."""
    if part.size == 0:
        return 0.0
    return max(float(part.max()), -float(part.min()))
