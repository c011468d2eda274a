"""A priced run with registered nodes: statements arrive, the books agree, identity counts."""

from pathlib import Path

import numpy as np
import pytest
from flwr.app import ConfigRecord, Context, Message, MessageType, RecordDict
from flwr.clientapp.typing import ClientAppCallable
from tests.flower.hospitals import ALPHA, NAMES, SETTING, Town, changed, grid, honest, model
from tests.flower.inprocess import Node

from pigou import Game, InvalidArgument, optimum
from pigou.federation.coordinator import Phase
from pigou.federation.flower import signing
from pigou.federation.flower.keeping import Closing
from pigou.federation.intake import Reason
from pigou.mechanisms import Groves, Pigouvian
from pigou.terms import SignedStatement


@pytest.fixture
def town(tmp_path: Path) -> Town:
    return Town.of(tmp_path)


def test_statements_arrive_and_books_ledger_and_model_agree(town: Town) -> None:
    seen: list[Closing] = []
    with town.ledger() as ledger:
        strategy = town.strategy(ledger, watch=seen.append)
        result = strategy.start(grid(town.nodes()), model())
        assert strategy.coordinator.phase is Phase.CLOSED
        assert len(seen) == 3
        assert sum(ledger.balance(name) for name in NAMES) == 0
        target = optimum(Game(SETTING, np.array(ALPHA))).sigma
        for hospital, sigma in zip(town.hospitals, target, strict=True):
            book = hospital.book
            assert [bill.statement.round for bill in book.bills] == [1, 2, 3]
            assert all(isinstance(bill.signed, SignedStatement) for bill in book.bills)
            assert [bill.objection for bill in book.bills] == ["", "", ""]
            owed = sum(bill.statement.net for bill in book.bills)
            assert owed == ledger.balance(hospital.name)
            assert [each.round for each in book.releases] == [1, 2, 3]
            assert book.releases[0].sigma == pytest.approx(sigma)
            account = book.account(50.0)
            assert account.mu == pytest.approx(50.0 * np.sqrt(3) / sigma)
            assert book.contract is not None
            assert book.contract.rounds == 3
        assert ledger.verify().ok
    final = {name: array.numpy() for name, array in result.arrays.items()}
    assert {n: a.dtype for n, a in final.items()} == {
        n: a.numpy().dtype for n, a in model().items()
    }
    np.testing.assert_array_equal(final["steps"], [7, 9])
    assert result.train_metrics_clientapp[1]["loss"] == pytest.approx(0.25)


def test_the_aggregate_has_the_committed_weights_whatever_clients_claim(town: Town) -> None:
    def greedy(content: RecordDict) -> RecordDict:
        content.metric_records["m"]["num-examples"] = 10_000
        return content

    seen: list[Closing] = []
    nodes = town.nodes()
    nodes[0] = town.hospitals[0].node(changed(greedy))
    result = town.strategy(watch=seen.append).start(grid(nodes), model())
    for closing, after in [(seen[-1], result.arrays)]:
        expected = closing.closed.aggregate()
        kernel = after["kernel"].numpy()
        np.testing.assert_allclose(kernel, expected[0], rtol=1e-5, atol=1e-5)


def test_noise_is_never_sent_and_the_app_sees_nothing_of_pricing(town: Town) -> None:
    inside: list[list[str]] = []

    def watching(message: Message, context: Context) -> Message:
        inside.append(list(message.content))
        return honest(message, context)

    sent: list[RecordDict] = []

    def seen(_: int, reply: Message) -> Message:
        sent.append(RecordDict(dict(reply.content.items())))
        return reply

    nodes = [hospital.node(watching) for hospital in town.hospitals]
    town.strategy().start(grid(nodes, tamper=seen), model())
    assert inside == [["arrays", "config"]] * 12
    uploads = [content for content in sent if content.array_records]
    assert len(uploads) == 12
    for content in uploads:
        note = content.config_records["pigou"]
        known = {"client", "round", "attempt", "upload", "note", "signature"}
        assert set(note) == known
        assert set(content) == {"arrays", "m", "pigou"}


