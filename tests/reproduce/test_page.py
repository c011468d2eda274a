"""The page, the pictures and the tables, from small chapters."""

import csv
import io
import json
import math
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from tests.reproduce.pages import X, chapter, chart

from pigou.errors import PigouError
from pigou.paper.errata.record import Table
from pigou.reproduce import drawing, fig1
from pigou.reproduce.axes import Axis, ticks
from pigou.reproduce.chart import Note, Series, averaged, banded
from pigou.reproduce.files import chart_csv, contents, write
from pigou.reproduce.page import page
from pigou.reproduce.part import Chapter, Request, Sheet
from pigou.reproduce.svg import stretches, svg, wrapped
from pigou.reproduce.treatments import MENU

FIGURES = Path(__file__).parents[2] / "docs" / "figures"
SVG = "{http://www.w3.org/2000/svg}"
REQUEST = Request(quick=True, seed=7)


def picture(text: str) -> ET.Element:
    return ET.fromstring(text)


def test_a_picture_is_well_formed_and_says_its_names() -> None:
    root = picture(svg(chart()))
    texts = [each.text for each in root.iter(f"{SVG}text")]
    for said in ("A <title> & more", "x", "y", "whole", "with a gap", "a: nothing here", "a", "b"):
        assert said in texts


def test_the_pictures_in_the_documentation_are_of_these_figures() -> None:
    """They are made by `make figures`; this notices names that have changed since."""
    for name, treatments in (("fig1", fig1.TREATMENTS), ("fig2", (*fig1.TREATMENTS, MENU))):
        root = picture((FIGURES / f"{name}.svg").read_text(encoding="utf-8"))
        texts = {each.text for each in root.iter(f"{SVG}text")}
        assert set(treatments) <= texts
        assert len(list(root.iter(f"{SVG}polyline"))) >= len(treatments)


def test_a_gap_breaks_the_line_and_a_lone_point_is_a_dot() -> None:
    root = picture(svg(chart()))
    lines = [each.get("points", "").split() for each in root.iter(f"{SVG}polyline")]
    assert [len(points) for points in lines] == [4, 2]
    assert len(list(root.iter(f"{SVG}circle"))) == 1
    assert len(list(root.iter(f"{SVG}polygon"))) == 1


def test_a_picture_holds_no_nan_and_nothing_outside_its_frame() -> None:
    for log in (False, True):
        text = svg(chart(log_y=log))
        assert "nan" not in text
        root = picture(text)
        _, _, width, height = map(float, root.get("viewBox", "").split())
        for line in root.iter(f"{SVG}polyline"):
            for point in line.get("points", "").split():
                x, y = map(float, point.split(","))
                assert 0 <= x <= width
                assert 0 <= y <= height


def test_higher_values_stand_higher() -> None:
    root = picture(svg(chart()))
    first = next(root.iter(f"{SVG}polyline")).get("points", "").split()
    heights = [float(point.split(",")[1]) for point in first]
    assert heights == sorted(heights, reverse=True)


