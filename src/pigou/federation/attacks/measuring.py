"""What cheats pay, gain and cost the others, measured on the task itself (section 9).

Each attack is run beside the same run in which its clients are honest, with the same seeds, and
under both rules: refunds for all, and none for clients that fail the audit. A client's cost is

    (1 - alpha) F(w_T) + mean over rounds of alpha a / sigma + its net bills and report transfers,

with F the training loss that was really reached, so that a copy's missing progress counts. A copy
of the model reveals nothing and has no privacy cost, whatever noise it carries; nor has a client
that stays away, which is shown beside the attacks: that much anybody can save.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pigou.checks import FloatArray, count, sensitivities
from pigou.errors import require
from pigou.federation.audit import AuditRule
from pigou.federation.client import Cohort
from pigou.federation.conduct import Conduct, Copycat, Dropout, Obedient, Ring
from pigou.federation.local import Passed, begin, simulate
from pigou.federation.plan import Plan
from pigou.federation.replica import Replica, Running
from pigou.federation.shards import Shards
from pigou.federation.task import Supervised
from pigou.game import Setting, privacy_costs
from pigou.mechanisms.base import Mechanism
from pigou.terms import MICRO

LOUD: Final = 10.0  # times what is best for a ring
SYBIL_TYPE: Final = 1.0  # what a Sybil reports: its owner counts once in M already


@dataclass(frozen=True, kw_only=True, eq=False)
class Scene:
    """The honest federation that is attacked: client 0, or clients 0, 1, ... attack."""

    task: Supervised
    setting: Setting
    alpha: FloatArray
    mechanism: Mechanism
    family_error: float = 0.01

    def __post_init__(self) -> None:
        n = self.setting.n
        require(n >= 5, "n", "must be 5 or more: a ring, and others to compare with", n)
        require(self.task.n == n, "task", f"must hold data for {n} clients", self.task.n)
        object.__setattr__(self, "alpha", sensitivities("alpha", self.alpha, n))

    @property
    def announces_targets(self) -> bool:
        """Whether there is anything to audit, and so to bar anybody for."""
        reports = None if self.mechanism.report_space is None else self.alpha
        return self.mechanism.terms(self.setting, reports).sigma is not None


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One attack, mean over seeds; all money in units of cost, for the whole run."""

    name: str
    clients: int  # accounts that attack
    refund_rule: bool  # clients failing the audit get no refund
    bill: float  # net, paid by all attacking accounts together; below 0: they are paid
    honest_bill: float  # paid by the same clients when they are honest
    gain: float  # what the attackers' costs fall by; below 0: they lose
    gain_error: float  # its standard error over seeds
    harm: float  # what the others' costs rise by, all together
    harm_error: float
    caught: float  # share of the attackers' rounds that the audit flags
    others_flagged: float  # the same for the honest clients
    accuracy: float  # of the last model
    honest_accuracy: float


@dataclass(frozen=True, eq=False)
class _Run:
    """What one replica came to."""

    cost: FloatArray  # per account
    bill: FloatArray
    flagged: FloatArray  # share of rounds
    accuracy: float


