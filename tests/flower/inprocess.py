"""A grid in this process: messages go to the app at once, through their bytes, and come back."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count

from flwr.app import Context, Error, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.proto.node_pb2 import NodeInfo
from flwr.serverapp import Grid
from flwr.supercore.run import Run
from flwr.supercore.task_identity import TaskIdentity

LOST = 1  # the number under which Flower reports that there is no reply


@dataclass
class Node:
    """One client's node: its app, its settings, and what the runtime keeps for it."""

    app: ClientApp
    public_key: bytes = b""
    config: dict[str, object] = field(default_factory=dict)
    state: RecordDict = field(default_factory=RecordDict)
    down: bool = False


class InProcess(Grid):
    """Nodes by number; ``tamper`` sees each reply on its way."""

    def __init__(self, nodes: list[Node], tamper: Callable[[int, Message], Message] | None = None):
        TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 1, 1
        self.nodes = {100 + place: node for place, node in enumerate(nodes)}
        self.tamper = tamper or (lambda _, reply: reply)
        self.sent: list[Message] = []
        self._numbers = count(1)

    def set_run(self, run: Run) -> None:
        raise NotImplementedError

    @property
    def run(self) -> Run:
        return Run.create_empty(run_id=1)

    def create_message(
        self,
        content: RecordDict,
        message_type: str,
        dst_node_id: int,
        group_id: str,
        ttl: float | None = None,
    ) -> Message:
        return Message(content, dst_node_id, message_type, group_id=group_id)

    def get_node_ids(self) -> Iterable[int]:
        return list(self.nodes)

    def get_nodes(self) -> Iterable[NodeInfo]:
        return [NodeInfo(node_id=k, public_key=n.public_key) for k, n in self.nodes.items()]

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        raise NotImplementedError

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        raise NotImplementedError

    def send_and_receive(
        self, messages: Iterable[Message], *, timeout: float | None = None
    ) -> Iterable[Message]:
        return [self._answered(message) for message in list(messages)]

    def _answered(self, message: Message) -> Message:
        number = message.metadata.dst_node_id
        node = self.nodes[number]
        message.metadata.__dict__["_message_id"] = str(next(self._numbers))
        self.sent.append(message)
        context = Context(1, number, node.config, node.state, {})  # type: ignore[arg-type]
        try:
            if node.down:
                raise ConnectionError("gone")  # noqa: TRY301
            inside = Message(
                RecordDict(dict(message.content.items())),
                metadata=message.metadata,  # type: ignore[call-overload]
            )
            reply = self.tamper(number, node.app(inside, context))
        except Exception as error:
            reply = Message(Error(0, str(error)), reply_to=message)
            reply.metadata.__dict__["_src_node_id"] = LOST
        return reply