@pytest.mark.parametrize(
    ("low", "high", "log", "marked"),
    [
        (0.0, 1.0, False, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (80.0, 700.0, False, [200.0, 400.0, 600.0]),
        (80.0, 700.0, True, [100.0, 200.0, 500.0]),
        (1e-9, 1e-3, True, [1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3]),
    ],
)
def test_round_numbers_are_marked(low: float, high: float, log: bool, marked: list[float]) -> None:
    found = ticks(Axis(low, high, 0.0, 1.0, log))
    assert found == pytest.approx(marked)


def test_an_axis_without_values_is_still_one() -> None:
    assert Axis.over([np.full(3, np.nan)], 0.0, 1.0, log=True).high == 10.0


def test_runs_of_known_points() -> None:
    assert stretches(np.array([True, False, True, True, False])) == [(0, 1), (2, 4)]
    assert stretches(np.zeros(2, dtype=bool)) == []


def test_long_notes_are_wrapped() -> None:
    assert wrapped("word " * 60) == [" ".join(["word"] * 22)] * 2 + [" ".join(["word"] * 16)]


def test_a_chart_s_csv_holds_every_digit_and_nothing_for_a_gap() -> None:
    third = Series("third", X, X / 3.0)
    rows = list(csv.reader(io.StringIO(chart_csv(chart(series=(third, *chart().series))))))
    assert rows[0] == ["series", "x", "y", "low", "high"]
    assert [float(row[2]) for row in rows[1:5]] == (X / 3.0).tolist()
    gap = [row for row in rows if row[0] == "with a gap"]
    assert [row[2] for row in gap] == ["1.0", "", "4.0", "5.0"]
    assert [float(row[3]) for row in rows if row[0] == "whole"] == (X + 0.5).tolist()


def test_figures_keep_the_gap_and_letter_the_notes() -> None:
    figure = drawing.figure(chart())
    drawn = {trace.name: trace for trace in figure.data if trace.name}
    assert math.isnan(drawn["with a gap"].y[1])
    assert drawn["with a gap"].connectgaps is False
    assert [each.text for each in figure.layout.annotations] == ["a", "b"]
    assert "a: nothing here" in drawing.caption(chart())


def test_an_axis_over_many_powers_of_ten_marks_these_alone() -> None:
    wide = Series("wide", X, np.array([1e-9, 1e-6, 1e-3, 1.0]))
    assert drawing.figure(chart(series=(wide,), log_y=True)).layout.yaxis.dtick == 1


def test_the_page_holds_everything_in_order() -> None:
    text = page([chapter(chart("one"), chart("two"))], REQUEST)
    body = text[text.index("<header>") : text.index("<noscript>")]
    said = ["quick version", "seed 7", "It is small.", "It rises by 2."]
    said += ["A paragraph.", "Within", "A table", "a constant"]
    places = [body.index(each) for each in said]
    assert places == sorted(places)
    assert re.findall(r'data-chart="([\w-]+)"', body) == ["chart-one", "chart-two"]
    assert re.findall(r'<div id="([\w-]+)" class="chart"', body) == ["chart-one", "chart-two"]
    for data in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', body):
        assert len(json.loads(data)["data"]) == 3
    assert "A &lt;title&gt; &amp; more" in body


def test_the_full_version_does_not_call_itself_quick() -> None:
    assert "quick version" not in page([chapter()], Request())


def test_a_chapter_without_content_has_no_heading() -> None:
    text = page([chapter(), Chapter("silent", "", ())], REQUEST)
    assert 'id="silent"' not in text
    assert 'href="#silent"' not in text


def test_files_are_the_page_and_two_per_chart_and_one_per_table(tmp_path: Path) -> None:
    write([chapter(chart("one"))], REQUEST, tmp_path / "new" / "folder")
    names = {path.name for path in (tmp_path / "new" / "folder").iterdir()}
    tables = {"numbers.csv", "claims.csv", "parameters.csv"}
    assert names == {"index.html", "one.csv", "one.svg"} | tables


def test_no_two_files_have_one_name() -> None:
    names = [name for name, _ in contents([chapter(chart("one"), chart("two"))], REQUEST)]
    assert len(set(names)) == len(names)


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PigouError, match=r"file: cannot be written"):
        write([chapter()], REQUEST, tmp_path / "file")


def test_words_of_a_table_stay_words() -> None:
    table = Table("t", ("a",), (("x <y>\nz",),))
    text = page([Chapter("c", "C", (Sheet("s", table),))], REQUEST)
    assert "x &lt;y&gt;<br>z" in text


def test_bands() -> None:
    draws = np.tile(np.arange(101.0), (2, 1))
    series = banded("b", np.array([0.0, 1.0]), draws)
    assert series.low is not None
    assert series.high is not None
    assert (series.low[0], series.y[0], series.high[0]) == pytest.approx((10.0, 50.0, 90.0))
    mean = averaged("m", np.array([0.0, 1.0]), draws)
    assert mean.high is not None
    assert mean.high[0] - mean.y[0] == pytest.approx(np.arange(101.0).std(ddof=1) / math.sqrt(101))
    assert mean.at(1.0) == 50.0


def test_series_of_unequal_lengths_are_refused() -> None:
    with pytest.raises(PigouError, match=r"series must hold 4 values each, like x"):
        Series("s", X, X[:2])
    with pytest.raises(PigouError, match=r"low and high"):
        Series("s", X, X, low=X)


def test_a_note_on_a_line_and_one_on_a_stretch() -> None:
    root = picture(svg(chart(notes=(Note(1.0, 2.0, "wide"),))))
    assert len(list(root.iter(f"{SVG}rect"))) == 2
