"""What the page reads out of a record more than once."""

from collections.abc import Sequence

import numpy as np

from pigou.checks import BoolArray, FloatArray
from pigou.federation.audit import Flag
from pigou.report.crowd import Members
from pigou.report.words import listed
from pigou.runs import RunRecord, TreatmentRecord
from pigou.runs.record import TreatmentName

QUIET = (Flag.FINE.value, Flag.UNKNOWN.value)


def find(record: RunRecord, name: TreatmentName) -> TreatmentRecord | None:
    """The treatment of that name, if the run had it and closed a round of it."""
    return next((each for each in record.treatments if each.name == name and each.rounds), None)


def noisy(record: RunRecord) -> tuple[TreatmentRecord, ...]:
    """The treatments with noise that closed a round."""
    return tuple(each for each in record.treatments if each.name != "no noise" and each.rounds)


def main(record: RunRecord) -> TreatmentRecord | None:
    """The treatment that faults and audits are told of: with prices, or at least with noise."""
    return next(iter(reversed(noisy(record))), None)


def named(record: RunRecord, who: Sequence[int] | Members) -> str:
    """These clients by name, or the first few of them; drawn ones have numbers."""
    return listed([client_name(record, i) for i in who])


def client_name(record: RunRecord, i: int) -> str:
    """A client as a sentence calls it."""
    return called(record.clients[i])


def called(client: str) -> str:
    """The name in a sentence; drawn clients have numbers."""
    return f"client {client}" if client.isdecimal() else client


def billed(treatment: TreatmentRecord) -> bool:
    """Whether anybody owed or was owed anything."""
    amounts = (treatment.charge, treatment.refund, treatment.transfers)
    return any(bool(np.nan_to_num(each).any()) for each in amounts)


def ratio(treatment: TreatmentRecord) -> FloatArray:
    """(T,) social cost over the optimum; not a number where that says nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(treatment.social_cost / np.float64(treatment.optimum))


def absent(treatment: TreatmentRecord) -> FloatArray:
    """(T,) how many uploads were missing or refused."""
    return np.asarray(np.isnan(treatment.sigma).sum(axis=1), dtype=np.float64)


def flagged(treatment: TreatmentRecord) -> BoolArray:
    """(T, N) where the audit found noise that was not as announced."""
    return np.asarray(~np.isin(treatment.flags, QUIET))


def of_target(treatment: TreatmentRecord) -> FloatArray:
    """(N,) noise over target in each client's last upload; NaN where either is not known."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(last_noise(treatment) / last_target(treatment))


def last_noise(treatment: TreatmentRecord) -> FloatArray:
    """(N,) the noise of each client's last upload."""
    return last_seen(treatment.sigma)


def last_target(treatment: TreatmentRecord) -> FloatArray:
    """(N,) the target announced for each client's last upload."""
    if treatment.target is None:
        return np.full(treatment.sigma.shape[1], np.nan)
    return last_seen(np.where(np.isnan(treatment.sigma), np.nan, treatment.target))


def last_seen(values: FloatArray) -> FloatArray:
    """(N,) the last value of each column that is not NaN."""
    found = np.full(values.shape[1], np.nan)
    for row in values:
        found = np.where(np.isnan(row), found, row)
    return found
