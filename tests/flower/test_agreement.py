"""Engines agree: the local engine and Flower give the same statements, to rounding."""

from collections.abc import Sequence

import numpy as np
import pytest
from tests.federations import DIGITS_LOSS, DIGITS_SCALE, digits_task, plan
from tests.flower.inprocess import InProcess, Node

from pigou import Setting
from pigou.federation.bills import bill
from pigou.federation.client import Cohort
from pigou.federation.conduct import (
    Conduct,
    Copycat,
    Dropout,
    Learning,
    Lying,
    Obedient,
    Ring,
    Selfish,
    Silent,
)
from pigou.federation.flower.engine import OnGrid
from pigou.federation.flower.records import Model
from pigou.federation.flower.simulated import World, simulated_app
from pigou.federation.local import Ended, Passed, Task, begin, simulate
from pigou.federation.plan import Limits
from pigou.federation.replica import Replica
from pigou.mechanisms import Groves, Pigouvian, PostedPrice, Unpriced
from pigou.mechanisms.base import Mechanism
from pigou.terms import Statement

DIGITS = Setting(20, DIGITS_LOSS, DIGITS_SCALE, spread=2e-5, divergence=6e-6)
DIGITS_ALPHA = np.random.default_rng(3).uniform(0.1, 0.9, 20)


def local(task: Task, replica: Replica) -> tuple[list[Passed], Ended]:
    seen: list[Passed] = []
    return seen, simulate(task, [begin(task, replica)], seen.append)[0]


def in_process(task: Task, replica: Replica) -> tuple[list[Passed], Ended]:
    def train(place: int, model: Model) -> Model:
        return (task.train(model[0][np.newaxis])[0][0, place],)

    start = World.of(replica, replica.cohorts, task.clip)
    app = simulated_app({replica.plan.run: start}, train)
    nodes = [Node(app, config={"partition-id": place}) for place in range(task.n)]
    seen: list[Passed] = []
    engine = OnGrid(InProcess(nodes))
    running = engine.begin(task, replica)
    return seen, engine.simulate(task, [running], seen.append)[0]


def largest_difference(one: Sequence[Statement], other: Sequence[Statement]) -> float:
    """Of charges and refunds, over what is allowed: 1e-5 of gross charges plus a micro-unit."""
    assert [s.client for s in one] == [s.client for s in other]
    worst = 0.0
    for mine, theirs in zip(one, other, strict=True):
        allowed = 1e-5 * mine.total_charge + 1
        away = max(abs(mine.charge - theirs.charge), abs(mine.refund - theirs.refund))
        worst = max(worst, away / allowed)
    return worst


def cohorts(conducts: list[Conduct]) -> tuple[Cohort, ...]:
    each = 20 // len(conducts)
    groups = np.split(np.arange(20), range(each, each * len(conducts), each))
    return tuple(
        Cohort.of(members, DIGITS_ALPHA[members], conduct, cap=cap)
        for members, conduct, cap in zip(groups, conducts, [3e3, *[np.inf] * 19], strict=False)
    )


MIXED: list[Conduct] = [
    Selfish(),
    Dropout(rate=0.5),
    Ring(),
    Copycat(noise_factor=1.0),
    Silent(),
    Learning(),
    Lying(claim=0.9),
]


@pytest.mark.parametrize(
    ("mechanism", "conducts"),
    [
        (Pigouvian(rounds=5, money=100.0), [Obedient()]),
        (PostedPrice(rounds=6, money=100.0), MIXED),
        (Groves(rounds=4, money=100.0), MIXED),
        (Unpriced(rounds=2), MIXED),
    ],
)
def test_local_and_flower_in_process_give_the_same_statements(
    mechanism: Mechanism, conducts: list[Conduct]
) -> None:
    task = digits_task()
    rules = plan(DIGITS, mechanism, limits=Limits(min_clients=2))
    replica = Replica(plan=rules, cohorts=cohorts(conducts), seed=5)
    here, ended = local(task, replica)
    there, over = in_process(task, replica)
    assert len(here) == len(there) == mechanism.rounds
    worst = 0.0
    for one, other in zip(here, there, strict=True):
        np.testing.assert_array_equal(one.closed.arrived, other.closed.arrived)
        np.testing.assert_allclose(one.plays.sigma, other.plays.sigma, rtol=1e-4)
        bills = bill(one.closed).statements, bill(other.closed).statements
        worst = max(worst, largest_difference(*bills))
    print(f"largest difference: {worst:.3g} of what is allowed")
    assert worst <= 1
    np.testing.assert_allclose(ended.model, over.model, atol=2e-6)
