"""What a reproduction leaves behind: the page, and a CSV and a picture per chart and table."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from pigou.errors import PigouError
from pigou.reproduce.chart import Chart
from pigou.reproduce.page import page
from pigou.reproduce.part import Chapter, Request
from pigou.reproduce.svg import svg
from pigou.reproduce.tables import sheets

PAGE: Final = "index.html"


def write(chapters: Sequence[Chapter], request: Request, folder: Path) -> None:
    """Write everything; files of an earlier reproduction are replaced."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in contents(chapters, request):
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise PigouError(f"{folder}: cannot be written: {error.strerror or error}") from error


def contents(chapters: Sequence[Chapter], request: Request) -> Iterator[tuple[str, str]]:
    """Every file's name and text; the page comes last."""
    for chapter in chapters:
        for chart in chapter.charts:
            yield f"{chart.name}.csv", chart_csv(chart)
            yield f"{chart.name}.svg", svg(chart)
    for sheet in sheets(chapters):
        yield f"{sheet.name}.csv", written([sheet.table.columns, *sheet.table.rows])
    yield PAGE, page(chapters, request)


def chart_csv(chart: Chart) -> str:
    """All numbers to the last digit: a row per series and point, empty where there is none."""
    rows: list[tuple[object, ...]] = [("series", chart.x_title, chart.y_title, "low", "high")]
    for series in chart.series:
        low = series.y if series.low is None else series.low
        high = series.y if series.high is None else series.high
        numbers = zip(*(part.tolist() for part in (series.x, series.y, low, high)), strict=True)
        rows += [(series.name, *("" if v != v else v for v in row)) for row in numbers]
    return written(rows)


def written(rows: Iterable[Iterable[object]]) -> str:
    """Rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
