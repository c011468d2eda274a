"""The local engine: against a bare loop, many replicas in one batch, and ten thousand clients.

The bare loop does the arithmetic of training alone: gradients, losses, test accuracy, clipping,
noise and the mean, without prices, bills, audits, accounts or messages. It goes client by client,
so that each product is one call of BLAS on data that are still in the cache: one product of stacks
for all clients, which is shorter to write, takes several times as long. Data are random: the
arithmetic is that of MNIST's shapes whatever the pixels are.
"""

import multiprocessing
import tracemalloc
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from benchmarks.table import Ratio, medians, seconds
from numpy.typing import NDArray

from pigou import AccuracyLoss, Setting
from pigou.federation.bills import bill
from pigou.federation.client import Cohort
from pigou.federation.conduct import Selfish
from pigou.federation.learners import SquaredSVM
from pigou.federation.local import Passed, begin, simulate
from pigou.federation.plan import Plan
from pigou.federation.replica import Replica
from pigou.federation.shards import Shards
from pigou.federation.task import Supervised
from pigou.mechanisms import Pigouvian

CLIENTS, SAMPLES, FEATURES, ROUNDS, TESTS = 100, 1000, 785, 30, 10_000
REPLICAS = 32
CLIP, STEP, STRENGTH = 1.0, 0.05, 0.01
MANY = (10_000, 20, 10)  # clients, samples each, rounds
STATUS = Path("/proc/self/status")  # Linux: what the process holds, and the most that it held
Numbers = NDArray[np.float32]


def ratios() -> Iterable[Ratio]:
    """The engine's three bounds."""
    task = made_task(CLIENTS, SAMPLES)
    bare, one = medians(lambda: bare_loop(task, ROUNDS), lambda: run(task, ROUNDS))
    sizes = f"{CLIENTS} clients x {SAMPLES} samples x {FEATURES} features, {ROUNDS} rounds"
    note = f"{one:.2f} s against {bare:.2f} s; {sizes}"
    yield Ratio("local engine over a bare loop", one / bare, at_most=1.5, note=note)
    one, batch = in_a_batch(task, write_statements=True, repeats=1)
    note = f"{one:.2f} s alone, {batch:.3f} s in a batch of {REPLICAS}, both with statements"
    yield Ratio("a billed replica alone over one in a batch", one / batch, note=note)
    one, batch = in_a_batch(task, write_statements=False, repeats=3)
    note = f"{one:.2f} s alone, {batch:.3f} s in a batch of {REPLICAS}, of a study: bills settled"
    yield Ratio("a replica alone over one in a batch", one / batch, at_least=3.0, note=note)
    rate = ROUNDS * 4.0 * CLIENTS * SAMPLES * FEATURES / batch / 1e9
    peak = sgemm_rate()
    note = f"{rate:.0f} of {peak:.0f} GFLOP/s, counting the two products of training alone"
    yield Ratio("share of this machine's sgemm rate", rate / peak, note=note)
    data, most = memory_of_many()
    clients, samples, rounds = MANY
    sizes = f"{clients:,} clients x {samples} samples x {FEATURES} features, {rounds} rounds"
    note = f"{most:,.0f} MB allocated, data {data:,.0f} MB of it; {sizes}"
    yield Ratio("memory over the data", most / data, at_most=2.5, note=note)
    if STATUS.exists():
        before, peak = resident_of_many()
        note = f"peak resident set {peak:,.0f} MB, {before:,.0f} MB of it before any data"
        yield Ratio("resident set over the data", peak / data, at_most=2.5, note=note)


def in_a_batch(task: Supervised, *, write_statements: bool, repeats: int) -> tuple[float, float]:
    """Seconds of one replica alone, and per replica of a batch."""
    one, batch = medians(
        lambda: run(task, ROUNDS, 1, write_statements=write_statements),
        lambda: run(task, ROUNDS, REPLICAS, write_statements=write_statements),
        repeats=repeats,
    )
    return one, batch / REPLICAS


