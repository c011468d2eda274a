"""One run's money on the server's side: who may upload, what is billed, booked, and then told."""

import logging
import time
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from flwr.app import Array, ArrayRecord, Message
from flwr.serverapp import Grid
from flwr.serverapp.strategy import FedAvg

from pigou.errors import PigouError, require
from pigou.federation import bills
from pigou.federation.coordinator import Coordinator, Phase
from pigou.federation.flower import metrics, signing, state, uploads
from pigou.federation.flower.exchange import Answer, Exchange
from pigou.federation.flower.keeping import Closing, Ledger, Watch
from pigou.federation.flower.members import Members
from pigou.federation.flower.records import (
    CODEC,
    QUERY,
    WIDEST,
    field,
    note_in,
    trained_names,
    view,
)
from pigou.federation.intake import Reason
from pigou.federation.plan import Plan
from pigou.federation.protocol import Announcement
from pigou.federation.rounds import ClosedRound
from pigou.terms import Round

WAIT: Final = 3600.0  # seconds for replies, as in Flower's own strategies
PAUSE: Final = 1.0  # seconds between looks at who is there
LOG: Final = logging.getLogger("pigou")


class Pricing:
    """A run, from the first query to the last statement."""

    def __init__(
        self,
        plan: Plan,
        members: Members,
        *,
        ledger: Ledger | None,
        key: Ed25519PrivateKey | None,
        watch: Watch,
    ) -> None:
        self.plan, self.members, self.ledger, self.watch = plan, members, ledger, watch
        self.model = ArrayRecord()
        self.trained: tuple[str, ...] = ()
        self._exchange = Exchange(members, plan.run, key)
        self._coordinator: Coordinator | None = None
        self._letters: list[Message] = []

    @property
    def coordinator(self) -> Coordinator:
        """The run's coordinator, once it has begun."""
        if self._coordinator is None:
            raise PigouError("the strategy must be started first")
        return self._coordinator

    def open(self, grid: Grid, model: ArrayRecord, inner: FedAvg, timeout: float) -> None:
        """Announce, take reports, make terms; or go on from what the ledger has kept."""
        self.trained = _trained(model)
        shapes = tuple(view(model[name]).shape for name in self.trained)
        kept = None if self.ledger is None else self.ledger.state(self.plan.run)
        if kept is None:
            self.model, self._coordinator = model, Coordinator(self.plan, shapes)
            self._coordinator.open()
        else:
            saved = state.load(kept.content)
            self.model = state.model_of(saved)
            self._coordinator = Coordinator.resume(self.plan, shapes, saved.coordinator)
            state.restore(inner, saved)
            self._owe_again(saved.coordinator.round)
        self._ask(grid, self._gathered(grid, inner), timeout)
        if self._coordinator.phase is Phase.REPORTS:
            transfers = self._coordinator.close_reports()
            if transfers is not None:
                self._book(transfers, inner)

    def go_on(
        self, grid: Grid, model: ArrayRecord, coordinator: Coordinator, inner: FedAvg
    ) -> None:
        """Go on with a coordinator that has been at work already."""
        self.trained, self.model, self._coordinator = _trained(model), model, coordinator
        self._ask(grid, self._gathered(grid, inner), WAIT)

    def taking_part(self, grid: Grid) -> list[int]:
        """The nodes of members that take part and are there."""
        self._exchange.look(grid)
        pairs = zip(self.plan.clients, self.coordinator.eligible.tolist(), strict=True)
        eligible = {client for client, counts in pairs if counts}
        return [node for node, client in self._exchange.clients.items() if client in eligible]

    def letters(self, messages: Iterable[Message]) -> list[Message]:
        """The inner strategy's messages with what each client must be told."""
        self._letters = self._exchange.letters(messages, self.coordinator.announcement())
        return self._letters

    def collect(self, replies: Iterable[Message], key: str) -> tuple[ClosedRound, list[Message]]:
        """Close the round with what came back; what of it is to be aggregated, by client."""
        found = self._read(self._exchange.answers(self._letters, replies))
        real = (each for each in found.values() if each.update.arrays is not None)
        usual = metrics.usual(each.layout for each in real)
        for client, upload in found.items():
            if upload.update.arrays is not None and upload.layout != usual:
                told = "its records or metrics are not named like the others'"
                self.coordinator.refuse(client, Reason.NOT_ARRAYS, told)
            else:
                self.coordinator.receive(upload.update)
        closed = self.coordinator.close_round()
        self._letters = []
        weights = np.where(closed.arrived, closed.terms.weights, 0.0).tolist()
        taken = [
            uploads.for_inner(found[client], self.model, self.trained, key, weight)
            for client, weight in zip(self.plan.clients, weights, strict=True)
            if weight > 0 and not closed.void
        ]
        return closed, taken

    def settle(
        self, said: Announcement, closed: ClosedRound, new: ArrayRecord | None, inner: FedAvg
    ) -> None:
        """Take the new model, show, book, and only then owe the clients their statements."""
        if new is not None:
            self.model = self._like(new)
        self.watch(Closing(said, closed, self.model))
        if not closed.void:
            self._book(bills.bill(closed), inner)

    def close(self, grid: Grid, timeout: float) -> None:
        """The last statements, in a query of their own."""
        self._exchange.look(grid)
        owed = self._exchange.owed
        nodes = [node for node, client in self._exchange.clients.items() if owed.get(client)]
        if nodes:
            self._ask(grid, nodes, timeout)
        for client in sorted(filter(owed.get, owed)):
            LOG.warning("%s has not taken its last statements: they are in the ledger", client)

    def _gathered(self, grid: Grid, inner: FedAvg) -> list[int]:
        """Wait until enough members are there."""
        least = max(inner.min_available_nodes, self.plan.limits.min_clients)
        awaited = self.members.awaited(least)
        while len(nodes := self._exchange.look(grid)) < awaited:
            LOG.info("%d of %d nodes are there", len(nodes), awaited)
            time.sleep(PAUSE)
        return nodes

    def _ask(self, grid: Grid, nodes: Sequence[int], timeout: float) -> None:
        """A query: announcement and statements out, reports back."""
        said = self.coordinator.announcement()
        letters = self._exchange.query(nodes, said, QUERY)
        replies = list(grid.send_and_receive(letters, timeout=timeout))
        for reply in replies:
            if reply.has_content():
                self._meet(reply)
        self._exchange.look(grid)
        for answer in self._exchange.answers(letters, replies):
            self._take_report(answer)

    def _meet(self, reply: Message) -> None:
        try:
            claimed = field(note_in(reply.content), "client", str)
        except PigouError:
            return
        self.members.met(reply.metadata.src_node_id, claimed)

    def _take_report(self, answer: Answer) -> None:
        if answer.reply is None:
            self.coordinator.refuse(answer.client, Reason.FAILED, answer.why)
            return
        try:
            note = note_in(answer.reply.content)
            said = field(note, "report", bytes)
            words = signing.reported(answer.client, self.plan.run, said)
            self.members.check(answer.client, field(note, "signature", bytes), words)
            report = CODEC.decode(said)
        except PigouError as error:
            self.coordinator.refuse(answer.client, Reason.NOT_SIGNED, str(error))
            return
        self._exchange.delivered(answer.client)
        if report is None:
            return
        if getattr(report, "client", None) == answer.client:
            self.coordinator.report(report)
        else:
            self.coordinator.refuse(answer.client, Reason.NOT_ALLOWED, "a report for another")

    def _read(self, answers: Iterable[Answer]) -> dict[str, uploads.Upload]:
        """The usable replies by client; the others are refused."""
        found = {}
        for answer in answers:
            try:
                upload = uploads.read(answer, self.members, self.plan.run, self.trained)
            except uploads.Unusable as error:
                self.coordinator.refuse(answer.client, *error.objection)
            else:
                self._exchange.delivered(answer.client)
                found[answer.client] = upload
        return found

    def _book(self, settled: Round, inner: FedAvg) -> None:
        if self.ledger is None:
            self._exchange.owe(settled.statements)
            return
        kept = state.save(self.coordinator.state(), self.model, inner)
        self._exchange.owe(self.ledger.post(settled, kept).statements)

    def _owe_again(self, before: int) -> None:
        """All statements of the run: who had them already knows them by their round."""
        assert self.ledger is not None
        for round_ in range(before):
            posted = self.ledger.posted(self.plan.run, round_)
            if posted is not None:
                self._exchange.owe(posted.statements)

    def _like(self, new: ArrayRecord) -> ArrayRecord:
        """The new model in the number types of the old; arrays that are not trained stay."""
        parts = dict(self.model.items())
        for name in self.trained:
            part, kind = view(new[name]), view(self.model[name]).dtype
            parts[name] = new[name] if part.dtype == kind else Array(part.astype(kind))
        return ArrayRecord(parts)


def _trained(model: ArrayRecord) -> tuple[str, ...]:
    names = trained_names(model)
    require(names, "initial_arrays", "must hold an array of floating-point numbers", list(model))
    for name in names:
        dtype = view(model[name]).dtype
        narrow = dtype.itemsize <= WIDEST
        require(narrow, f"initial_arrays[{name!r}]", f"must have {WIDEST} bytes at most", dtype)
    return names
