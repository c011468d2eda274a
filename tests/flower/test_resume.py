"""A server or a client that starts again: no posted round is lost, nothing counts twice."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flwr.app import Context, RecordDict
from flwr.serverapp.strategy import FedAdam, FedAvgM, Strategy
from tests.flower.hospitals import Town, grid, model

from pigou.federation.coordinator import Phase
from pigou.federation.flower.book import Book, Open, Release, Shelf, codec
from pigou.federation.flower.keeping import Closing
from pigou.federation.flower.state import load, restore, save
from pigou.mechanisms import Groves, Pigouvian, PostedPrice
from pigou.mechanisms.base import Mechanism


class Crash(BaseException):
    """The server's machine goes down."""


@pytest.fixture
def town(tmp_path: Path) -> Town:
    return Town.of(tmp_path)


def crashing(after: int) -> Any:
    seen: list[Closing] = []

    def watch(closing: Closing) -> None:
        seen.append(closing)
        if len(seen) > after:
            raise Crash

    return watch


@pytest.mark.parametrize("mechanism", [Pigouvian, PostedPrice, Groves])
@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_server_that_starts_again_loses_no_posted_round(
    town: Town, mechanism: type[Mechanism], after: int
) -> None:
    """It falls in the round after ``after``, when uploads were in, before anything was booked."""
    rule: Mechanism = mechanism(rounds=3, money=100.0)  # type: ignore[call-arg]
    with town.ledger() as ledger, pytest.raises(Crash):
        strategy = town.strategy(ledger, mechanism=rule, watch=crashing(after))
        strategy.start(grid(town.nodes()), model())
    seen: list[Closing] = []
    with town.ledger() as ledger:
        before = [ledger.posted("trial", round_) for round_ in range(4)]
        strategy = town.strategy(ledger, mechanism=rule, watch=seen.append)
        strategy.start(grid(town.nodes()), model())
        assert strategy.coordinator.phase is Phase.CLOSED
        assert strategy.coordinator.stopped == ""
        assert [c.announcement.round for c in seen] == list(range(after + 1, 4))
        after_all = [ledger.posted("trial", round_) for round_ in range(4)]
        for old, new in zip(before, after_all, strict=True):
            assert old is None or (new is not None and old.statements == new.statements)
        assert [posted is not None for posted in after_all[1:]] == [True] * 3
        for hospital in town.hospitals:
            bills = hospital.book.bills
            first = 0 if mechanism is Groves else 1  # which has report transfers
            assert [b.statement.round for b in bills] == list(range(first, 4))
            assert [b.objection for b in bills] == [""] * len(bills)
            assert sum(b.statement.net for b in bills) == ledger.balance(hospital.name)
            # the uploads that the crash took were made, and count
            rounds = [each.round for each in hospital.book.releases]
            assert rounds == sorted([1, 2, 3, after + 1])
        assert sum(each.amount for each in ledger.balances()) == 0


def test_a_server_that_starts_after_the_end_only_delivers(town: Town) -> None:
    lost = town.nodes()
    with town.ledger() as ledger:

        def before_closing(closing: Closing) -> None:
            if closing.announcement.round == 3:
                for node in lost:
                    node.down = True

        town.strategy(ledger, watch=before_closing).start(grid(lost), model())
    assert [b.statement.round for b in town.hospitals[0].book.bills] == [1, 2]
    seen: list[Closing] = []
    with town.ledger() as ledger:
        result = town.strategy(ledger, watch=seen.append).start(grid(town.nodes()), model())
    assert seen == []
    assert float(result.arrays["scale"].numpy()) != 0.5
    for hospital in town.hospitals:
        assert [b.statement.round for b in hospital.book.bills] == [1, 2, 3]


def test_a_client_that_starts_again_remembers_everything(town: Town) -> None:
    """Its node is new in every round: nothing but the file is left."""
    nodes = town.nodes()

    def restart(_: Closing) -> None:
        for place, hospital in enumerate(town.hospitals):
            nodes[place].state = RecordDict()
            nodes[place].app = hospital.node().app

    town.strategy(watch=restart).start(grid(nodes), model())
    for hospital in town.hospitals:
        book = hospital.book
        assert [b.statement.round for b in book.bills] == [1, 2, 3]
        assert [b.objection for b in book.bills] == [""] * 3
        assert len(book.releases) == 3


def test_a_message_that_comes_twice_gets_the_same_play_and_counts_each_release(
    town: Town,
) -> None:
    where = grid(town.nodes())
    town.strategy(mechanism=Pigouvian(rounds=1)).start(where, model())
    train = [m for m in where.sent if m.metadata.message_type == "train"]
    (town.hospitals[0].folder / "book.json").unlink()  # as before the round
    where.nodes[100].state.clear()
    mine = next(m for m in train if m.metadata.dst_node_id == 100)
    for _ in range(2):
        (reply,) = where.send_and_receive([mine])
        assert reply.has_content()
    book = town.hospitals[0].book
    assert len({each.upload for each in book.releases}) == 2  # fresh noise: each one reveals more
    assert len({each.sigma for each in book.releases}) == 1
    assert len(book.open) == 1


def test_the_file_is_the_truth_and_a_damaged_one_is_refused(town: Town) -> None:
    path = town.folder / "book.json"
    context = Context(1, 1, {}, RecordDict(), {})
    shelf = Shelf("St. Anna", path, context, codec())
    book = Book(client="St. Anna").released(once := Release("r", 1, 1, 0.5, "d", 2.0))
    shelf.put(book)
    context.state.clear()
    again = shelf.take()
    assert again.releases == book.releases
    assert again.released(once).releases == book.releases
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match="readable"):
        shelf.take()
    assert Shelf("Other", None, context, codec()).take().client == "Other"
    assert Open.__dataclass_fields__.keys() == {"announcement", "play", "sent"}


@pytest.mark.parametrize("make", [FedAdam, FedAvgM])
def test_momentum_outlives_a_restart(town: Town, make: Any) -> None:
    def inner() -> Strategy:
        more = {"server_momentum": 0.9} if make is FedAvgM else {}
        made: Strategy = make(fraction_evaluate=0.0, min_available_nodes=3, **more)
        return made

    first = inner()
    strategy = town.strategy(inner=first)
    result = strategy.start(grid(town.nodes()), model())
    kept = load(save(strategy.coordinator.state(), result.arrays, first))
    second = inner()
    restore(second, kept)
    names = ("m_t", "v_t") if make is FedAdam else ("momentum_vector",)
    for name in names:
        old, new = getattr(first, name), getattr(second, name)
        pairs = (
            zip(old.values(), new.values(), strict=True)
            if isinstance(old, dict)
            else zip(old, new, strict=True)
        )
        for one, other in pairs:
            np.testing.assert_array_equal(one, other)
