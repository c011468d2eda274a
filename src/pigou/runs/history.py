"""What happened in each attempt at a round, kept as it happens, and the record made of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pigou.checks import BoolArray, FloatArray
from pigou.federation.audit import Flag
from pigou.federation.client import Plays
from pigou.federation.intake import Reason, Refusal
from pigou.federation.local import Ended, Passed
from pigou.federation.rounds import ClosedRound
from pigou.game import Game, privacy_costs
from pigou.runs.arms import Arm
from pigou.runs.preparing import Ready
from pigou.runs.record import CertificateRecord, RefusalRecord, TreatmentRecord
from pigou.terms import MICRO, IntArray

FLAGS = tuple(Flag)
WORDS = np.array([flag.value for flag in FLAGS])


@dataclass(frozen=True, kw_only=True, eq=False)
class Seen:
    """One attempt at a round of one treatment."""

    round: int
    void: bool
    loss: float  # of the model that the round started from
    accuracy: float
    sigma: FloatArray  # NaN where nothing was uploaded
    released: FloatArray  # noise on own data; infinite where none was uploaded
    target: FloatArray | None
    charge: FloatArray  # currency; NaN where unbilled
    refund: FloatArray
    error_true: float
    error_estimate: float
    social_cost: float
    flags: IntArray  # places in FLAGS
    note: str
    refusals: tuple[Refusal, ...]


SEEN_CLASSES = (Seen, Refusal, Reason)


@dataclass(frozen=True, kw_only=True, eq=False)
class Opening:
    """What a treatment's record needs besides its attempts: known once reports have closed."""

    optimum: float
    transfers: FloatArray
    refusals: tuple[Refusal, ...]  # of reports
    certificate: CertificateRecord | None


def seen(game: Game, passed: Passed, cap: float, before: Sequence[Seen]) -> Seen:
    """What one attempt left to see; ``before`` are the treatment's earlier ones."""
    closed, plays, announced = passed.closed, passed.plays, passed.announcement.terms
    error, cost = played(game, closed, plays)
    judgement = closed.judgement
    settled = None if judgement is None else judgement.settlement
    billed = np.zeros(game.setting.n, np.bool_) if settled is None else settled.billed
    flags = [Flag.UNKNOWN] * game.setting.n if judgement is None else judgement.audit.flags
    estimate = None if judgement is None else judgement.error
    away = _used_up(plays, cap, before)
    who = "1 client stays away: its" if away == 1 else f"{away} clients stay away: their"
    budget = f"{who} privacy budget is used up" if away else ""
    return Seen(
        round=passed.announcement.round,
        void=closed.void,
        loss=passed.loss,
        accuracy=passed.accuracy,
        sigma=np.where(closed.arrived, plays.sigma, np.nan),
        released=np.where(plays.absent | plays.copies, np.inf, plays.sigma),
        target=None if announced is None else announced.sigma,
        charge=_in_currency(None if settled is None else settled.charge, billed),
        refund=_in_currency(None if settled is None else settled.refund, billed),
        error_true=error,
        error_estimate=np.nan if estimate is None else estimate,
        social_cost=cost,
        flags=np.array([FLAGS.index(flag) for flag in flags], dtype=np.int64),
        note="; ".join(filter(None, (closed.note, budget))),
        refusals=_faults(closed, plays),
    )


def played(game: Game, closed: ClosedRound, plays: Plays) -> tuple[float, float]:
    """Delta and social cost of the noise played: sections 1 and 9.

    Members of a ring add one noise together: its parts add up before they are squared. A copy of
    the model has no privacy cost; who uploads nothing has neither cost nor share in the error.
    """
    setting, there = game.setting, closed.arrived
    weights = np.where(there, closed.terms.weights, 0.0)
    parts = np.where(there, weights * np.where(there, plays.sigma, 0.0), 0.0)
    together = np.bincount(plays.noise_of, weights=parts, minlength=setting.n)
    square = np.square(together).sum() + np.square(weights) @ setting.spread
    error = float(np.sqrt(square))
    noise = np.where(there & ~plays.copies, plays.sigma, np.inf)
    privacy = privacy_costs(game.alpha, noise, setting.privacy_scale).sum()
    return error, float(game.accuracy_weight * setting.loss(error) + privacy)


