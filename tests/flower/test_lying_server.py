"""What a client grants a server that holds the right key and does not keep to the contract."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, RecordDict
from tests.flower.hospitals import Hospital, Town, grid, honest, model
from tests.flower.inprocess import Node

from pigou import AccuracyLoss
from pigou.errors import PigouError
from pigou.federation.flower import signing
from pigou.federation.flower.book import Book, Release
from pigou.federation.flower.mod import NoiseMissing, require_noise
from pigou.federation.flower.records import CODEC
from pigou.federation.protocol import Announcement
from pigou.privacy import PrivacyAccount
from pigou.terms import Statement

HALF = np.float16


@dataclass
class Server:
    """What one client is told, and whatever else its server might tell it."""

    town: Town
    key: Ed25519PrivateKey
    told: list[Message]  # the train messages of an honest run

    @classmethod
    def of(cls, town: Town) -> "Server":
        where = grid(town.nodes())
        town.strategy().start(where, model())
        kinds = [message for message in where.sent if message.metadata.message_type == "train"]
        for hospital in town.hospitals:
            (hospital.folder / "book.json").unlink()
        told = [message for message in kinds if message.metadata.dst_node_id == 100]
        return cls(town, signing.load_key(town.folder / "server.pem"), told)

    @property
    def client(self) -> Hospital:
        return self.town.hospitals[0]

    def announcement(self, round_: int = 1) -> Announcement:
        said = self.told[round_ - 1].content.config_records["pigou"]["announcement"]
        found = CODEC.decode(said)  # type: ignore[arg-type]
        assert isinstance(found, Announcement)
        return found

    def ask(
        self,
        said: Announcement,
        statements: tuple[Statement, ...] = (),
        node: Node | None = None,
        arrays: ArrayRecord | None = None,
    ) -> Message:
        """A train message, signed, to a node that has nothing but its file."""
        first, second = CODEC.encode(said), CODEC.encode(statements)
        words = signing.told("Riverside", first, second)
        note = ConfigRecord({"run": said.run, "announcement": first, "statements": second})
        note["signature"] = self.key.sign(words)
        records: dict[str, Any] = {
            "arrays": arrays or model(),
            "config": ConfigRecord({}),
            "pigou": note,
        }
        where = grid([node or self.client.node()])
        (reply,) = where.send_and_receive([Message(RecordDict(records), 100, "train")])
        return reply

    def bill(self, said: Announcement, **changes: Any) -> Statement:
        """A right bill for the client's only upload, with whatever is not right about it."""
        assert said.terms is not None
        upload = self.client.book.releases[-1].upload
        right = Statement(
            consortium=said.consortium,
            run=said.run,
            round=1,
            client="Riverside",
            billed=4,
            deviation=0.25,
            coefficient=float(said.terms.coefficient[0]),
            charge=round(float(said.terms.coefficient[0]) * 0.25 * 1_000_000),
            refund=0,
            total_charge=round(float(said.terms.coefficient[0]) * 0.25 * 1_000_000),
            refundable=True,
            barred=0,
            barred_charge=0,
            terms=said.terms.digest,
            upload=upload,
            mean="",
            currency=said.currency,
        )
        return replace(right, **changes)


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server.of(Town.of(tmp_path))


def why(reply: Message) -> str:
    return (reply.error.reason or "") if reply.has_error() else ""


def test_asking_again_does_not_go_beyond_the_cap(server: Server) -> None:
    """Each answer would carry fresh noise, and their mean none: the account must end it."""
    said, client = server.announcement(), server.client
    assert server.ask(said).content.array_records
    one = client.book.account(50.0).releases
    client.settings |= {"epsilon_cap": PrivacyAccount(50.0).after(one[0], 3).epsilon(1e-5) * 1.001}
    sent = [bool(server.ask(said).content.array_records) for _ in range(5)]
    assert sent == [True, True, False, False, False]
    assert len(client.book.releases) == 3
    uploads = {each.upload for each in client.book.releases}
    assert len(uploads) == 3  # never the same noise twice
    again = server.ask(replace(said, attempt=2))
    assert not again.content.array_records


def test_what_is_asked_while_another_answer_is_made_counts_too(server: Server) -> None:
    client, said, once = server.client, server.announcement(), [True]

    def slow(message: Message, context: Context) -> Message:
        if once:
            once.clear()
            assert server.ask(said, node=client.node()).content.array_records
        return honest(message, context)

    assert server.ask(said, node=client.node(slow)).content.array_records
    assert len({each.upload for each in client.book.releases}) == 2
    assert len(client.book.open[-1].sent) == 2


def test_the_cap_holds_for_answers_made_at_the_same_time(server: Server) -> None:
    client, said, once = server.client, server.announcement(), [True]
    assert server.ask(said).content.array_records
    sigma = client.book.releases[0].sigma
    client.settings |= {"epsilon_cap": PrivacyAccount(50.0).after(sigma, 2).epsilon(1e-5) * 1.001}

    def slow(message: Message, context: Context) -> Message:
        if once:
            once.clear()
            assert server.ask(said, node=client.node()).content.array_records
        return honest(message, context)

    assert "reveal more than the cap" in why(server.ask(said, node=client.node(slow)))
    assert len(client.book.releases) == 2


CHANGES: dict[str, dict[str, Any]] = {
    "another loss": {"loss": AccuracyLoss.bound(1.0, 2.0)},
    "another consortium": {"consortium": "village"},
    "more rounds": {"rounds": 30},
    "another currency": {"currency": "USD"},
    "another mechanism": {"mechanism": "unpriced"},
    "privacy is worth less": {"privacy_scale": 0.01},
    "fewer clients": {"clients": ("Riverside", "Hill")},
    "more spread": {"spread": np.full(4, 9.0)},
}