def garbage(kind: str) -> ClientAppCallable:
    """A train function of a client whose data or code are broken."""

    def nan(content: RecordDict) -> RecordDict:
        arrays = content.array_records["arrays"]
        arrays["kernel"] = type(arrays["kernel"])(np.full((30, 20), np.nan, np.float32))
        return content

    def renamed(content: RecordDict) -> RecordDict:
        arrays = content.array_records["arrays"]
        arrays["nucleus"] = arrays.pop("kernel")
        return content

    def reshaped(content: RecordDict) -> RecordDict:
        arrays = content.array_records["arrays"]
        arrays["kernel"] = type(arrays["kernel"])(np.zeros((20, 30), np.float32))
        return content

    def empty(content: RecordDict) -> RecordDict:
        return RecordDict()

    def raising(content: RecordDict) -> RecordDict:
        raise RuntimeError("out of memory")

    def other_metrics(content: RecordDict) -> RecordDict:
        content.metric_records["m"]["extra"] = 1.0
        return content

    kinds = {f.__name__: f for f in (nan, renamed, reshaped, empty, raising, other_metrics)}
    return changed(kinds[kind])


KINDS = ["nan", "renamed", "reshaped", "empty", "raising", "other_metrics"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_client_that_returns_garbage_costs_only_itself(town: Town, kind: str) -> None:
    nodes, seen = town.nodes(), list[Closing]()
    nodes[2] = town.hospitals[2].node(garbage(kind))
    with town.ledger() as ledger:
        strategy = town.strategy(ledger, watch=seen.append)
        strategy.start(grid(nodes), model())
        assert strategy.coordinator.phase is Phase.CLOSED
        assert strategy.coordinator.stopped == ""
        for closing in seen:
            assert closing.closed.arrived.tolist() == [True, True, False, True]
            (refusal,) = closing.closed.refusals
            assert refusal.client == "Children's"
        assert sum(ledger.balance(n) for n in NAMES if n != "Children's") == 0
        assert town.hospitals[2].book.bills == ()


def garbled(kind: str, reply: Message) -> Message:
    """A reply of a node whose software is not pigou's at all."""
    content = reply.content
    if not content.array_records:
        return reply
    arrays, note = content.array_records["arrays"], content.config_records["pigou"]
    kernel = arrays["kernel"]
    if kind == "unsigned":
        note["signature"] = bytes(64)
    elif kind == "no note":
        del content["pigou"]
    elif kind == "odd note":
        content["pigou"] = ConfigRecord({"round": "three"})
    elif kind == "changed arrays":
        arrays["kernel"] = type(kernel)(np.zeros((30, 20), np.float32))
    elif kind == "pickled":
        arrays["kernel"] = type(kernel)("object", (1,), "pickle", b"cos\nsystem\n")
    elif kind == "cut off":
        arrays["kernel"] = type(kernel)("float32", (30, 20), "numpy.ndarray", b"\x93NU")
    elif kind == "no metrics":
        del content["m"]
    elif kind == "two records":
        content["more"] = arrays
    elif kind == "old round":
        note["round"] = 77
    else:
        raise AssertionError(kind)
    return reply


GARBLED = [
    *("unsigned", "no note", "odd note", "changed arrays", "pickled", "cut off"),
    *("no metrics", "two records", "old round"),
]


@pytest.mark.parametrize("kind", GARBLED)
def test_a_forged_or_garbled_reply_is_refused_and_costs_only_its_node(
    town: Town, kind: str
) -> None:
    seen = list[Closing]()
    where = grid(town.nodes(), tamper=lambda n, r: garbled(kind, r) if n == 101 else r)
    strategy = town.strategy(watch=seen.append)
    strategy.start(where, model())
    assert len(seen) == 3
    for closing in seen:
        assert closing.closed.arrived.tolist() == [True, False, True, True]
        (refusal,) = closing.closed.refusals
        assert refusal.client == "St. Anna"


@pytest.mark.parametrize("forged", ["key", "node"])
def test_one_node_cannot_answer_for_another(town: Town, forged: str) -> None:
    """St. Anna's messages are answered under Riverside's key, or from Riverside's node."""
    secret = signing.load_key(town.hospitals[0].folder / "upload.pem")

    def impostor(node: int, reply: Message) -> Message:
        if node != 101 or not reply.content.array_records:
            return reply
        if forged == "node":
            reply.metadata.__dict__["_src_node_id"] = 100
            return reply
        note = reply.content.config_records["pigou"]
        round_, attempt, upload = (note[name] for name in ("round", "attempt", "upload"))
        assert isinstance(round_, int)
        assert isinstance(attempt, int)
        words = signing.uploaded("St. Anna", "trial", round_, attempt, str(upload))
        note["signature"] = secret.sign(words)
        return reply

    seen = list[Closing]()
    town.strategy(watch=seen.append).start(grid(town.nodes(), tamper=impostor), model())
    assert len(seen) == 3
    for closing in seen:
        assert closing.closed.arrived.tolist() == [True, False, True, True]
        (refusal,) = closing.closed.refusals
        assert refusal.reason is (Reason.NOT_SIGNED if forged == "key" else Reason.FAILED)


def test_strangers_get_nothing_and_a_lost_node_is_absent_from_the_bill(town: Town) -> None:
    nodes = town.nodes()
    stranger = Node(nodes[0].app, b"ecdsa-sha2-nistp384 AAAA", nodes[0].config)
    seen = list[Closing]()

    def crash(closing: Closing) -> None:
        seen.append(closing)
        nodes[3].down = len(seen) == 1

    where = grid([*nodes, stranger])
    with town.ledger() as ledger:
        town.strategy(ledger, watch=crash).start(where, model())
        assert all(message.metadata.dst_node_id != 104 for message in where.sent)
        here = [closing.closed.arrived.tolist() for closing in seen]
        assert here == [[True] * 4, [True, True, True, False], [True] * 4]
        (refusal,) = seen[1].closed.refusals
        assert (refusal.client, refusal.reason) == ("Hill", Reason.FAILED)
        for round_ in (1, 2, 3):
            posted = ledger.posted("trial", round_)
            assert posted is not None
            billed = {each.statement.client for each in posted.statements}
            assert billed == (set(NAMES) - {"Hill"} if round_ == 2 else set(NAMES))
    # the statement of round 1 could not be delivered in round 2: it came with round 3
    assert [bill.statement.round for bill in town.hospitals[3].book.bills] == [1, 3]


def test_reports_are_signed_and_transfers_are_delivered(town: Town) -> None:
    with town.ledger() as ledger:
        rule = Groves(rounds=2, money=100.0)
        strategy = town.strategy(ledger, mechanism=rule)
        strategy.start(grid(town.nodes()), model())
        assert strategy.coordinator.state().reports == dict(zip(NAMES, ALPHA, strict=True))
        for hospital in town.hospitals:
            bills = hospital.book.bills
            assert [bill.statement.round for bill in bills] == [0, 1, 2]
            assert sum(b.statement.net for b in bills) == ledger.balance(hospital.name)


def test_a_report_under_another_key_does_not_count(town: Town) -> None:
    def forged(node: int, reply: Message) -> Message:
        if node == 102 and "report" in reply.content.config_records["pigou"]:
            reply.content.config_records["pigou"]["signature"] = bytes(64)
        return reply

    rule = Groves(rounds=1, money=100.0)
    strategy = town.strategy(mechanism=rule)
    strategy.start(grid(town.nodes(), tamper=forged), model())
    assert strategy.coordinator.eligible.tolist() == [True, True, False, True]
    refused = [(each.client, each.reason) for each in strategy.coordinator.refusals]
    assert (NAMES[2], Reason.NOT_SIGNED) in refused


def test_clients_take_nothing_that_the_server_did_not_sign(town: Town) -> None:
    nodes = town.nodes()
    where = grid(nodes)
    strategy = town.strategy(mechanism=Pigouvian(rounds=1))
    strategy.start(where, model())
    train = next(m for m in where.sent if m.metadata.message_type == MessageType.TRAIN)
    note = dict(train.content.config_records["pigou"])
    signature = note["signature"]
    assert isinstance(signature, bytes)
    note["signature"] = signature[:-1] + bytes([signature[-1] ^ 1])
    forged = RecordDict({**train.content, "pigou": ConfigRecord(note)})
    message = Message(forged, train.metadata.dst_node_id, MessageType.TRAIN)
    (reply,) = where.send_and_receive([message])
    assert reply.has_error()
    assert "not signed with the key of the server" in (reply.error.reason or "")


def test_num_rounds_is_the_contracts(town: Town) -> None:
    with pytest.raises(InvalidArgument, match="num_rounds must be the mechanism's 3"):
        town.strategy().start(grid(town.nodes()), model(), num_rounds=5)
