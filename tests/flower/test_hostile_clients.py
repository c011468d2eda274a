"""What a node may send that is not pigou's own: it costs that node its round, and nobody else."""

import struct
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flwr.app import Array, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.proto.node_pb2 import NodeInfo
from flwr.serverapp.strategy import FedAvg
from tests.flower.hospitals import NAMES, Town, changed, grid, model

from pigou.errors import PigouError
from pigou.federation.flower.keeping import Closing
from pigou.federation.flower.records import view
from pigou.federation.intake import Reason
from pigou.mechanisms import Groves

HEADER = "{{'descr': {}, 'fortran_order': False, 'shape': {}, }}"
FLOAT = "'<f4'"
HEADERS = {
    "two sizes left open": HEADER.format(FLOAT, "(-1, -1)"),
    "a negative size": HEADER.format(FLOAT, "(-5,)"),
    "no numbers, and too many": HEADER.format(FLOAT, f"(0, {2**70})"),
    "more than there are bytes": HEADER.format(FLOAT, f"({2**62},)"),
    "too many dimensions": HEADER.format(FLOAT, str((1,) * 65)),
    "a truth for a size": HEADER.format(FLOAT, "(True,)"),
    "Python objects": HEADER.format("'|O'", "(1,)"),
    "half a type": HEADER.format("('<f4',)", "(1,)"),
    "numbers in numbers": HEADER.format("('<f4', (2,))", "(1,)"),
    "too deep for the parser": "-" * 9000 + "1",
    "too deep for the compiler": "1" + "+1" * 4000,
}


def array(header: str) -> Array:
    """An array whose bytes begin with this header."""
    text = (header + "\n").encode()
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(64)
    return Array("float32", (30, 20), "numpy.ndarray", content)


@pytest.fixture
def town(tmp_path: Path) -> Town:
    return Town.of(tmp_path)


def all_but_one(seen: list[Closing], reason: Reason) -> None:
    """St. Anna is refused in all three rounds, and the others are not."""
    assert len(seen) == 3
    for closing in seen:
        assert closing.closed.arrived.tolist() == [True, False, True, True]
        (refusal,) = closing.closed.refusals
        assert (refusal.client, refusal.reason) == ("St. Anna", reason)


@pytest.mark.parametrize("kind", HEADERS)
def test_an_array_with_a_hostile_header_is_refused_by_a_typed_error(kind: str) -> None:
    with pytest.raises(PigouError, match="array"):
        view(array(HEADERS[kind]))


@pytest.mark.parametrize("kind", ["two sizes left open", "too deep for the parser"])
def test_a_hostile_header_costs_only_its_node(town: Town, kind: str) -> None:
    def spoil(node: int, reply: Message) -> Message:
        if node == 101 and reply.content.array_records:
            reply.content.array_records["arrays"]["kernel"] = array(HEADERS[kind])
        return reply

    seen = list[Closing]()
    town.strategy(watch=seen.append).start(grid(town.nodes(), tamper=spoil), model())
    all_but_one(seen, Reason.NOT_ARRAYS)


def renamed(content: RecordDict) -> RecordDict:
    """The arrays' record under another name, which no average can take."""
    return RecordDict({("w" if name == "arrays" else name): r for name, r in content.items()})


def no_number(content: RecordDict) -> RecordDict:
    content.metric_records["m"]["loss"] = float("nan")
    return content


def endless(content: RecordDict) -> RecordDict:
    content.metric_records["m"]["loss"] = float("inf")
    return content


def weights(content: RecordDict) -> RecordDict:
    content.metric_records["m"]["num-examples"] = [1.0, 2.0]
    return content


def flood(content: RecordDict) -> RecordDict:
    content.metric_records["m"]["loss"] = [0.5] * 100_000
    return content


@pytest.mark.parametrize("change", [renamed, no_number, endless, weights, flood])
def test_odd_records_and_metrics_cost_only_their_client(
    town: Town, change: Callable[[RecordDict], RecordDict]
) -> None:
    nodes, seen = town.nodes(), list[Closing]()
    nodes[1] = town.hospitals[1].node(changed(change))
    result = town.strategy(watch=seen.append).start(grid(nodes), model())
    all_but_one(seen, Reason.NOT_ARRAYS)
    found = [metrics["loss"] for metrics in result.train_metrics_clientapp.values()]
    assert found == pytest.approx([0.25] * 3)


