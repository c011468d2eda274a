"""A run's folder: what is written there reads back as the same record, whatever it holds."""

import json
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.small_runs import ready_small
from tests.strategies import rngs

from pigou import PigouError
from pigou.runs import TREATMENTS, RunRecord, TreatmentRecord, read, run, write
from pigou.runs.record import (
    CalibrationRecord,
    CertificateRecord,
    HeterogeneityRecord,
    RefusalRecord,
    exact_sum,
)


def same(one: Any, other: Any) -> bool:
    """Equal to the bit, in type and in shape; NaN equals NaN."""
    if type(one) is not type(other):
        return False
    if is_dataclass(one):
        return all(same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    if isinstance(one, np.ndarray):
        kind = one.dtype.kind
        alike = one.shape == other.shape and kind == other.dtype.kind
        if kind == "f":
            return alike and np.array_equal(
                np.where(np.isnan(one), 0, one).view(np.int64),
                np.where(np.isnan(other), 0, other).view(np.int64),
            )
        return alike and bool((one == other).all())
    if isinstance(one, float):
        return same(np.array([one]), np.array([other]))
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def numbers(rng: np.random.Generator, *shape: int) -> NDArray[np.float64]:
    """Floats of any size, some of them NaN, infinite or a negative zero."""
    values = np.asarray(rng.normal(size=shape) * 10.0 ** rng.integers(-300, 300, shape))
    odd = rng.choice([np.nan, np.inf, -np.inf, -0.0], shape)
    return np.where(rng.random(shape) < 0.3, odd, values)


def words(rng: np.random.Generator, size: int) -> tuple[str, ...]:
    letters = list("ab ,;\"'é名-%nainf")
    return tuple("".join(rng.choice(letters, 5)) + str(k) for k in range(size))


def treatment(rng: np.random.Generator, name: Any, n: int, rounds: int) -> TreatmentRecord:
    certificate = CertificateRecord(
        ok=bool(rng.random() < 0.5),
        max_gain=float(numbers(rng)),
        worst_client="a",
        ratio_to_optimum=float("inf"),
        ratio_to_best_weights=1.5,
        budget_residual=-0.0,
        better_off=0.25,
        text="two\nlines",
    )
    return TreatmentRecord(
        name=name,
        mechanism="pigouvian",
        loss=numbers(rng, rounds + 1),
        accuracy=numbers(rng, rounds + 1),
        sigma=numbers(rng, rounds, n),
        target=numbers(rng, rounds, n) if rng.random() < 0.5 else None,
        charge=numbers(rng, rounds, n),
        refund=numbers(rng, rounds, n),
        transfers=numbers(rng, n),
        error_true=numbers(rng, rounds),
        error_estimate=numbers(rng, rounds),
        social_cost=numbers(rng, rounds),
        optimum=float(numbers(rng)),
        flags=rng.choice(["as announced", "too much noise"], (rounds, n)),
        notes=words(rng, rounds),
        refusals=(RefusalRecord(round=1, client="b", reason="late", detail='", '),),
        epsilon=numbers(rng, n),
        paper_epsilon=numbers(rng, n),
        paper_condition=rng.random(n) < 0.5,
        conducts=words(rng, n),
        certificate=certificate if rng.random() < 0.5 else None,
        stopped="",
    )


def record(rng: np.random.Generator, n: int, rounds: int) -> RunRecord:
    levels = [numbers(rng, 3) for _ in range(5)]
    calibration = CalibrationRecord(
        rounds=30,
        levels=levels[0],
        excess=levels[1],
        excess_error=levels[2],
        fitted=levels[3],
        bounded=levels[4],
        linear=0.0,
        quadratic=3.5,
        linear_error=float("inf"),
        quadratic_error=1e-300,
        smoothness=2.0,
        distance=0.1,
    )
    measured = HeterogeneityRecord(spread=numbers(rng, n), divergence=numbers(rng, n))
    return RunRecord(
        scenario={"name": "x", "federation": {"spread": [1.0, 0.1]}},
        run="x-1",
        currency="EUR",
        money=2.5,
        rounds=rounds,
        clients=words(rng, n),
        alpha=numbers(rng, n),
        dim=65,
        clip=0.5,
        delta=1e-5,
        adjacency="zero-out",
        linear=0.0,
        quadratic=1.0,
        bound=(1.0, float("inf")) if rng.random() < 0.5 else None,
        calibration=calibration if rng.random() < 0.5 else None,
        heterogeneity=measured if rng.random() < 0.5 else None,
        split="all of it",
        family_error=0.01,
        treatments=tuple(treatment(rng, name, n, rounds) for name in TREATMENTS),
    )


@given(rngs(), st.integers(1, 4), st.integers(0, 3))
@settings(deadline=None, max_examples=60)
def test_every_record_comes_back(
    tmp_path_factory: pytest.TempPathFactory, rng: np.random.Generator, n: int, rounds: int
) -> None:
    folder = tmp_path_factory.mktemp("run") / "new" / "one"
    original = record(rng, n, rounds)
    write(original, folder)
    assert same(read(folder), original)


def test_a_real_run_comes_back(tmp_path: Path) -> None:
    original = run(ready_small())
    write(original, tmp_path)
    again = read(tmp_path)
    assert same(again, original)
    again.treatments[0].loss[0] += 1e-15
    assert not same(again, original)  # the comparison can fail


def test_what_is_no_run_is_told(tmp_path: Path) -> None:
    def refused() -> str:
        with pytest.raises(PigouError, match="is not the folder of a run") as caught:
            read(tmp_path)
        return str(caught.value)

    assert "No such file" in refused()
    write(run(ready_small()), tmp_path)
    summary = tmp_path / "summary.json"
    whole = json.loads(summary.read_text())
    for broken in (
        "{",
        "[]",
        "{}",
        json.dumps({**whole, "format": 99}),
        json.dumps({**whole, "alpha": []}),
    ):
        summary.write_text(broken)
        refused()
    summary.write_text(json.dumps(whole))
    table = (tmp_path / "clients.csv").read_text()
    for text in (table[: len(table) // 2], table.replace("0.", "zero."), ""):
        (tmp_path / "clients.csv").write_text(text)
        refused()


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PigouError, match="cannot be written"):
        write(run(ready_small()), tmp_path / "file" / "run")


def test_shapes_are_checked() -> None:
    rng = np.random.default_rng(0)
    good = treatment(rng, "priced", 3, 2)
    parts = {f.name: getattr(good, f.name) for f in fields(good)}
    for name in ("loss", "charge", "epsilon", "flags", "error_true", "notes", "conducts"):
        with pytest.raises(PigouError, match=name):
            TreatmentRecord(**{**parts, name: parts[name][:-1]})


def test_money_adds_up_to_the_micro_unit() -> None:
    """Floats of micro-units: 0.1 + 0.2 - 0.3 is not 0 in floats, and must be 0 in money."""
    amounts = np.array([0.1, 0.2, -0.3])
    assert amounts.sum() != 0
    assert exact_sum(amounts, axis=0) == 0
    rng = np.random.default_rng(1)
    micro = rng.integers(-(10**12), 10**12, 1000)
    assert exact_sum(micro / 1e6, axis=0) == micro.sum() / 1e6
