"""A run's folder: tables as CSV, everything else as JSON, and back to the same record.

rounds.csv has a line per treatment and round (round 0: before training), clients.csv one per
treatment, round and client. Floats are written so that they come back to the bit; an empty field
is NaN.
"""

import csv
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar

import numpy as np

from pigou.checks import BoolArray, FloatArray
from pigou.errors import PigouError, shown
from pigou.federation.attacks import Attack
from pigou.runs.record import (
    AttacksRecord,
    CalibrationRecord,
    CertificateRecord,
    HeterogeneityRecord,
    RefusalRecord,
    RunRecord,
    TreatmentRecord,
)

FORMAT: Final = 1
SUMMARY: Final = "summary.json"
ROUNDS: Final = "rounds.csv"
CLIENTS: Final = "clients.csv"

BY_MODEL: Final = ("loss", "accuracy")  # before round 1, and after each round
BY_ROUND: Final = ("error_true", "error_estimate", "social_cost")
BY_CLIENT: Final = ("sigma", "target", "charge", "refund")
IN_TABLES: Final = (*BY_MODEL, *BY_ROUND, *BY_CLIENT, "notes", "flags")
NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
UNREADABLE: Final = (OSError, csv.Error, ValueError, TypeError, LookupError, AttributeError)

Record = TypeVar("Record")


class UnreadableRun(PigouError):  # noqa: N818
    """A folder that does not hold a whole run."""


def write(record: RunRecord, folder: Path) -> None:
    """Put the record's files into the folder, which is made where it is absent."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        summary = {"format": FORMAT, **_plain_fields(record)}
        for each, plain in zip(record.treatments, summary["treatments"], strict=True):
            plain["has_target"] = each.target is not None
        text = json.dumps(summary, indent=1, allow_nan=False, ensure_ascii=False)
        (folder / SUMMARY).write_text(text + "\n", encoding="utf-8")
        _write_table(folder / ROUNDS, _round_lines(record))
        _write_table(folder / CLIENTS, _client_lines(record))
    except OSError as error:
        raise PigouError(f"{folder}: cannot be written: {error.strerror or error}") from error


def read(folder: Path) -> RunRecord:
    """The record that was written there."""
    try:
        plain = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        if plain.pop("format") != FORMAT:
            raise ValueError(f"is of another format than {FORMAT}")
        tables = _read_tables(folder, plain)
        return _run(plain, tables)
    except UNREADABLE as error:
        raise UnreadableRun(f"{folder}: is not the folder of a run: {shown(error)}") from error


def _plain_fields(value: Any) -> dict[str, Any]:
    skipped = IN_TABLES if isinstance(value, TreatmentRecord) else ()
    return {f.name: _plain(getattr(value, f.name)) for f in fields(value) if f.name not in skipped}


def _plain(value: Any) -> Any:
    """What JSON can say; it has no infinities: they become the strings of their names."""
    if is_dataclass(value):
        return _plain_fields(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        items = value.tolist() if isinstance(value, np.ndarray) else value
        return [_plain(item) for item in items]
    if isinstance(value, np.generic):
        value = value.item()
    return value if not isinstance(value, float) or math.isfinite(value) else str(value)


def _round_lines(record: RunRecord) -> Iterator[list[str]]:
    yield ["treatment", "round", *BY_MODEL, *BY_ROUND, "note"]
    for each in record.treatments:
        for t in range(each.rounds + 1):
            models = [_cell(getattr(each, name)[t]) for name in BY_MODEL]
            ends = [_cell(getattr(each, name)[t - 1]) if t else "" for name in BY_ROUND]
            yield [each.name, str(t), *models, *ends, each.notes[t - 1] if t else ""]


def _client_lines(record: RunRecord) -> Iterator[list[str]]:
    yield ["treatment", "round", "client", *BY_CLIENT, "flag"]
    for each in record.treatments:
        nothing = np.full(each.sigma.shape, np.nan)
        columns = [getattr(each, name) for name in BY_CLIENT]
        columns = [nothing if column is None else column for column in columns]
        for t in range(each.rounds):
            for i, client in enumerate(record.clients):
                cells = [_cell(column[t, i]) for column in columns]
                yield [each.name, str(t + 1), client, *cells, str(each.flags[t, i])]


def _cell(value: float) -> str:
    return "" if math.isnan(value) else repr(float(value))


def _write_table(path: Path, lines: Iterable[list[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)


def _read_tables(folder: Path, plain: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The columns of both tables, per treatment."""
    n = len(plain["clients"])
    rounds = _by_treatment(folder / ROUNDS)
    clients = _by_treatment(folder / CLIENTS)
    tables = {}
    for treatment in plain["treatments"]:
        name = treatment["name"]
        of_rounds, of_clients = rounds[name], clients.get(name, [])
        last = len(of_rounds) - 1
        found: dict[str, Any] = {key: _column(of_rounds, 2 + k) for k, key in enumerate(BY_MODEL)}
        for k, key in enumerate(BY_ROUND, 2 + len(BY_MODEL)):
            found[key] = _column(of_rounds[1:], k)
        found["notes"] = tuple(line[-1] for line in of_rounds[1:])
        for k, key in enumerate(BY_CLIENT, 3):
            found[key] = _column(of_clients, k).reshape(last, n)
        flags = np.array([line[-1] for line in of_clients], dtype=np.str_)
        found["flags"] = flags.reshape(last, n)
        tables[name] = found
    return tables


