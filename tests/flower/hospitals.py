"""Clients with keys, files and books of their own, as in a real federation."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ec import SECP384R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from flwr.app import Array, ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.clientapp.typing import ClientAppCallable, Mod
from flwr.serverapp.strategy import FedAvg, Strategy
from tests.flower.inprocess import InProcess, Node

from pigou import AccuracyLoss, Setting
from pigou.federation.flower import PricedStrategy, Registered, noise_mod, pigou_client
from pigou.federation.flower.book import Book
from pigou.ledger import Ledger, keys
from pigou.mechanisms import Pigouvian
from pigou.mechanisms.base import Mechanism

NAMES = ("Riverside", "St. Anna", "Children's", "Hill")
ALPHA = (0.2, 0.4, 0.6, 0.8)
SETTING = Setting(4, AccuracyLoss.bound(16.0, 2.0), 0.5)
Numbers = np.ndarray[Any, np.dtype[Any]]


def model() -> ArrayRecord:
    """Arrays of several shapes and types; one of them is not trained."""
    return ArrayRecord(
        {
            "kernel": Array(np.zeros((30, 20), np.float32)),
            "bias": Array(np.asfortranarray(np.ones((4, 5)))),
            "scale": Array(np.array(0.5, np.float32)),
            "half": Array(np.zeros(50, np.float16)),
            "steps": Array(np.array([7, 9])),
            "empty": Array(np.zeros((0, 3), np.float32)),
        }
    )


def honest(message: Message, context: Context) -> Message:
    """Trains towards ones, and counts a step."""
    arrays = next(iter(message.content.array_records.values()))
    trained = {}
    for name, array in arrays.items():
        old = array.numpy()
        moved = old + 1 if old.dtype.kind == "i" else old + (1 - old) / old.dtype.type(8)
        trained[name] = Array(np.asarray(moved, dtype=old.dtype))
    metrics = MetricRecord({"num-examples": 10, "loss": 0.25})
    return Message(RecordDict({"arrays": ArrayRecord(trained), "m": metrics}), reply_to=message)


@dataclass
class Hospital:
    """One client's folder."""

    name: str
    folder: Path
    settings: dict[str, Any]
    node_key: bytes

    def node(
        self, train: ClientAppCallable = honest, mods: tuple[Mod, ...] = (), noise: Mod = noise_mod
    ) -> Node:
        """Its node: ``mods`` stand outside of the noise."""
        text = "\n".join(f"{key} = {json.dumps(value)}" for key, value in self.settings.items())
        (self.folder / "client.toml").write_text(text)
        inner = ClientApp(mods=list(mods))
        inner.train(mods=[noise])(train)
        app = pigou_client(inner)
        return Node(app, self.node_key, {"pigou": str(self.folder / "client.toml")})

    @property
    def book(self) -> Book:
        return Book.read(self.folder / "book.json")


@dataclass
class Town:
    """Four hospitals, the server's key, and the register of members."""

    folder: Path
    hospitals: tuple[Hospital, ...]

    @classmethod
    def of(cls, folder: Path) -> "Town":
        server = keys.create(folder / "server.pem")
        assert server is not None
        hospitals: list[Hospital] = []
        tables: list[str] = []
        for name, alpha in zip(NAMES, ALPHA, strict=True):
            home = folder / f"client {len(hospitals)}"
            home.mkdir()
            upload = keys.to_hex(keys.create(home / "upload.pem").public_key())
            node = generate_private_key(SECP384R1()).public_key()
            line = node.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
            settings = {
                "name": name,
                "alpha": alpha,
                "clip": 50.0,
                "key": "upload.pem",
                "server_key": "../server.pem.pub",
                "book": "book.json",
            }
            hospitals.append(Hospital(name, home, settings, line + b" node@site"))
            fields = {"name": name, "node_key": line.decode(), "upload_key": upload}
            rows = (f"{key} = {json.dumps(value)}\n" for key, value in fields.items())
            tables.append("[[member]]\n" + "".join(rows))
        (folder / "members.toml").write_text("".join(tables))
        return cls(folder, tuple(hospitals))

    def nodes(self) -> list[Node]:
        return [hospital.node() for hospital in self.hospitals]

    def ledger(self) -> Ledger:
        return Ledger(f"sqlite:///{self.folder / 'ledger.db'}")

    def strategy(
        self,
        ledger: Ledger | None = None,
        inner: Strategy | None = None,
        mechanism: Mechanism | None = None,
        run: str = "trial",
        **more: Any,
    ) -> PricedStrategy:
        return PricedStrategy(
            inner or FedAvg(fraction_evaluate=0.0, min_available_nodes=3, min_train_nodes=3),
            mechanism=mechanism or Pigouvian(rounds=3, money=100.0),
            setting=SETTING,
            members=Registered.read(self.folder / "members.toml"),
            run=run,
            consortium="town",
            ledger=ledger,
            key=self.folder / "server.pem",
            **more,
        )


def changed(change: Callable[[RecordDict], RecordDict]) -> ClientAppCallable:
    """An app that spoils what it would have sent."""

    def spoiled(message: Message, context: Context) -> Message:
        reply = honest(message, context)
        reply.content = change(reply.content)
        return reply

    return spoiled


def grid(nodes: list[Node], **more: Any) -> InProcess:
    return InProcess(nodes, **more)
