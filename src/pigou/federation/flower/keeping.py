"""What a run is handed: a ledger that keeps its rounds, and somebody who watches."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from flwr.app import ArrayRecord

from pigou.federation.protocol import Announcement
from pigou.federation.rounds import ClosedRound
from pigou.terms import Posted, Round


class Kept(Protocol):
    """What a ledger has kept for a run to go on from."""

    @property
    def content(self) -> bytes:
        """The bytes that were given with the last round."""


class Ledger(Protocol):
    """What a run needs of a ledger; ``pigou.ledger.Ledger`` is one."""

    def post(self, settled: Round, state: bytes | None = None) -> Posted:
        """Book a round and what to go on from."""

    def posted(self, run: str, round_: int) -> Posted | None:
        """What was answered when the round was posted, if it was."""

    def state(self, run: str) -> Kept | None:
        """What the run goes on from."""


@dataclass(frozen=True, eq=False)
class Closing:
    """One closed round, for whoever watches: before it is booked, and before anybody is told."""

    announcement: Announcement
    closed: ClosedRound
    model: ArrayRecord  # after the round


Watch = Callable[[Closing], None]
