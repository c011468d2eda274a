"""Settled rounds to post: made from uploads as the server would, or only from amounts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pigou.canonical import digest
from pigou.mechanisms.billing import settle
from pigou.mechanisms.deviations import compare
from pigou.terms import Round, Statement, Terms

CONSORTIUM, CURRENCY = "clinics", "EUR"
TERMS = digest("the terms")


@dataclass(frozen=True, eq=False)
class Billed:
    """A round with what it was computed from."""

    settled: Round
    uploads: NDArray[Any]
    mean: NDArray[np.float64]


def round_of(
    run: str,
    number: int,
    amounts: Sequence[tuple[int, int]],  # charge and refund of each client
    *,
    consortium: str = CONSORTIUM,
    currency: str = CURRENCY,
    clients: Sequence[str] | None = None,
    barred: Sequence[int] = (),
) -> Round:
    """A round whose statements agree with one another; deviations are made up."""
    names = clients or [f"client-{k}" for k in range(len(amounts))]
    transfers = number == 0
    withheld = 0 if transfers else sum(amounts[k][0] for k in barred)
    statements = tuple(
        Statement(
            consortium=consortium,
            run=run,
            round=number,
            client=name,
            billed=0 if transfers else len(amounts),
            deviation=charge / 1e6,
            coefficient=1.0,
            charge=charge,
            refund=refund,
            total_charge=sum(charge for charge, _ in amounts),
            refundable=not transfers and k not in barred,
            barred=0 if transfers else len(barred),
            barred_charge=withheld,
            terms=TERMS,
            upload=digest([run, number, name]),
            mean=digest([run, number]),
            currency=currency,
        )
        for k, (name, (charge, refund)) in enumerate(zip(names, amounts, strict=True))
    )
    reserve = sum(statement.net for statement in statements)
    kind: Literal["transfers", "round"] = "transfers" if transfers else "round"
    return Round(consortium, run, number, kind, currency, TERMS, statements, reserve)


def random_round(run: str, number: int, n: int = 3, seed: int = 0) -> Round:
    """A zero-sum round that run, number, size and seed decide."""
    rng = np.random.default_rng([seed, number, n, *run.encode()])
    charges = rng.integers(0, 10**9, n).tolist()
    return round_of(run, number, list(zip(charges, charges[1:] + charges[:1], strict=True)))


def billed_round(
    n: int = 4,
    d: int = 7,
    seed: int = 0,
    dtype: type[np.floating[Any]] = np.float32,
    terms: Terms | None = None,
    barred: Sequence[int] = (),
) -> Billed:
    """A round billed as the server bills it: compared, charged, refunded, digested."""
    rng = np.random.default_rng(seed)
    uploads = (rng.normal(size=d) + 0.3 * rng.normal(size=(n, d))).astype(dtype)
    rule = terms or Terms("test", np.full(n, 1 / n), np.full(n, 5.0), rounds=2, money=1000.0)
    comparison = compare(uploads, rule.active)
    settled = settle(comparison.deviation, rule, list(barred))
    refund = int(settled.refund.max()) if rule.refund == "constant" else None
    charges = settled.charge.tolist()
    statements = tuple(
        Statement(
            consortium=CONSORTIUM,
            run="billed",
            round=1,
            client=f"client-{k}",
            billed=n,
            deviation=float(settled.deviation[k]),
            coefficient=float(rule.charge[k]) * rule.money / rule.rounds,
            charge=charges[k],
            refund=int(settled.refund[k]),
            total_charge=sum(charges),
            refundable=k not in barred,
            barred=len(barred),
            barred_charge=sum(charges[k] for k in barred),
            terms=rule.digest,
            upload=digest([uploads[k]]),
            mean=digest(list(comparison.mean)),
            currency=CURRENCY,
            constant_refund=refund,
        )
        for k in range(n)
    )
    settled_round = Round(
        CONSORTIUM, "billed", 1, "round", CURRENCY, rule.digest, statements, settled.reserve
    )
    return Billed(settled_round, uploads, comparison.mean[0])
