"""Statements: one client's bill each, with all that it takes to recompute it."""

import numpy as np

from pigou.canonical import digest
from pigou.checks import BoolArray
from pigou.federation.plan import Plan
from pigou.federation.rounds import ClosedRound, Judgement
from pigou.terms import MICRO, Round, Statement, Terms


def bill(closed: ClosedRound) -> Round:
    """The round as it is posted: a statement per billed client, none where nobody is billed."""
    plan, judgement = closed.book.plan, closed.judgement
    return Round(
        consortium=plan.consortium,
        run=plan.run,
        round=closed.book.round,
        kind="round",
        currency=plan.currency,
        terms=closed.terms.digest,
        statements=() if judgement is None else _statements(closed, judgement),
        reserve=0 if judgement is None else judgement.settlement.reserve,
    )


def transfers(plan: Plan, terms: Terms, joined: BoolArray) -> Round | None:
    """The report transfers, charged once against the reserve; None where there are none.

    Clients that did not join owe nothing, whatever the mechanism makes of their stand-ins.
    """
    owed = np.where(joined, terms.transfers, 0.0)
    amounts = np.rint(owed * MICRO).astype(np.int64).tolist()
    if not any(amounts):
        return None
    statements = tuple(
        _transfer(plan, terms, client, amount, sum(amounts))
        for client, amount in zip(plan.clients, amounts, strict=True)
        if amount
    )
    return Round(
        consortium=plan.consortium,
        run=plan.run,
        round=0,
        kind="transfers",
        currency=plan.currency,
        terms=terms.digest,
        statements=statements,
        reserve=sum(amounts),
    )


def _statements(closed: ClosedRound, judgement: Judgement) -> tuple[Statement, ...]:
    plan, terms = closed.book.plan, closed.terms
    settled, barred = judgement.settlement, judgement.barred
    coefficient, mean = terms.coefficient, judgement.comparison.mean_digest()
    total, withheld = int(settled.charge.sum()), int(settled.charge[barred].sum())
    constant = int(settled.refund.max()) if terms.refund == "constant" else None
    return tuple(
        Statement(
            consortium=plan.consortium,
            run=plan.run,
            round=closed.book.round,
            client=plan.clients[i],
            billed=int(np.count_nonzero(settled.billed)),
            deviation=float(settled.deviation[i]),
            coefficient=float(coefficient[i]),
            charge=int(settled.charge[i]),
            refund=int(settled.refund[i]),
            total_charge=total,
            refundable=not barred[i],
            barred=int(np.count_nonzero(barred)),
            barred_charge=withheld,
            terms=terms.digest,
            upload=digest(list(closed.intake.upload_of(i))),
            mean=mean,
            currency=plan.currency,
            constant_refund=constant,
        )
        for i in np.flatnonzero(settled.billed).tolist()
    )


def _transfer(plan: Plan, terms: Terms, client: str, amount: int, total: int) -> Statement:
    return Statement(
        consortium=plan.consortium,
        run=plan.run,
        round=0,
        client=client,
        billed=0,
        deviation=0.0,
        coefficient=0.0,
        charge=amount,
        refund=0,
        total_charge=total,
        refundable=False,
        barred=0,
        barred_charge=0,
        terms=terms.digest,
        upload="",
        mean="",
        currency=plan.currency,
    )