def _by_treatment(path: Path) -> dict[str, list[list[str]]]:
    with path.open(encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        next(lines, None)
        found: dict[str, list[list[str]]] = {}
        for line in lines:
            found.setdefault(line[0], []).append(line)
    return found


def _column(lines: list[list[str]], k: int) -> FloatArray:
    return np.array([float(line[k] or "nan") for line in lines], dtype=np.float64)


def _run(plain: Mapping[str, Any], tables: Mapping[str, dict[str, Any]]) -> RunRecord:
    bound, calibration = plain["bound"], plain["calibration"]
    measured = plain["heterogeneity"]
    made = {
        "attacks": _attacks(plain["attacks"]),
        "bound": None if bound is None else (float(bound[0]), float(bound[1])),
        "calibration": None if calibration is None else _make(CalibrationRecord, calibration),
        "heterogeneity": None if measured is None else _make(HeterogeneityRecord, measured),
        "treatments": tuple(_treatment(each, tables[each["name"]]) for each in plain["treatments"]),
    }
    return _make(RunRecord, plain, made)


def _attacks(plain: Mapping[str, Any] | None) -> AttacksRecord | None:
    if plain is None:
        return None
    found = tuple(_make(Attack, each) for each in plain["found"])
    return _make(AttacksRecord, plain, {"found": found})


def _treatment(plain: Mapping[str, Any], columns: dict[str, Any]) -> TreatmentRecord:
    certificate = plain["certificate"]
    made = {
        **columns,
        "target": columns["target"] if plain["has_target"] else None,
        "refusals": tuple(_make(RefusalRecord, each) for each in plain["refusals"]),
        "certificate": None if certificate is None else _make(CertificateRecord, certificate),
    }
    return _make(TreatmentRecord, plain, made)


def _make(
    kind: type[Record], plain: Mapping[str, Any], made: Mapping[str, Any] = NOTHING
) -> Record:
    """A record of this kind: each field by its type, but those made already."""
    values = {
        f.name: made[f.name] if f.name in made else _value(f.type, plain[f.name])
        for f in fields(kind)  # type: ignore[arg-type]  # all kinds are dataclasses
    }
    return kind(**values)


def _value(kind: Any, plain: Any) -> Any:
    if kind is float:
        return float(plain)
    if kind == FloatArray:
        return np.array([float(item) for item in plain], dtype=np.float64)
    if kind == BoolArray:
        return np.array(plain, dtype=np.bool_)
    return tuple(plain) if isinstance(plain, list) else plain
