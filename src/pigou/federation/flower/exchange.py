"""The server's letters: what goes to which node, and whose answer came back.

A reply counts as the client's whose node was addressed, and only if that client's key signed it.
Error replies come under the number of the server's own node; all replies are told apart by the
message that they answer.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from flwr.app import ConfigRecord, Message, RecordDict
from flwr.serverapp import Grid

from pigou.federation.flower import signing
from pigou.federation.flower.members import Members
from pigou.federation.flower.records import CODEC, PIGOU
from pigou.federation.protocol import Announcement
from pigou.terms import SignedStatement, Statement

LONGEST: Final = 200  # of an error, as the record shows it

Signed = Statement | SignedStatement


@dataclass(frozen=True, eq=False)
class Answer:
    """One client's reply, or why there is none."""

    client: str
    reply: Message | None
    why: str = ""


@dataclass(eq=False)
class Exchange:
    """One run's correspondence."""

    members: Members
    run: str
    key: Ed25519PrivateKey | None
    owed: dict[str, list[Signed]] = field(default_factory=dict)  # statements not yet delivered
    clients: dict[int, str] = field(default_factory=dict)  # of the nodes that are there
    known: dict[int, str] = field(default_factory=dict)  # of all that have been there

    def look(self, grid: Grid) -> list[int]:
        """The nodes of members that are there now."""
        nodes = list(grid.get_nodes())
        found = {node.node_id: self.members.client_of(node) for node in nodes}
        self.clients = {node: client for node, client in found.items() if client is not None}
        self.known |= self.clients
        return self.members.addressed(nodes)

    def client_of(self, node: int) -> str | None:
        """The client behind a node, which may have gone since."""
        return self.known.get(node)

    def owe(self, statements: Iterable[Signed]) -> None:
        """Statements that are released, to go out with the next message to their clients."""
        for signed in statements:
            inner = signed if isinstance(signed, Statement) else signed.statement
            self.owed.setdefault(inner.client, []).append(signed)

    def note(self, client: str, announcement: bytes) -> ConfigRecord:
        """pigou's part of a message to one client."""
        statements = CODEC.encode(tuple(self.owed.get(client, ())))
        words = signing.told(client, announcement, statements)
        return ConfigRecord(
            {
                "run": self.run,
                "announcement": announcement,
                "statements": statements,
                "signature": signing.sign(self.key, words),
            }
        )

    def letters(self, messages: Iterable[Message], said: Announcement) -> list[Message]:
        """The inner strategy's messages to members, each with its client's part."""
        announcement, letters = CODEC.encode(said), []
        for message in messages:
            meta = message.metadata
            client = self.client_of(meta.dst_node_id)
            if client is None:
                continue
            content = RecordDict({**message.content, PIGOU: self.note(client, announcement)})
            letters.append(
                Message(content, meta.dst_node_id, meta.message_type, group_id=meta.group_id)
            )
        return letters

    def query(self, nodes: Sequence[int], said: Announcement, kind: str) -> list[Message]:
        """pigou's own messages; a node that is not known yet gets nothing that is a client's."""
        announcement, letters = CODEC.encode(said), []
        for node in nodes:
            note = self.note(self.client_of(node) or "", announcement)
            letters.append(Message(RecordDict({PIGOU: note}), node, kind))
        return letters

    def answers(self, letters: Sequence[Message], replies: Iterable[Message]) -> list[Answer]:
        """One answer per letter whose client is known, in the order of the letters."""
        asked = {letter.metadata.message_id: letter.metadata.dst_node_id for letter in letters}
        got: dict[int, Message] = {}
        for reply in replies:
            node = asked.get(reply.metadata.reply_to_message_id)
            if node is not None and (node not in got or not _is_of(node, got[node])):
                got[node] = reply
        return [self._answer(node, got.get(node)) for node in asked.values()]

    def _answer(self, node: int, reply: Message | None) -> Answer:
        client = self.client_of(node) or ""
        if reply is None or not client:
            return Answer(client, None, "no reply")
        if reply.has_error():
            return Answer(client, None, (reply.error.reason or "an error")[-LONGEST:])
        if not _is_of(node, reply):
            return Answer(client, None, "the reply is another node's")
        return Answer(client, reply)

    def delivered(self, client: str) -> None:
        """The client has answered: it has what went with the message."""
        self.owed.pop(client, None)


def _is_of(node: int, reply: Message) -> bool:
    return reply.has_content() and reply.metadata.src_node_id == node
