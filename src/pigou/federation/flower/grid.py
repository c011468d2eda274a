"""The grid as the inner strategy may see it: the nodes of members alone."""

from collections.abc import Callable, Iterable

from flwr.app import Message, RecordDict
from flwr.serverapp import Grid
from flwr.supercore.run import Run


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
