"""Messages as careless and hostile clients send them, for fuzzing the coordinator."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from pigou.federation.protocol import Report, Update


class Hostile:
    """An object that answers nothing."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison")

    __hash__ = None  # type: ignore[assignment]  # nor a hash

    def __repr__(self) -> str:
        raise RuntimeError("no representation")


def junk() -> list[Any]:
    """Values that belong in no field of a message."""
    return [
        None,
        1.5,
        True,
        -1,
        10**5000,
        2**70,
        float("nan"),
        b"bytes",
        "",
        "x" * 100_000,
        "no\nline",
        [1, 2],
        {"a": 1},
        ("a",),
        object(),
        Hostile(),
        np.array(["a", "b"]),
        np.array([1, 1]),
        np.float64(1.0),
        np.int64(1),
        lambda: None,
        Update,
    ]


def forced(update: Update, **fields: Any) -> Update:
    """An update whose fields hold what its constructor would not let through."""
    made = object.__new__(Update)
    for name in ("run", "round", "attempt", "client", "arrays", "note"):
        object.__setattr__(made, name, fields.get(name, getattr(update, name)))
    return made


def broken_arrays(good: np.ndarray[Any, Any], rng: np.random.Generator) -> dict[str, list[Any]]:
    """What ``arrays`` may hold in place of (good,), by the reason it is refused for."""
    at = int(rng.integers(good.size))

    def with_one(value: float) -> Any:
        copy = good.copy()
        copy[at] = value
        return (copy,)

    records = np.zeros(good.size, [("x", "f8")])
    return {
        "NOT_ARRAYS": [5, "text", (1.0, 2.0), ([0.0] * good.size,), (None,), {0: good}, Hostile()],
        "WRONG_SHAPE": [
            (),
            (good, good),
            (good[:-1],),
            (good[None],),
            (np.array(1.0),),
            (np.zeros(0),),
            (good.reshape(-1, 1),),
            (good[None].view(np.recarray),),
            (np.zeros((0, 10**6)),),
        ],
        "WRONG_DTYPE": [
            (good.astype(object),),
            (good.astype(complex),),
            (good.astype(str),),
            (good.astype(bool),),
            (good.astype(np.longdouble),),
            (good.astype("S8"),),
            (np.full(good.size, "2020-01-01", "datetime64[D]"),),
            (np.full(good.size, 5, "timedelta64[s]"),),
            (records,),
            (np.array([Hostile()] * good.size, object),),
        ],
        "NOT_FINITE": [with_one(value) for value in (np.nan, np.inf, -np.inf)]
        + [(np.full(good.size, np.nan, np.float16),)],
        "TOO_LARGE": [
            with_one(1.1e6),
            with_one(-1e300),
            (np.full(good.size, 10**9),),
            (np.full(good.size, 2**64 - 1, np.uint64),),
            (np.full(good.size, -(2**63)),),
            (np.full(good.size, 1e30, np.float32),),
        ],
    }


def malformed(good: Update, strangers: list[str], rng: np.random.Generator) -> tuple[str, Any]:
    """One message that must be refused, and the reason."""
    assert good.arrays is not None
    anything = junk()
    kinds: dict[str, Callable[[], Any]] = {
        "UNKNOWN_CLIENT": lambda: forced(good, client=_one([*anything, *strangers], rng)),
        "WRONG_RUN": lambda: forced(good, run=_one([*anything, "other"], rng)),
        "WRONG_ROUND": lambda: _one(
            [
                forced(good, round=_one([*_no_round(anything), good.round + 1, 10**9], rng)),
                forced(good, attempt=_one([*_no_round(anything), 2], rng)),
            ],
            rng,
        ),
        "LATE": lambda: _one(
            [forced(good, round=good.round - 1), forced(good, attempt=0), forced(good, round=-7)],
            rng,
        ),
        "NOT_ARRAYS": lambda: _one([*anything, Report("run", good.client, 0.5)], rng),
        "WITHDRAWN": lambda: forced(good, arrays=None, note=_one(anything, rng)),
    }
    for name, choices in broken_arrays(good.arrays[0], rng).items():
        kinds.setdefault(name, partial(_with_arrays, good, choices, rng))
    if rng.random() < 0.05:
        return "NOT_ARRAYS", forced(good, arrays=_one([5, "text", (None,), ([1.0],)], rng))
    name = _one(list(kinds), rng)
    return name, kinds[name]()


def malformed_report(good: Report, rng: np.random.Generator) -> tuple[str, Any]:
    """One report that must be refused, and the reason."""
    anything = junk()
    values = [*(v for v in anything if v is not True), 1.0001, -1e-9, (0.5, 0.5), np.array(0.5)]
    not_numbers = [v for v in values if not isinstance(v, np.floating | np.integer)]
    kinds: dict[str, Callable[[], Any]] = {
        "UNKNOWN_CLIENT": lambda: Report("run", _one([*anything, "stranger"], rng), 0.5),
        "WRONG_RUN": lambda: Report(_one([*anything, "other"], rng), good.client, 0.5),
        "NOT_ALLOWED": lambda: _one(
            [Report("run", good.client, _one(not_numbers, rng)), _one(anything, rng)], rng
        ),
    }
    name = _one(list(kinds), rng)
    return name, kinds[name]()


def _with_arrays(good: Update, choices: list[Any], rng: np.random.Generator) -> Update:
    return forced(good, arrays=_one(choices, rng))


def _no_round(values: list[Any]) -> list[Any]:
    """Without the values that are earlier rounds."""
    return [v for v in values if not (type(v) is int and v < 1)]


def _one(values: list[Any], rng: np.random.Generator) -> Any:
    return values[int(rng.integers(len(values)))]
