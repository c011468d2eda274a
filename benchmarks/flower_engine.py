"""Flower: what pricing adds to its rounds, how far behind the local engine it is, and memory.

Rounds are those of a hundred clients with MNIST's shapes on the simulation engine. Plain FedAvg
runs between the priced runs, on the same nodes, with the same training and no noise. Billing's
memory is measured on replies that are there already, with an inner strategy that does nothing.
"""

import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from benchmarks.local_engine import ROUNDS, made_task
from benchmarks.local_engine import run as run_locally
from benchmarks.table import Ratio, seconds
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.proto.node_pb2 import NodeInfo
from flwr.serverapp import Grid
from flwr.serverapp.strategy import FedAvg
from flwr.supercore.task_identity import TaskIdentity

from pigou import AccuracyLoss, Setting
from pigou.federation.client import Cohort
from pigou.federation.conduct import Selfish
from pigou.federation.coordinator import Phase
from pigou.federation.flower.engine import MODEL, OnGrid
from pigou.federation.flower.grid import MembersOnly
from pigou.federation.flower.members import Simulated
from pigou.federation.flower.records import CODEC, PIGOU, QUERY, only_arrays, upload_digest, views
from pigou.federation.flower.simulated import Trainer, World, simulated_app
from pigou.federation.flower.simulation import Stored, simulated
from pigou.federation.flower.strategy import PricedStrategy
from pigou.federation.plan import Plan
from pigou.federation.protocol import Report
from pigou.federation.replica import Replica
from pigou.federation.task import Supervised
from pigou.mechanisms import Pigouvian

CLIENTS, SAMPLES = 100, 1000
PAIRS, SHORT = 5, 4  # interleaved pairs of runs, and their rounds
PARAMETERS, HOSPITALS = 10_000_000, 20
PLAIN = "train.plain"
LONG = "long"


def ratios() -> Iterable[Ratio]:
    """The engine's three bounds."""
    yield memory()
    task = made_task(CLIENTS, SAMPLES)
    here = seconds(lambda: run_locally(task, ROUNDS), 3)
    rounds, whole, measured = on_flower(task)
    sizes = f"{CLIENTS} clients x {SAMPLES} samples x {task.dim} features, {ROUNDS} rounds"
    note = f"{rounds:.1f} s over {here:.2f} s; with Ray's start {whole:.1f} s; {sizes}"
    yield Ratio(
        "Flower's simulation engine over the local engine", rounds / here, at_least=20.0, note=note
    )
    added = statistics.median(measured.added)
    plain = statistics.median(measured.plain)
    note = f"{1e3 * added:.0f} ms of a round of {1e3 * plain:.0f} ms; the median of {PAIRS} pairs"
    what = "pricing: server seconds added, over a round of FedAvg"
    yield Ratio(what, added / plain, at_most=0.1, note=note)
    priced = statistics.median(measured.priced)
    note = f"{1e3 * priced:.0f} ms over {1e3 * plain:.0f} ms, with what clients do for it"
    yield Ratio("a priced round over a round of FedAvg", priced / plain, note=note)


@dataclass
class Pairs:
    """Seconds per round, run by run."""

    added: list[float] = field(default_factory=list)  # on the server, by pricing
    plain: list[float] = field(default_factory=list)
    priced: list[float] = field(default_factory=list)
    spent: float = 0.0


class Plain(FedAvg):
    """FedAvg, in messages of their own kind."""

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """The same messages to the app's plain function."""
        for message in super().configure_train(server_round, arrays, config, grid):
            yield Message(message.content, message.metadata.dst_node_id, PLAIN)


class Clock(MembersOnly):
    """A grid that adds up how long the server waits."""

    def __init__(self, grid: Grid) -> None:
        super().__init__(grid, lambda inner: list(inner.get_node_ids()))
        self.waited = 0.0

    def get_nodes(self) -> Iterable[NodeInfo]:
        """As the grid itself."""
        return self._grid.get_nodes()

    def send_and_receive(
        self, messages: Iterable[Message], *, timeout: float | None = None
    ) -> Iterable[Message]:
        """Timed, once the messages are made."""
        made, start = list(messages), time.perf_counter()
        replies = super().send_and_receive(made, timeout=timeout)
        self.waited += time.perf_counter() - start
        return replies


class Both(ClientApp):
    """One node, priced or not, by the kind of the message."""

    def __init__(self, priced: ClientApp, train: Trainer) -> None:
        super().__init__()
        self._priced, self._train = priced, train

    def __call__(self, message: Message, context: Context) -> Message:
        if message.metadata.message_type != PLAIN:
            return self._priced(message, context)
        _, record = only_arrays(message.content)
        (trained,) = self._train(int(context.node_config["partition-id"]), views(record, record))
        arrays = ArrayRecord({MODEL: Array(trained)})
        metrics = MetricRecord({"num-examples": 1})
        return Message(RecordDict({"arrays": arrays, "metrics": metrics}), reply_to=message)


def replica(run: str, n: int, rounds: int) -> Replica:
    """A run of selfish clients, as in the local engine's benchmark."""
    plan = Plan(
        consortium="bench",
        run=run,
        clients=tuple(map(str, range(n))),
        setting=Setting(n, AccuracyLoss(1.0, 1.0), 0.001),
        mechanism=Pigouvian(rounds=rounds),
    )
    alpha = np.random.default_rng(0).uniform(0.1, 0.9, n)
    return Replica(plan=plan, cohorts=(Cohort.of(np.arange(n), alpha, Selfish()),), seed=0)


