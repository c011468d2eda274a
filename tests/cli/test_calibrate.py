"""``pigou calibrate``: what noise costs on a task, and lines that can be pasted."""

import json
import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tests.cli.conftest import Run
from tests.small_runs import changed, small

from pigou.runs.measuring import Measured, measure
from pigou.scenario import load

PASTE = "To paste into the scenario:\n\n"


@cache
def measured() -> Measured:
    return measure(small())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(changed(), encoding="utf-8")
    return path


def test_json_is_the_measurement(run: Run, file: Path) -> None:
    result = run("calibrate", str(file), "--json")
    assert (result.status, result.err) == (0, "")
    found, wanted = json.loads(result.out), measured()
    fit = wanted.calibration
    assert (found["linear"], found["quadratic"]) == (fit.loss.linear, fit.loss.quadratic)
    for name in ("levels", "excess", "excess_error", "fitted"):
        np.testing.assert_array_equal(found[name], getattr(fit, name))
    np.testing.assert_array_equal(found["bound"], fit.bounded)
    np.testing.assert_array_equal(found["spread"], wanted.heterogeneity.spread)
    np.testing.assert_array_equal(found["divergence"], wanted.heterogeneity.divergence)
    assert all(norm > 0 for norm in found["norms"])


def test_the_fit_is_the_formula(run: Run, file: Path) -> None:
    found = json.loads(run("calibrate", str(file), "--json").out)
    levels = np.array(found["levels"])
    psi = found["linear"] * levels + found["quadratic"] * np.square(levels)
    np.testing.assert_allclose(found["fitted"], psi, rtol=1e-12)
    assert (np.array(found["bound"]) > found["fitted"]).all()  # a bound


def test_the_lines_to_paste_make_a_scenario_with_these_values(run: Run, file: Path) -> None:
    out = run("calibrate", str(file)).out
    pasted = tomllib.loads(out.partition(PASTE)[2])
    text = changed(
        ("linear = 0.0\nquadratic = 30.0", "\n".join(out.partition("[loss]\n")[2].split("\n")[:2])),
        ("spread = 0.0\ndivergence = 0.0", out.partition("[federation]\n")[2]),
    )
    file.write_text(text, encoding="utf-8")
    setting, wanted = load(file).setting(), measured()
    assert setting.loss == wanted.calibration.loss
    np.testing.assert_array_equal(setting.spread, wanted.heterogeneity.spread)
    np.testing.assert_array_equal(setting.divergence, wanted.heterogeneity.divergence)
    assert set(pasted) == {"loss", "federation"}


def test_the_table_has_every_level(run: Run, file: Path) -> None:
    out = run("calibrate", str(file)).out
    fit = measured().calibration
    for level, excess in zip(fit.levels, fit.excess, strict=True):
        assert any(
            line.split()[:2] == [f"{level:.4g}", f"{excess:.4g}"] for line in out.splitlines()
        )


def test_nothing_is_calibrated_without_a_training(run: Run, file: Path) -> None:
    head, _, tail = changed().partition("[training]")
    file.write_text(head + tail[tail.index("[limits]") :])
    result = run("calibrate", str(file))
    assert (result.status, result.out) == (2, "")
    assert "training must be given" in result.err
    assert run("calibrate", "absent.toml").status == 2
