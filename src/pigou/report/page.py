"""One HTML file that holds everything: text, charts, and the program that draws them.

Nothing is loaded from anywhere, and the page's own policy forbids it: a browser would refuse.
"""

from importlib import resources
from pathlib import Path
from typing import Final

from plotly.offline import get_plotlyjs

from pigou.errors import PigouError
from pigou.report.markup import Html, bullets, element, joined, link
from pigou.report.sections import SECTIONS
from pigou.report.words import counted
from pigou.runs import RunRecord

POLICY: Final = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
)


def write(record: RunRecord, path: Path) -> None:
    """Write the report of a run to this file."""
    try:
        path.write_text(page(record), encoding="utf-8")
    except OSError as error:
        raise PigouError(f"{path}: cannot be written: {error.strerror or error}") from error


def page(record: RunRecord) -> str:
    """The whole document."""
    title = str(record.scenario.get("name") or record.run)
    sections = [make(record) for make in SECTIONS]
    contents = bullets(link(each.name, each.title) for each in sections)
    body = element(
        "body",
        element("header", element("h1", title), element("p", _subtitle(record))),
        element("nav", contents),
        element("main", *(each.html() for each in sections)),
        element("noscript", element("p", _no_script(), class_="notice")),
        element("script", Html(get_plotlyjs())),
        element("script", _own("page.js")),
    )
    return f"<!DOCTYPE html>\n{element('html', _head(title), body, lang='en')}\n"


def _head(title: str) -> Html:
    policy = {"http_equiv": "Content-Security-Policy", "content": POLICY}
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", **policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"{title} · pigou"),
        element("style", _own("page.css")),
    )


def _subtitle(record: RunRecord) -> Html:
    who = counted(len(record.clients), "client")
    return joined(
        [
            f"{who} trained one model together, in rounds, and each added noise to what it "
            "uploaded to protect its own data. This page shows what the noise did to the model, "
            "to everybody's privacy and to the bills, and what putting a price on it changed."
        ]
    )


def _no_script() -> str:
    return "The charts need JavaScript, which is off here. Text and tables do not."


def _own(name: str) -> Html:
    return Html(resources.files("pigou.report").joinpath(name).read_text(encoding="utf-8"))