def made_task(clients: int, samples: int) -> Supervised:
    """Random data in the shapes of MNIST."""
    rng = np.random.default_rng(1)
    x = random_features(rng, clients * samples)
    y = np.sign(rng.standard_normal(clients * samples, dtype=np.float32))
    starts = np.arange(clients + 1, dtype=np.int64) * samples
    return Supervised(
        learner=SquaredSVM(FEATURES, STRENGTH),
        shards=Shards(x, y, starts),
        test_x=random_features(rng, TESTS),
        test_y=np.sign(rng.standard_normal(TESTS, dtype=np.float32)),
        weights=np.full(clients, 1.0 / clients),
        clip=CLIP,
        step_size=STEP,
    )


def random_features(rng: np.random.Generator, n: int) -> Numbers:
    """Like pixels: in [0, 1], with a column of ones."""
    x = rng.random((n, FEATURES), dtype=np.float32)
    x[:, -1] = 1.0
    return x


def run(task: Supervised, rounds: int, replicas: int = 1, *, write_statements: bool = True) -> None:
    """Replicas that differ in their noise and types, priced and settled in every round.

    Statements, with digests of every upload, are for rounds that are owed; replicas of a study
    have none.
    """
    n = task.n
    setting = Setting(n, AccuracyLoss(1.0, 1.0), 0.001)
    names = tuple(map(str, range(n)))
    running = []
    for k in range(replicas):
        plan = Plan(
            consortium="bench",
            run=str(k),
            clients=names,
            setting=setting,
            mechanism=Pigouvian(rounds=rounds),
        )
        alpha = np.random.default_rng(k).uniform(0.1, 0.9, n)
        cohort = Cohort.of(np.arange(n), alpha, Selfish())
        running.append(begin(task, Replica(plan=plan, cohorts=(cohort,), seed=k)))

    def watch(passed: Passed) -> None:
        if write_statements:
            bill(passed.closed)

    simulate(task, running, watch)


def bare_loop(task: Supervised, rounds: int) -> float:
    """One run in plain NumPy."""
    n, d = task.n, task.dim
    x = task.shards.x.reshape(n, -1, d)
    y = task.shards.y.reshape(n, -1)
    rng = np.random.default_rng(0)
    sigma = np.full((n, 1), 0.1, np.float32)
    model, update = np.zeros(d, np.float32), np.empty((n, d), np.float32)
    total = 0.0
    for _ in range(rounds):
        for i in range(n):
            gaps = np.maximum(0.0, 1.0 - y[i] * (x[i] @ model))
            total += 0.5 * float(gaps @ gaps) / (n * gaps.size)
            update[i] = (-y[i] * gaps / np.float32(gaps.size)) @ x[i]
        update += STRENGTH * model
        update *= -STEP
        total += 0.5 * STRENGTH * float(model @ model)
        length = np.sqrt(np.square(update).sum(axis=1, keepdims=True))
        update *= np.minimum(1.0, CLIP / length)
        noise = rng.standard_normal((n, d), dtype=np.float32)
        total += float(((task.test_x @ model >= 0) == (task.test_y > 0)).mean())
        model = (model + update + sigma * noise).mean(axis=0)
    return total


def sgemm_rate() -> float:
    """GFLOP/s of a large float32 product."""
    size = 2000
    a = np.random.default_rng(0).standard_normal((size, size), dtype=np.float32)
    return 2.0 * size**3 / seconds(lambda: a @ a) / 1e9


def memory_of_many() -> tuple[float, float]:
    """Megabytes of data, and the most that was allocated with them while many clients ran."""
    clients, samples, rounds = MANY
    tracemalloc.start()
    try:
        task = made_task(clients, samples)
        data = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        run(task, rounds)
        return data / 1e6, tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def resident_of_many() -> tuple[float, float]:
    """Megabytes that a process of its own holds before the many clients, and the most with them."""
    with multiprocessing.get_context("spawn").Pool(1) as process:
        return process.apply(_resident_of_many)


def _resident_of_many() -> tuple[float, float]:
    clients, samples, rounds = MANY
    before = resident("VmRSS")
    run(made_task(clients, samples), rounds)
    return before, resident("VmHWM")


def resident(entry: str) -> float:
    """Megabytes of one line of the process's status."""
    lines = STATUS.read_text(encoding="ascii").splitlines()
    (line,) = (line for line in lines if line.startswith(f"{entry}:"))
    return float(line.split()[1]) * 1024 / 1e6