ODD_METRICS: dict[str, dict[str, Any] | None] = {
    "no metrics": None,
    "a list of weights": {"num-examples": [1, 2], "right": 0.5},
    "no weight": {"right": 0.5},
    "a negative weight": {"num-examples": -30, "right": 0.5},
    "a weight that is no number": {"num-examples": float("nan"), "right": 0.5},
    "a value that is no number": {"num-examples": 10, "right": float("nan")},
    "another name": {"num-examples": 10, "wrong": 0.5},
}


@pytest.mark.parametrize("kind", ODD_METRICS)
def test_an_odd_answer_to_an_evaluation_stops_nobody(town: Town, kind: str) -> None:
    nodes, odd = town.nodes(), ODD_METRICS[kind]
    fine: dict[str, Any] = {"num-examples": 10, "right": 0.5}
    for place, node in enumerate(nodes):
        said = odd if place == 1 else fine

        def evaluate(
            message: Message, context: Context, said: dict[str, Any] | None = said
        ) -> Message:
            records = {} if said is None else {"m": MetricRecord(said)}
            return Message(RecordDict({**records}), reply_to=message)

        node.app.evaluate()(evaluate)
    inner = FedAvg(min_available_nodes=3)
    result = town.strategy(inner=inner).start(grid(nodes), model())
    assert [dict(found) for found in result.evaluate_metrics_clientapp.values()] == [
        {"right": pytest.approx(0.5)}
    ] * 3


def test_a_node_that_answers_and_goes_is_not_forgotten(town: Town) -> None:
    """Between a query's replies and the next look at who is there."""
    where = grid(town.nodes())
    all_nodes, answered = where.get_nodes, set[int]()

    def leaving(node: int, reply: Message) -> Message:
        answered.add(node)
        return reply

    def there() -> Iterable[NodeInfo]:
        return [node for node in all_nodes() if node.node_id not in answered - {100, 101, 102}]

    where.tamper, where.get_nodes = leaving, there  # type: ignore[method-assign]
    seen = list[Closing]()
    strategy = town.strategy(mechanism=Groves(rounds=2, money=100.0), watch=seen.append)
    strategy.start(where, model())
    assert set(strategy.coordinator.state().reports) == set(NAMES)
    assert [c.closed.arrived.tolist() for c in seen] == [[True, True, True, False]] * 2


def test_an_answer_to_anothers_message_does_not_take_its_place(town: Town) -> None:
    where = grid(town.nodes())
    answer = where.send_and_receive

    def hurried(messages: Iterable[Message], *, timeout: float | None = None) -> Iterable[Message]:
        letters = list(messages)
        replies = list(answer(letters))
        false = []
        for letter in letters:
            if letter.metadata.dst_node_id == 101:
                false.append(Message(RecordDict({"x": ConfigRecord({})}), reply_to=letter))
                false[-1].metadata.__dict__["_src_node_id"] = 103
        return [*false, *replies]

    where.send_and_receive = hurried  # type: ignore[method-assign]
    seen = list[Closing]()
    town.strategy(watch=seen.append).start(where, model())
    assert np.all([closing.closed.arrived for closing in seen])


def test_an_upload_of_an_earlier_round_or_another_run_does_not_count(town: Town) -> None:
    """Signed by the right key, for another occasion."""
    kept: list[RecordDict] = []

    def replay(node: int, reply: Message) -> Message:
        if node == 101 and reply.content.array_records:
            kept.append(RecordDict(dict(reply.content.items())))
            reply.content = kept[0]
        return reply

    seen = list[Closing]()
    town.strategy(watch=seen.append).start(grid(town.nodes(), tamper=replay), model())
    assert [c.closed.arrived.tolist()[1] for c in seen] == [True, False, False]
    assert [c.closed.refusals[0].reason for c in seen[1:]] == [Reason.LATE] * 2
    seen.clear()
    town.strategy(watch=seen.append, run="next").start(grid(town.nodes(), tamper=replay), model())
    all_but_one(seen, Reason.NOT_SIGNED)
