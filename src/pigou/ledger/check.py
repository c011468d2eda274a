"""A client's own check of its bill: from its upload, the published mean and the signed statement.

Nothing of the server's code takes part: deviation, charge and refund are computed anew (sections 3
and 9 of the theory), with the numbers that the statement itself must carry for that.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from struct import error as StructError  # noqa: N812
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from numpy.typing import NDArray

from pigou.canonical import digest
from pigou.errors import Shown, require
from pigou.ledger import keys, tree
from pigou.ledger.entry import LARGEST, head_message, leaves
from pigou.ledger.errors import UnreadableDocument
from pigou.terms import MICRO, SignedStatement, Statement

Arrays = Sequence[NDArray[Any]]

# The server adds squares in runs of up to 2^15, in the precision of the upload. The error of such
# a sum is some standard deviations of a random walk: six of them, in units of rounding.
RUNNING = 6 * math.sqrt(2**15)
BAND = 32  # clients whose uploads the server adds in that precision to form the mean


@dataclass(frozen=True)
class Finding:
    """One thing checked: what the statement says, and what it should say."""

    what: str
    ok: bool
    said: str = ""
    found: str = ""


@dataclass(frozen=True)
class Evidence:
    """What the client has: its upload, and the mean of all uploads or of the others'."""

    upload: Arrays
    mean: Arrays
    of_others: bool = False


def check_statement(
    signed: SignedStatement, key: Ed25519PublicKey, evidence: Evidence | None = None
) -> list[Finding]:
    """Everything that can be checked; the amounts too, where there is evidence to do so."""
    findings = [_signature(signed, key), _inclusion(signed)]
    statement = signed.statement
    if statement.round == 0:  # a report transfer: announced with the terms, not computed
        require(evidence is None, "upload, mean", "must not be given for transfers", Shown("both"))
        return findings
    if evidence is not None:
        findings += _arrays(statement, evidence)
    return [*findings, _charge(statement), _refund(statement)]


def deviation(evidence: Evidence, billed: int) -> tuple[float, float]:
    """D = ||w - mean of the others||^2 / d, and how far the server's rounding may move it."""
    total = slack = 0.0
    size = 0
    for own, mean in zip(evidence.upload, evidence.mean, strict=True):
        square, rounding = _layer(own, mean, BAND if evidence.of_others else 1)
        total, slack, size = total + square, slack + rounding, size + own.size
    factor = 1.0 if evidence.of_others else (billed / (billed - 1)) ** 2
    return factor * total / size, factor * slack / size


@np.errstate(over="ignore", invalid="ignore")
def _layer(own: NDArray[Any], mean: NDArray[Any], band: int) -> tuple[float, float]:
    """||w - mean||^2 of one layer, and the sum of what the server may round away."""
    unit = float(np.finfo(np.result_type(np.float32, own.dtype)).eps) / 2
    away = own.astype(np.float64) - mean
    squares = float(np.sum(away * away))
    error = unit * (band * np.abs(mean) + np.abs(away))  # of each difference
    slack = float(np.sum(error * (2 * np.abs(away) + error))) + unit * RUNNING * squares
    return squares, slack


def _signature(signed: SignedStatement, key: Ed25519PublicKey) -> Finding:
    holds = keys.verified(key, signed.head.signature, head_message(signed.head))
    return Finding("the ledger's head is signed with this key", holds)


def _inclusion(signed: SignedStatement) -> Finding:
    try:
        (leaf,) = leaves([signed.statement])
        reached = tree.root_from(leaf, signed.path)
    except (ValueError, IndexError, StructError):
        reached = ""
    holds = reached == signed.head.statements
    return Finding("the statement is among those that the head signs", holds)


def _arrays(statement: Statement, evidence: Evidence) -> list[Finding]:
    _require_alike(statement, evidence)
    upload = _digest("upload", evidence.upload)
    findings = [
        Finding(
            "the upload is the one billed", statement.upload == upload, statement.upload, upload
        )
    ]
    if not evidence.of_others:
        mean = _digest("mean", evidence.mean)
        holds = statement.mean == mean
        findings.append(Finding("the mean is the one billed", holds, statement.mean, mean))
    own, slack = deviation(evidence, statement.billed)
    holds = math.isfinite(own) and abs(own - statement.deviation) <= slack
    return [*findings, Finding("deviation", holds, repr(statement.deviation), repr(own))]


def _charge(statement: Statement) -> Finding:
    """coefficient x deviation, in whole micro-units."""
    exact = statement.coefficient * MICRO * statement.deviation
    rounding = 1 + abs(exact) * 2**-50  # of the three products, and to a whole number
    possible = math.isfinite(exact) and abs(statement.charge) <= LARGEST
    holds = possible and abs(statement.charge - exact) <= rounding
    return Finding("charge, in micro-units", holds, str(statement.charge), f"{exact:.1f}")


def _refund(statement: Statement) -> Finding:
    """The others' charges, shared among those entitled; exact but for the rounding to units."""
    what, said = "refund, in micro-units", str(statement.refund)
    if not statement.refundable:
        return Finding(f"{what} (barred this round)", statement.refund == 0, said, "0")
    if statement.constant_refund is not None:
        constant = statement.constant_refund
        return Finding(f"{what} (constant)", statement.refund == constant, said, str(constant))
    entitled = statement.billed - statement.barred
    inside = statement.total_charge - statement.barred_charge
    if statement.total_charge == 0:
        return Finding(what, statement.refund == 0, said, "0")
    if entitled < 2:
        return Finding(f"{what}: nobody is left to share with", ok=False, said=said)
    parts = entitled * (entitled - 1)
    share = entitled * (inside - statement.charge) + (entitled - 1) * statement.barred_charge
    holds = abs(statement.refund * parts - share) < parts
    return Finding(what, holds, said, f"{share // parts}.{share % parts * 10 // parts}")


def _require_alike(statement: Statement, evidence: Evidence) -> None:
    shapes = [part.shape for part in evidence.upload]
    theirs = [part.shape for part in evidence.mean]
    require(shapes == theirs, "mean", f"must have the upload's shapes, {shapes}", theirs)
    parts = [*evidence.upload, *evidence.mean]
    real = all(part.dtype.kind in "fiu" for part in parts) and sum(p.size for p in parts) > 0
    require(real, "upload, mean", "must hold real numbers", [str(part.dtype) for part in parts])
    enough = statement.billed >= 2
    require(enough, "statement", "must compare 2 clients or more", statement.billed)


def _digest(name: str, arrays: Arrays) -> str:
    try:
        return digest(list(arrays))
    except TypeError as error:
        raise UnreadableDocument(f"the {name} has no digest: {error}") from error
