"""A run never ends in an exception, whatever clients report and upload, under any mechanism."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from tests.federations import plan
from tests.strategies import rngs

from pigou import AccuracyLoss, Setting
from pigou.federation.audit import AuditRule
from pigou.federation.bills import bill
from pigou.federation.coordinator import Coordinator, Phase
from pigou.federation.plan import Limits, Plan
from pigou.federation.protocol import Report, Update
from pigou.mechanisms import Groves, Menu, Pigouvian, PostedPrice, Unpriced
from pigou.mechanisms.base import Mechanism
from pigou.paper.pricing import PaperPricing
from pigou.paper.two_types.mechanism import PaperTwoTypes
from pigou.population import two_point

TYPES = two_point(0.25, 0.75, 0.5)
KINDS: dict[str, Callable[..., Mechanism]] = {
    "unpriced": lambda _, **contract: Unpriced(**contract),
    "pigouvian": lambda _, **contract: Pigouvian(**contract),
    "posted": lambda _, **contract: PostedPrice(**contract),
    "groves": lambda _, **contract: Groves(**contract),
    "groves with spread": lambda _, **contract: Groves(report_spread=True, **contract),
    "menu": lambda _, **contract: Menu(TYPES, **contract),
    "paper": lambda _, rounds, **others: PaperPricing(rounds=rounds),
    "two types": lambda setting, rounds, **others: PaperTwoTypes.for_setting(
        setting=setting, population=TYPES, rounds=rounds
    ),
}
ALIKE = {"menu", "two types"}  # made for clients of equal weights, and for the types of TYPES


def rules(kind: str, rng: np.random.Generator) -> Plan:
    """A plan of any size, with any limits."""
    n = int(rng.integers(3, 7))
    weights = "mean" if kind in ALIKE or rng.random() < 0.5 else rng.dirichlet(np.ones(n))
    loss = AccuracyLoss(float(rng.choice([0.0, 1.0, 16.0])), float(rng.choice([0.1, 4.0])))
    spread = 0.0 if kind == "two types" else float(rng.choice([0.0, 0.1]))
    setting = Setting(n, loss, float(10.0 ** rng.uniform(-3, 1)), weights, spread)
    contract = {
        "rounds": int(rng.integers(1, 4)),
        "money": float(10.0 ** rng.uniform(-3, 6)),
        "refund": str(rng.choice(["zero-sum", "constant"])),
    }
    limits = Limits(
        min_clients=int(rng.integers(1, n + 1)),
        max_attempts=2,
        largest=float(rng.choice([1e-3, 1e6, 1e300])),
    )
    audit = AuditRule(bar_refund=bool(rng.integers(2)))
    return plan(setting, KINDS[kind](setting, **contract), limits=limits, audit=audit)


def reported(made: Plan, kind: str, rng: np.random.Generator) -> Coordinator:
    """A run in which some report nothing, and others an end of the types."""
    coordinator = Coordinator(made, ((int(rng.integers(1, 5)),),))
    coordinator.open()
    for name in made.clients:
        ends = [0.25, 0.75] if kind in ALIKE else [0.0, 1.0, float(rng.random())]
        alpha = float(rng.choice(ends))
        value: Any = (alpha, 0.1) if kind == "groves with spread" else alpha
        if made.mechanism.report_space is not None and rng.random() < 0.9:
            assert coordinator.report(Report(made.run, name, value)) is None
    coordinator.close_reports()
    return coordinator


def upload_any(coordinator: Coordinator, rng: np.random.Generator) -> None:
    """Uploads all but alike, worlds apart, at the limit, beyond it, or none."""
    said, (shape,) = coordinator.announcement(), coordinator.shapes
    common = 10.0 ** rng.uniform(-5, 3) * rng.standard_normal(shape)
    scale = float(rng.choice([0.0, 1e-200, 1e-5, 1.0, 1e3]))
    for name in said.clients:
        own = common + scale * rng.standard_normal(shape)
        at_limit = np.where(rng.random(shape) < 0.5, -said.largest, said.largest)
        pick = int(rng.choice(6, p=[0.15, 0.1, 0.1, 0.05, 0.05, 0.55]))
        made = [None, at_limit, 1e100 * own, np.full(shape, np.nan), np.full(shape, 1e308), own]
        array = made[pick]
        if array is not None:
            coordinator.receive(Update(said.run, said.round, said.attempt, name, (array,)))


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=60)
@given(rng=rngs())
def test_a_run_comes_to_an_end_and_says_why(kind: str, rng: np.random.Generator) -> None:
    coordinator = reported(rules(kind, rng), kind, rng)
    closed_rounds = 0
    while coordinator.phase is Phase.ROUND:
        upload_any(coordinator, rng)
        closed = coordinator.close_round()
        if closed.void:
            assert closed.note.startswith("void: ")
            continue
        closed_rounds += 1
        posted = bill(closed)
        assert closed.judgement is not None or closed.note.startswith("nobody is billed: ")
        assert closed.terms.refund == "constant" or posted.reserve == 0
        assert all(np.isfinite(layer).all() for layer in closed.aggregate())
    assert bool(coordinator.stopped) == (closed_rounds < coordinator.plan.mechanism.rounds)


def test_one_client_cannot_end_a_run_whose_limit_is_beyond_all_squares() -> None:
    setting = Setting(4, AccuracyLoss(1.0, 1.0), 0.5)
    for mechanism in (Unpriced(), Pigouvian()):
        made = plan(setting, mechanism, limits=Limits(largest=1e308))
        coordinator = Coordinator(made, ((3,),))
        coordinator.open()
        for name in made.clients:
            coordinator.report(Report("run", name, 0.5))
        coordinator.close_reports()
        largest = coordinator.announcement().largest
        beyond = Update("run", 1, 1, "client 0", (np.full(3, 1e300),))
        assert coordinator.receive(beyond) is not None
        for k, name in enumerate(made.clients):
            array = np.full(3, (-1) ** k * largest)
            assert coordinator.receive(Update("run", 1, 1, name, (array,))) is None
        assert coordinator.close_round().judgement is not None


def test_a_missing_report_where_there_is_no_rule_for_absence_is_a_reason() -> None:
    setting = Setting(4, AccuracyLoss(1.0, 1.0), 0.5)
    made = plan(setting, KINDS["two types"](setting, rounds=1))
    coordinator = Coordinator(made, ((3,),))
    coordinator.open()
    for name in made.clients[1:]:
        coordinator.report(Report("run", name, 0.25))
    assert coordinator.close_reports() is None
    assert coordinator.phase is Phase.CLOSED
    assert coordinator.stopped.startswith("no terms for these reports: ")