@pytest.mark.parametrize("kind", CHANGES)
def test_the_contract_cannot_change_within_a_run(server: Server, kind: str) -> None:
    assert server.ask(server.announcement(1)).content.array_records
    changed = replace(server.announcement(2), **CHANGES[kind])
    assert "must keep to the contract" in why(server.ask(changed))
    assert len(server.client.book.releases) == 1
    assert server.ask(server.announcement(2)).content.array_records


@pytest.mark.parametrize("round_", [0, -1, 4])
def test_there_are_no_rounds_beyond_the_contract(server: Server, round_: int) -> None:
    said = replace(server.announcement(), round=round_)
    assert "must be one of the contract's 3" in why(server.ask(said))
    assert not (server.client.folder / "book.json").exists()


BILLS: list[tuple[dict[str, Any], str]] = [
    ({}, ""),
    ({"upload": "0" * 64}, "not for what was uploaded"),
    ({"coefficient": 1e6}, "not the ones that were announced"),
    ({"terms": "0" * 64}, "not the ones that were announced"),
    ({"charge": 7}, "the charge should be"),
    ({"deviation": float("nan")}, "the charge should be"),
    ({"refund": -3}, "the refund should be 0"),
    ({"refundable": False, "refund": 5}, "the refund should be 0"),
    ({"currency": "USD"}, "consortium and currency"),
    ({"run": "another"}, "consortium and currency"),
]


@pytest.mark.parametrize(("changes", "objection"), BILLS)
def test_a_wrong_bill_is_kept_with_an_objection(
    server: Server, changes: dict[str, Any], objection: str
) -> None:
    said = server.announcement()
    server.ask(said)
    server.ask(server.announcement(2), (server.bill(said, **changes),))
    (bill,) = server.client.book.bills
    assert objection in bill.objection
    assert bool(objection) == bool(bill.objection)


def test_a_bill_for_another_client_is_not_taken(server: Server) -> None:
    said = server.announcement()
    server.ask(said)
    bill = server.bill(said, client="Hill")
    assert "must be for Riverside" in why(server.ask(server.announcement(2), (bill,)))
    assert server.client.book.bills == ()


def test_a_billed_round_is_not_played_again(server: Server) -> None:
    said = server.announcement()
    server.ask(said)
    server.ask(server.announcement(2), (server.bill(said),))
    assert "billed already" in why(server.ask(replace(said, attempt=2)))


def test_a_book_that_was_taken_away_is_not_begun_anew(server: Server) -> None:
    node = server.client.node()
    assert server.ask(server.announcement(1), node=node).content.array_records
    (server.client.folder / "book.json").unlink()
    assert "is gone" in why(server.ask(server.announcement(2), node=node))
    assert not (server.client.folder / "book.json").exists()


def test_releases_count_with_the_clip_that_held_then() -> None:
    """S / sigma is what composes: a smaller clip later makes no earlier upload more private."""
    wide = Release("a", 1, 1, sigma=4.0, upload="x", clip=8.0)
    narrow = Release("b", 1, 1, sigma=1.0, upload="y", clip=1.0)
    book = Book(client="c").released(wide).released(narrow)
    for clip in (1.0, 3.0, 8.0):
        assert book.account(clip).mu == pytest.approx(np.sqrt(2.0**2 + 1.0**2))
        assert clip * np.sqrt(book.precision(clip)) == pytest.approx(np.sqrt(5.0))


def test_rounding_makes_no_update_longer_than_the_clip(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In half precision w + step would be rounded to whole steps of 2^-10: up to twice the clip."""
    from pigou.federation.flower import mod as mods

    seen: list[tuple[np.ndarray[Any, Any], ...]] = []
    from pigou.privacy import add_noise as add

    def watched(clean: Any, sigma: float, normals: Callable[[int], Any]) -> Any:
        seen.append(tuple(clean))
        return add(clean, sigma, normals)

    monkeypatch.setattr(mods, "add_noise", watched)
    start, size = ArrayRecord({"half": Array(np.ones(10_000, HALF))}), 10_000

    def train(message: Message, context: Context) -> Message:
        reply = honest(message, context)
        moved = np.full(size, 1.0 + 2.0**-10, HALF)
        reply.content["arrays"] = ArrayRecord({"half": Array(moved)})
        return reply

    server.client.settings["clip"] = 0.6 * 2.0**-10 * np.sqrt(size)
    server.ask(server.announcement(), node=server.client.node(train), arrays=start)
    ((clean,),) = seen
    assert np.linalg.norm(clean - 1.0) <= server.client.settings["clip"]
    assert np.linalg.norm(clean - 1.0) > 0.99 * server.client.settings["clip"]


@pytest.mark.parametrize("sigma", [1e-30, 1e-8, 1e-3, 1.0, 1e6, 1e30, 1e300])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_noise_of_any_size_is_there_as_meant_or_nothing_leaves(sigma: float, dtype: Any) -> None:
    """It drowns in a number's rounding, fits, or overflows: the check says which."""
    from pigou.federation.randomness import SecretNoise
    from pigou.privacy import add_noise

    clean = (np.ones(2000),)
    (noisy,) = add_noise(clean, sigma, SecretNoise())
    with np.errstate(over="ignore"):
        output = (noisy.astype(dtype),)
    finest, largest = float(np.finfo(dtype).eps), float(np.finfo(dtype).max)
    if 10 * finest < sigma < largest / 10:
        require_noise(clean, output, sigma)
    elif sigma < finest / 100 or sigma > largest:
        with pytest.raises(NoiseMissing):
            require_noise(clean, output, sigma)
    assert issubclass(NoiseMissing, PigouError)
