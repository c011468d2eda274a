"""One round, closed: who is billed on which terms, what the audit says, and what comes next."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from pigou.checks import BoolArray, FloatArray
from pigou.errors import PigouError, TooFewClients
from pigou.federation.audit import Audit, Evidence, audit
from pigou.federation.intake import Intake, Refusal
from pigou.federation.plan import Plan
from pigou.game import Setting
from pigou.mechanisms.billing import LARGEST_TOTAL, error_estimate, settle
from pigou.mechanisms.deviations import Comparison, Updates, compare
from pigou.terms import MICRO, Settlement, Terms

LEAST_BILLED: Final = 3  # zero-sum refunds compare each client with two others at least
LARGEST_SQUARED: Final = 1e140  # |x| whose squares can be summed over any number of coordinates
FARTHEST: Final = 16.0  # D_i over the square of the largest number: (2 N / (N - 1))^2 at N = 2


@dataclass(frozen=True, kw_only=True, eq=False)
class Book:
    """What the coordinator knows when a round closes."""

    plan: Plan
    setting: Setting  # of the clients that take part in the run
    terms: Terms  # as announced, for all of them
    reports: FloatArray | None
    eligible: BoolArray
    evidence: Evidence
    round: int
    attempt: int


@dataclass(frozen=True, eq=False)
class Judgement:
    """What comparing the uploads showed, and what it costs."""

    settlement: Settlement
    comparison: Comparison
    audit: Audit
    barred: BoolArray  # who lost this round's refund
    error: float | None  # of the aggregate, estimated from the deviations
    note: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class ClosedRound:
    """What a round left behind; its uploads stay readable for the aggregate and the bills."""

    book: Book
    terms: Terms  # of those who arrived
    next_terms: Terms
    intake: Intake
    void: bool
    judgement: Judgement | None  # None: nobody is billed, and ``note`` says why
    note: str

    @property
    def arrived(self) -> BoolArray:
        """Whose upload was accepted."""
        return self.intake.arrived

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """The uploads that were not."""
        return tuple(self.intake.refusals)

    def aggregate(self) -> tuple[FloatArray, ...]:
        """sum rho_i w_i over those who arrived, with the committed weights, layer by layer."""
        return weighted_sum(self.intake.uploads, np.where(self.arrived, self.terms.weights, 0.0))


def first_terms(plan: Plan, setting: Setting, reports: FloatArray | None) -> Terms:
    """The mechanism's terms for those who take part; no prices where they are too few for any."""
    try:
        return plan.mechanism.terms(setting, reports)
    except TooFewClients:
        nobody = np.zeros(setting.n)
        rounds = plan.mechanism.rounds
        return Terms(plan.mechanism.name, setting.weights, unit_price=nobody, rounds=rounds)


def largest_bookable(terms: Terms) -> float:
    """The largest |x| of uploads at which squares are finite and no round's charges can exceed 64
    bits: a rule that is announced, so that no upload can keep a round from being billed."""
    with np.errstate(over="ignore"):
        per_square = float(terms.charge.sum()) * terms.money * MICRO / terms.rounds * FARTHEST
    bookable = math.sqrt(LARGEST_TOTAL / per_square) if per_square > 0 else math.inf
    return min(bookable, LARGEST_SQUARED)


def close(book: Book, intake: Intake) -> ClosedRound:
    """Bill those who arrived, by the rule announced before uploads."""
    arrived, least = intake.arrived, book.plan.limits.min_clients
    uploads = int(np.count_nonzero(arrived))
    void = uploads < least or not book.terms.weights[arrived].sum() > 0
    if void:
        note = f"void: {uploads} uploads, {least} needed, of positive weight together"
        terms, judgement, next_terms = book.terms, None, book.terms
    else:
        terms, note = terms_of(book, arrived)
        judgement = None if note else judge(book, terms, intake)
        next_terms = _revised(book, terms, judgement)
    return ClosedRound(
        book=book,
        terms=terms,
        next_terms=next_terms,
        intake=intake,
        void=void,
        judgement=judgement,
        note=judgement.note if judgement else note,
    )


