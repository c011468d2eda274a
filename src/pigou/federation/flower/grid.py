"""The grid as the inner strategy may see it: the nodes of members alone."""

import math
import threading
import time
from collections.abc import Callable, Iterable
from typing import Final

from flwr.app import Message, RecordDict
from flwr.proto.node_pb2 import NodeInfo
from flwr.serverapp import Grid
from flwr.supercore.run import Run

PAUSE: Final = 0.02  # seconds between looks for replies


class MembersOnly(Grid):
    """A grid without strangers: whoever samples nodes from it samples members."""

    def __init__(self, grid: Grid, look: Callable[[Grid], list[int]]) -> None:
        self._grid, self._look = grid, look

    def set_run(self, run: Run) -> None:
        """As the grid itself."""
        self._grid.set_run(run)

    @property
    def run(self) -> Run:
        """As the grid itself."""
        return self._grid.run

    def create_message(
        self,
        content: RecordDict,
        message_type: str,
        dst_node_id: int,
        group_id: str,
        ttl: float | None = None,
    ) -> Message:
        """As the grid itself."""
        return Message(content, dst_node_id, message_type, ttl=ttl, group_id=group_id)

    def get_node_ids(self) -> Iterable[int]:
        """The nodes of members that take part."""
        return self._look(self._grid)

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        """As the grid itself."""
        return self._grid.push_messages(messages)

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        """As the grid itself."""
        return self._grid.pull_messages(message_ids)

    def send_and_receive(
        self, messages: Iterable[Message], *, timeout: float | None = None
    ) -> Iterable[Message]:
        """As the grid itself."""
        return self._grid.send_and_receive(messages, timeout=timeout)


class Interrupted(BaseException):
    """The simulation has been stopped from outside."""


class Stoppable(MembersOnly):
    """A grid that stops waiting for replies when the simulation is interrupted."""

    def __init__(self, grid: Grid, stop: threading.Event) -> None:
        super().__init__(grid, lambda inner: list(inner.get_node_ids()))
        self._stop = stop

    def get_nodes(self) -> Iterable[NodeInfo]:
        """As the grid itself, unless stopped."""
        if self._stop.is_set():
            raise Interrupted
        return self._grid.get_nodes()

    def send_and_receive(
        self, messages: Iterable[Message], *, timeout: float | None = None
    ) -> Iterable[Message]:
        """All replies that come in time."""
        waiting = set(self.push_messages(messages))
        replies: list[Message] = []
        end = time.monotonic() + (math.inf if timeout is None else timeout)
        while waiting and time.monotonic() < end:
            if self._stop.wait(PAUSE):
                raise Interrupted
            replies += (found := list(self.pull_messages(waiting)))
            waiting -= {reply.metadata.reply_to_message_id for reply in found}
        return replies
