"""The quick version as the command makes it: its files' shapes, and its page in a browser."""

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.browser import Browser, chromium, is_sound
from tests.reproduce.named_tests import exists
from tests.reproduce.pages import chapter, chart

from pigou.cli import main
from pigou.reproduce.files import write
from pigou.reproduce.part import Chapter, Request
from pigou.reproduce.parts import PARTS
from pigou.reproduce.treatments import (
    CORRECTED,
    GROVES,
    MEAN_UNPRICED,
    MENU,
    POSTED,
    UNPRICED,
)

Curves = dict[str, tuple[np.ndarray, np.ndarray]]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(chromium(), tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `pigou reproduce all --quick` leaves behind."""
    out = tmp_path_factory.mktemp("reproduced")
    assert main(["reproduce", "all", "--quick", "--out", str(out)]) == 0
    return out


def rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


def curves(path: Path) -> Curves:
    """Every series' x and y; NaN where there is a gap."""
    found: dict[str, list[tuple[float, float]]] = {}
    for name, x, y, *_ in rows(path):
        found.setdefault(name, []).append((float(x), float(y or "nan")))
    return {name: (np.array(p)[:, 0], np.array(p)[:, 1]) for name, p in found.items()}


@pytest.mark.long
def test_figure_1_rises_without_prices_and_is_flat_with_them(folder: Path) -> None:
    found = {name: y for name, (_, y) in curves(folder / "fig1.csv").items()}
    for name in (UNPRICED, MEAN_UNPRICED):
        assert (np.diff(found[name]) > 0).all()
    for name in (CORRECTED, GROVES, POSTED):
        assert found[name].max() < 1.25 * found[name].min()
        assert (found[name] < found[MEAN_UNPRICED]).all()
    assert found[UNPRICED][-1] > 2.0 * found[UNPRICED][0]
    assert (found[UNPRICED] > found[MEAN_UNPRICED]).all()
    assert (found[CORRECTED] > found[GROVES]).all()


@pytest.mark.long
def test_figure_2_peaks_inside_and_prices_lie_far_below(folder: Path) -> None:
    found = curves(folder / "fig2.csv")
    eta, unpriced = found[UNPRICED]
    assert 0.6 < eta[np.nanargmax(unpriced)] < 0.8
    mean_eta, mean = found[MEAN_UNPRICED]
    assert 0.4 < mean_eta[mean.argmax()] < 0.6
    for name in (CORRECTED, GROVES, POSTED, MENU):
        _, priced = found[name]
        assert np.nanmin(mean / priced) > 4.0
    assert np.isnan(found[CORRECTED][1]).sum() == 1
    assert np.isnan(found[CORRECTED][1][np.isclose(eta, 0.5)]).all()


@pytest.mark.long
def test_the_price_of_anarchy_grows(folder: Path) -> None:
    for _, ratio in curves(folder / "anarchy_clients.csv").values():
        assert (np.diff(ratio) > 0).all()
    for _, ratio in curves(folder / "anarchy_sensitivity.csv").values():
        assert (np.diff(ratio) > 0).all()


@pytest.mark.long
def test_fewer_clients_upload_where_honest_updates_are_exact(folder: Path) -> None:
    """The order of the table of section 5."""
    found = np.array(rows(folder / "weights.csv"), dtype=float)
    spread, unpriced, mean, best, active = found.T
    assert (np.diff(spread) > 0).all()
    assert (np.diff(active) > 0).all()
    assert active[0] == 1
    assert (np.diff(best) > 0).all()
    assert (best <= mean).all()
    assert (mean < unpriced).all()


@pytest.mark.long
def test_nobody_gains_under_the_repaired_mechanisms(folder: Path) -> None:
    found = [row for row in rows(folder / "mechanisms.csv") if row[2] != "—"]
    ours = [row for row in found if row[1] in ("posted", "groves", "menu")]
    assert len(ours) >= 15
    for _, _, ratio, lying, disobeying, *_ in ours:
        assert 1.0 - 1e-9 <= float(ratio) < 1.01
        assert lying in ("none", "no reports")
        assert disobeying == "none"
    papers = [row for row in found if row[1] == "paper-two-types"]
    assert papers
    assert all(row[3] not in ("none", "not searched") for row in papers)


@pytest.mark.long
def test_every_statement_names_tests_that_exist(folder: Path) -> None:
    found = rows(folder / "claims.csv")
    assert len(found) >= 26
    for *_, tests in found:
        assert tests
        assert all(map(exists, tests.split("\n"))), tests


@pytest.mark.long
def test_the_whole_page_draws_without_a_network(browser: Browser, folder: Path) -> None:
    with browser.page((folder / "index.html").as_uri()) as page:
        drawn = is_sound(page)
        sections = set(page.ask("[...document.querySelectorAll('section')].map(each => each.id)"))
    charts = {path.stem for path in folder.glob("*.svg")}
    assert drawn == {f"chart-{name}" for name in charts}
    assert {"fig1", "fig2", "fig2_priced", "anarchy_clients", "anarchy_sensitivity"} <= charts
    assert {"summary", "claims", "parameters", "sensitivity", "added", "errata"} <= sections
    assert all(part.name in sections for part in PARTS if part.name != "statements")


def test_a_small_page_draws_without_a_network(browser: Browser, tmp_path: Path) -> None:
    one = Chapter("part", "A part", (chart("linear"), chart("logarithmic", log_y=True)))
    write([chapter(chart("small")), one], Request(), tmp_path)
    with browser.page((tmp_path / "index.html").as_uri()) as page:
        assert is_sound(page) == {"chart-small", "chart-linear", "chart-logarithmic"}