def terms_of(book: Book, arrived: BoolArray) -> tuple[Terms, str]:
    """The mechanism's terms for the set that arrived; where it can have none, why nobody pays."""
    announced = book.terms
    billable = np.count_nonzero(announced.active & arrived)
    if billable < LEAST_BILLED:
        why = f"nobody is billed: fewer than {LEAST_BILLED} clients to compare"
        return _unpriced(announced, arrived), why
    if bool((arrived == book.eligible).all()):
        return announced, ""
    try:
        adapt = book.plan.mechanism.adapt
        return adapt(book.setting, announced, book.reports, arrived), ""
    except PigouError as error:
        return _unpriced(announced, arrived), f"nobody is billed: {error}"


def judge(book: Book, terms: Terms, intake: Intake) -> Judgement:
    """Compare, bill and audit; with the plan's rule, clients failing the audit lose refunds.

    Those who arrived had been told the targets of everybody: that is what they are held to.
    """
    rule = book.plan.audit
    comparison = compare(intake.uploads, terms.active)
    settlement = settle(comparison.deviation, terms)
    size = comparison.size
    here = _setting_of(book, terms)
    told = (book.terms.sigma, terms.rounds)
    verdict = audit(rule, here, *told, settlement=settlement, size=size, earlier=book.evidence)
    barred = np.zeros(terms.active.size, np.bool_)
    note = ""
    if rule.bar_refund and book.terms.sigma is not None:
        barred[verdict.failing()] = True
        if np.count_nonzero(terms.active & ~barred) < 2:
            barred[:] = False
            note = "nobody is barred from refunds: too few clients pass the audit"
        settlement = settle(comparison.deviation, terms, barred) if barred.any() else settlement
    error = error_estimate(here, terms.weights, settlement.deviation)
    return Judgement(settlement, comparison, verdict, barred, error, note)


def weighted_sum(uploads: Updates, weights: FloatArray) -> tuple[FloatArray, ...]:
    """sum rho_i w_i in float64, layer by layer; uploads of weight 0 are not read."""
    chosen = np.flatnonzero(weights)
    if isinstance(uploads, np.ndarray):
        rows = uploads if chosen.size == len(uploads) else uploads[chosen]
        return (np.einsum("i,ij->j", weights[chosen], rows, dtype=np.float64),)
    kept = [upload for upload, weight in zip(uploads, weights, strict=True) if weight > 0]
    parts = [upload for upload in kept if upload is not None]
    total = [np.zeros(layer.shape) for layer in parts[0]]
    for upload, weight in zip(parts, weights[chosen], strict=True):
        for layer, part in zip(total, upload, strict=True):
            layer += weight * part
    return tuple(total)


def _unpriced(announced: Terms, arrived: BoolArray) -> Terms:
    """The announced weights over those who arrived, and no prices."""
    weights = np.where(arrived, announced.weights, 0.0)
    return Terms(
        mechanism=announced.mechanism,
        weights=weights / weights.sum(),
        unit_price=np.zeros(weights.size),
        transfers=announced.transfers,
        rounds=announced.rounds,
        money=announced.money,
        error=announced.error,
    )


def _revised(book: Book, terms: Terms, judgement: Judgement | None) -> Terms:
    """Next round's terms, announced to everyone eligible: revised where there was a comparison."""
    if judgement is None:
        return book.terms
    mechanism, deviation = book.plan.mechanism, judgement.settlement.deviation
    revised = mechanism.revise(_setting_of(book, terms), terms, deviation)
    if bool((terms.active == book.terms.active).all()):
        return revised
    return mechanism.adapt(book.setting, revised, book.reports, book.eligible)


def _setting_of(book: Book, terms: Terms) -> Setting:
    """The setting of the clients that the terms bill; the very same where nobody is absent."""
    same = bool((terms.active == book.setting.active).all())
    return book.setting if same else book.setting.restricted(terms.active)