def on_flower(task: Supervised) -> tuple[float, float, Pairs]:
    """Seconds of the long run's rounds, of all of it with Ray's start, and the pairs'."""
    long = replica(LONG, CLIENTS, ROUNDS)
    short = [replica(f"pair {k}", CLIENTS, SHORT) for k in range(PAIRS)]
    worlds = {r.plan.run: World.of(r, r.cohorts, task.clip) for r in (long, *short)}

    def work(engine: OnGrid) -> tuple[float, Pairs]:
        running = engine.begin(task, long)
        start = time.perf_counter()
        engine.simulate(task, [running], lambda _: None)
        took = time.perf_counter() - start
        return took, pairs(task, engine.grid, short)

    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        train = Stored.of(task, Path(folder))
        app = Both(simulated_app(worlds, train), train)
        rounds, measured = simulated(CLIENTS, app, work)
    return rounds, time.perf_counter() - start - measured.spent, measured


def pairs(task: Supervised, grid: Grid, short: list[Replica]) -> Pairs:
    """FedAvg without prices and with them, in turns."""
    found, begun = Pairs(), time.perf_counter()
    for each in short:
        model = ArrayRecord({MODEL: Array(task.initial())})
        plain = Plain(fraction_evaluate=0.0)
        whole, busy = timed(grid, partial(plain.start, initial_arrays=model, num_rounds=SHORT))
        strategy = PricedStrategy.of(
            each.plan, FedAvg(fraction_evaluate=0.0), Simulated(each.plan.clients)
        )
        strategy.open(grid, model)
        priced, priced_busy = timed(grid, strategy.rounds)
        strategy.close(grid)
        found.plain.append(whole / SHORT)
        found.priced.append(priced / SHORT)
        found.added.append((priced_busy - busy) / SHORT)
    found.spent = time.perf_counter() - begun
    return found


def timed(grid: Grid, call: Callable[[Clock], object]) -> tuple[float, float]:
    """Seconds that a call takes, and those of them in which the server did not wait."""
    clock, start = Clock(grid), time.perf_counter()
    call(clock)
    took = time.perf_counter() - start
    return took, took - clock.waited


class Idle(FedAvg):
    """An inner strategy whose aggregate is the first reply: it takes no memory."""

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """One of the replies."""
        return only_arrays(next(iter(replies)).content)[1], None


class Ready(MembersOnly):
    """A grid of clients whose replies to one round are there already."""

    def __init__(self, uploads: list[ArrayRecord]) -> None:
        TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 1, 1
        self.uploads = uploads

    def get_node_ids(self) -> Iterable[int]:
        """Numbered from 10."""
        return range(10, 10 + len(self.uploads))

    def get_nodes(self) -> Iterable[NodeInfo]:
        """The same."""
        return [NodeInfo(node_id=node) for node in self.get_node_ids()]

    def send_and_receive(
        self, messages: Iterable[Message], *, timeout: float | None = None
    ) -> Iterable[Message]:
        """What each node would say."""
        return [self._reply(message) for message in messages]

    def _reply(self, message: Message) -> Message:
        place = message.metadata.dst_node_id - 10
        message.metadata.__dict__["_message_id"] = f"{message.metadata.message_type} {place}"
        note = ConfigRecord({"client": str(place), "signature": b""})
        if message.metadata.message_type == QUERY:
            alpha = Report("memory", str(place), 0.5)
            note["report"] = CODEC.encode(alpha)
            return Message(RecordDict({PIGOU: note}), reply_to=message)
        record = self.uploads[place]
        note["round"], note["attempt"], note["note"] = 1, 1, ""
        note["upload"] = upload_digest(views(record, record))
        content = RecordDict({"arrays": record, PIGOU: note})
        content["metrics"] = MetricRecord({"num-examples": 1})
        return Message(content, reply_to=message)


def memory() -> Ratio:
    """What closing and billing one round allocates, in models."""
    rng = np.random.default_rng(0)
    sizes = [PARAMETERS // 2, PARAMETERS // 4, PARAMETERS // 4]  # a few large layers

    def upload() -> ArrayRecord:
        layers = [rng.standard_normal(size, dtype=np.float32).reshape(-1, 500) for size in sizes]
        return ArrayRecord({str(k): Array(layer) for k, layer in enumerate(layers)})

    uploads = [upload() for _ in range(HOSPITALS)]
    grid = Ready(uploads)
    plan = replica("memory", HOSPITALS, 1).plan
    strategy = PricedStrategy.of(plan, Idle(fraction_evaluate=0.0), Simulated(plan.clients))
    strategy.open(grid, upload())
    letters = strategy.configure_train(1, strategy.model, ConfigRecord(), grid)
    replies = grid.send_and_receive(letters)
    tracemalloc.start()
    try:
        strategy.aggregate_train(1, replies)
        extra = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert strategy.coordinator.phase is Phase.CLOSED
    note = f"{extra / 1e6:.1f} MB; {PARAMETERS:,} parameters in float32, {HOSPITALS} clients"
    what = "billing a round on Flower: memory beyond the replies, in models"
    return Ratio(what, extra / (4 * PARAMETERS), at_most=0.2, note=note)