def measured(scene: Scene, seeds: int = 8) -> tuple[Attack, ...]:
    """Staying away, copycats without and with noise, a small and a large ring, and Sybils."""
    n = scene.setting.n
    small = max(2, n // 5)
    inside: dict[tuple[str, int], Conduct] = {
        ("stays away", 1): Dropout(rate=1.0),
        ("copycat", 1): Copycat(),
        ("copycat with noise", 1): Copycat(noise_factor=1.0),
        ("ring sharing its noise", small): Ring(),
        ("ring of more than half", majority(n)): Ring(),
    }
    return _against_honest(scene, inside, small, seeds)


def loud_majority(scene: Scene, seeds: int = 8) -> tuple[Attack, ...]:
    """A ring of more than half with ten times the noise that is best for it: it ruins the model."""
    name = ("loud ring of more than half", majority(scene.setting.n))
    return _against_honest(scene, {name: Ring(noise_factor=LOUD)}, 0, seeds)


def majority(n: int) -> int:
    """The smallest ring that is paid for its noise."""
    return n // 2 + 1


def _against_honest(
    scene: Scene, inside: Mapping[tuple[str, int], Conduct], sybils: int, seeds: int
) -> tuple[Attack, ...]:
    """Each attack by so many clients, and Sybils if any, under each rule that there can be."""
    count("seeds", seeds, least=2)
    n = scene.setting.n
    rules = (False, True) if scene.announces_targets else (False,)
    found = []
    for rule in rules:
        attacks = [(conduct, k) for (_, k), conduct in inside.items()]
        honest, *cheats = _batch(scene, [(Obedient(), 1), *attacks], rule, seeds)
        for (name, k), runs in zip(inside, cheats, strict=True):
            found.append(_compared(name, np.arange(k), rule, honest, runs))
        if sybils:
            (runs,) = _batch(_with_sybils(scene, sybils), [(Copycat(), -sybils)], rule, seeds)
            accounts = np.concatenate([[0], np.arange(n, n + sybils)])
            found.append(_compared("Sybils that copy", accounts, rule, honest, runs))
    return tuple(found)


def _with_sybils(scene: Scene, k: int) -> Scene:
    """Client 0 with k more accounts, each of client 0's weight; F stays that of the honest."""
    data, first, setting = scene.task.shards, scene.task.shards.sizes[0], scene.setting
    copies = np.tile(np.arange(first), k)
    starts = np.concatenate([data.starts, data.starts[-1] + first * np.arange(1, k + 1)])
    shards = Shards(
        np.concatenate([data.x, data.x[copies]]), np.concatenate([data.y, data.y[copies]]), starts
    )
    weights = _extended(setting.weights, k)
    larger = Setting(
        setting.n + k,
        setting.loss,
        setting.privacy_scale,
        weights / weights.sum(),
        _extended(setting.spread, k),
        _extended(setting.divergence, k),
    )
    counted = np.concatenate([scene.task.weights, np.zeros(k)])
    task = replace(scene.task, shards=shards, weights=counted)
    alpha = np.concatenate([scene.alpha, np.full(k, SYBIL_TYPE)])
    return replace(scene, task=task, setting=larger, alpha=alpha)


def _extended(values: FloatArray, k: int) -> FloatArray:
    return np.concatenate([values, np.repeat(values[0], k)])


def _batch(
    scene: Scene, attacks: Sequence[tuple[Conduct, int]], rule: bool, seeds: int
) -> list[list[_Run]]:
    """All attacks with all seeds in one simulation: the first k clients attack, or the last -k."""
    plan = _plan(scene, rule)
    running = []
    for conduct, k in attacks:
        for seed in range(seeds):
            cohorts = _cohorts(scene.alpha, conduct, k)
            replica = Replica(plan=plan, cohorts=cohorts, seed=seed)
            running.append(begin(scene.task, replica))
    watch = _Watch.of(scene, running)
    ended = simulate(scene.task, running, watch)
    runs = [watch.run(k, end.loss, end.accuracy) for k, end in enumerate(ended)]
    return [runs[start : start + seeds] for start in range(0, len(runs), seeds)]


def _plan(scene: Scene, rule: bool) -> Plan:
    return Plan(
        consortium="attacks",
        run="attack",
        clients=tuple(map(str, range(scene.setting.n))),
        setting=scene.setting,
        mechanism=scene.mechanism,
        audit=AuditRule(family_error=scene.family_error, bar_refund=rule),
    )


def _cohorts(alpha: FloatArray, conduct: Conduct, k: int) -> tuple[Cohort, ...]:
    everyone = np.arange(alpha.size)
    bad = everyone[:k] if k > 0 else everyone[k:]
    good = np.setdiff1d(everyone, bad)
    return (Cohort.of(bad, alpha[bad], conduct), Cohort.of(good, alpha[good], Obedient()))


@dataclass(frozen=True, eq=False)
class _Watch:
    """Adds up what each replica's rounds cost: arrays of (replicas, accounts), filled in place."""

    scene: Scene
    privacy: FloatArray
    bill: FloatArray
    flagged: FloatArray

    @classmethod
    def of(cls, scene: Scene, running: Sequence[Running]) -> "_Watch":
        shape = (len(running), scene.setting.n)
        bill = np.zeros(shape)
        for row, run in zip(bill, running, strict=True):
            if run.coordinator.terms is not None:
                row += run.coordinator.terms.transfers / run.coordinator.terms.money
        return cls(scene, np.zeros(shape), bill, np.zeros(shape))

    def __call__(self, passed: Passed) -> None:
        setting, plays, k = self.scene.setting, passed.plays, passed.replica
        sigma = np.where(plays.copies | plays.absent, np.inf, plays.sigma)
        self.privacy[k] += privacy_costs(self.scene.alpha, sigma, setting.privacy_scale)
        judged = passed.closed.judgement
        if judged is not None:
            self.bill[k] += judged.settlement.net / (MICRO * passed.closed.terms.money)
            self.flagged[k, judged.audit.failing()] += 1.0

    def run(self, k: int, loss: float, accuracy: float) -> _Run:
        """The replica's sums, once it has ended."""
        rounds = self.scene.mechanism.rounds
        cost = (1.0 - self.scene.alpha) * loss + self.privacy[k] / rounds + self.bill[k]
        return _Run(cost, self.bill[k], self.flagged[k] / rounds, accuracy)


def _compared(
    name: str, accounts: NDArray[np.intp], rule: bool, honest: list[_Run], runs: list[_Run]
) -> Attack:
    """Against the honest runs, seed by seed; accounts beyond the honest federation are Sybils."""
    n = honest[0].cost.size
    clients = accounts[accounts < n]
    guilty = accounts if accounts.size == clients.size else accounts[accounts >= n]
    others = np.setdiff1d(np.arange(n), clients)
    pairs = list(zip(honest, runs, strict=True))
    gain = np.array([a.cost[clients].sum() - b.cost[accounts].sum() for a, b in pairs])
    harm = np.array([b.cost[others].sum() - a.cost[others].sum() for a, b in pairs])
    return Attack(
        name=name,
        clients=guilty.size,
        refund_rule=rule,
        bill=_mean([b.bill[accounts].sum() for b in runs]),
        honest_bill=_mean([a.bill[clients].sum() for a in honest]),
        gain=_mean(gain),
        gain_error=_standard_error(gain),
        harm=_mean(harm),
        harm_error=_standard_error(harm),
        caught=_mean([b.flagged[guilty].mean() for b in runs]),
        others_flagged=_mean([b.flagged[others].mean() for b in runs]),
        accuracy=_mean([b.accuracy for b in runs]),
        honest_accuracy=_mean([a.accuracy for a in honest]),
    )


def _mean(values: Any) -> float:
    return float(np.mean(values))


def _standard_error(values: FloatArray) -> float:
    return float(values.std(ddof=1) / np.sqrt(values.size))
