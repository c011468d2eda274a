"""Five clients, a coordinator, and uploads of noise: what tests of the server play with."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pigou import AccuracyLoss, Setting
from pigou.federation.coordinator import Coordinator
from pigou.federation.plan import Plan
from pigou.federation.protocol import Report, Update
from pigou.federation.rounds import ClosedRound
from pigou.mechanisms.base import Mechanism

D = 600
ALPHA = [0.2, 0.35, 0.5, 0.65, 0.8]
NAMES = ("a", "b", "c", "d", "e")


def plan(mechanism: Mechanism, **changes: object) -> Plan:
    setting = Setting(5, AccuracyLoss.bound(16.0, 2.0), 0.5)
    made = Plan(consortium="club", run="run", clients=NAMES, setting=setting, mechanism=mechanism)
    return replace(made, **changes)  # type: ignore[arg-type]


def opened(rules: Plan) -> Coordinator:
    coordinator = Coordinator(rules, ((D,),))
    coordinator.open()
    if rules.mechanism.report_space is not None:
        for name, alpha in zip(NAMES, ALPHA, strict=True):
            assert coordinator.report(Report("run", name, alpha)) is None
    coordinator.close_reports()
    return coordinator


def update(coordinator: Coordinator, name: str, seed: int, scale: float = 0.2) -> Update:
    said = coordinator.announcement()
    noise = np.random.default_rng([seed, NAMES.index(name)]).normal(0, scale, D)
    return Update("run", said.round, said.attempt, name, (noise,))


def play(coordinator: Coordinator, names: Sequence[str] = NAMES, seed: int = 0) -> ClosedRound:
    for name in names:
        assert coordinator.receive(update(coordinator, name, seed)) is None
    return coordinator.close_round()