def _faults(closed: ClosedRound, plays: Plays) -> tuple[Refusal, ...]:
    """The refusals, but for clients that stay away and say so, as they do on some engines."""
    away = {closed.book.plan.clients[i] for i in np.flatnonzero(plays.absent).tolist()}
    return tuple(
        each
        for each in closed.refusals
        if each.reason is not Reason.WITHDRAWN or each.client not in away
    )


def treatment(
    ready: Ready, arm: Arm, opening: Opening, attempts: Sequence[Seen], ended: Ended
) -> TreatmentRecord:
    """The record of one treatment that has ended."""
    n = arm.game.setting.n
    rounds = [each for each in attempts if not each.void]
    releases = np.array([each.released for each in attempts]).reshape(-1, n).T
    accounts = [replace(ready.account, releases=tuple(each)) for each in releases.tolist()]
    delta = ready.scenario.privacy.delta
    papers = [account.paper_bound(delta) for account in accounts]
    return TreatmentRecord(
        name=arm.name,
        mechanism=arm.replica.plan.mechanism.name,
        conducts=arm.conducts,
        loss=np.array([*(each.loss for each in rounds), ended.loss]),
        accuracy=np.array([*(each.accuracy for each in rounds), ended.accuracy]),
        sigma=_rows([each.sigma for each in rounds], n),
        target=_targets(rounds, n),
        charge=_rows([each.charge for each in rounds], n),
        refund=_rows([each.refund for each in rounds], n),
        transfers=opening.transfers,
        error_true=np.array([each.error_true for each in rounds]),
        error_estimate=np.array([each.error_estimate for each in rounds]),
        social_cost=np.array([each.social_cost for each in rounds]),
        optimum=opening.optimum,
        flags=WORDS[_rows([each.flags for each in rounds], n).astype(np.intp)],
        notes=_notes(attempts),
        refusals=tuple(
            RefusalRecord(
                round=each.round, client=each.client, reason=each.reason.value, detail=each.detail
            )
            for each in (*opening.refusals, *(r for a in attempts for r in a.refusals))
        ),
        epsilon=np.array([account.epsilon(delta) for account in accounts]),
        paper_epsilon=np.array([paper.epsilon for paper in papers]),
        paper_condition=np.array([paper.condition_held for paper in papers], dtype=np.bool_),
        certificate=opening.certificate,
        stopped=ended.stopped,
    )


def _rows(rows: Sequence[NDArray[Any]], n: int) -> FloatArray:
    return np.array(rows, dtype=np.float64).reshape(-1, n)


def _targets(rounds: Sequence[Seen], n: int) -> FloatArray | None:
    if all(each.target is None for each in rounds):
        return None
    unknown = np.full(n, np.nan)
    return _rows([unknown if each.target is None else each.target for each in rounds], n)


def _notes(attempts: Sequence[Seen]) -> tuple[str, ...]:
    """One per round that was closed: void attempts before it speak first."""
    notes, waiting = [], []
    for each in attempts:
        waiting += [each.note] if each.note else []
        if not each.void:
            notes.append("; ".join(waiting))
            waiting = []
    return tuple(notes)


def _in_currency(amounts: IntArray | None, billed: BoolArray) -> FloatArray:
    if amounts is None:
        return np.full(billed.size, np.nan)
    return np.where(billed, amounts / MICRO, np.nan)


def _used_up(plays: Plays, cap: float, before: Sequence[Seen]) -> int:
    """How many would upload, but for their privacy budget."""
    if math.isinf(cap):
        return 0
    with np.errstate(divide="ignore"):
        spent = sum((1.0 / np.square(each.released) for each in before), np.zeros(plays.sigma.size))
        beyond = spent + np.where(plays.copies, 0.0, 1.0 / np.square(plays.sigma)) > cap
    return int(np.count_nonzero(plays.absent & beyond))
