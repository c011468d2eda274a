"""One HTML file that holds everything: text, charts, and the program that draws them.

Nothing is loaded from anywhere, and the page's own policy forbids it: a browser would refuse.
"""

from collections.abc import Sequence
from importlib import resources
from typing import Final

from plotly.offline import get_plotlyjs

from pigou.report.markup import Html, bullets, element, link
from pigou.report.section import Section

POLICY: Final = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
)
NO_SCRIPT: Final = "The charts need JavaScript, which is off here. Text and tables do not."


def document(title: str, subtitle: Html, sections: Sequence[Section]) -> str:
    """The whole document: a head line, links to the sections, and the sections."""
    contents = bullets(link(each.name, each.title) for each in sections)
    body = element(
        "body",
        element("header", element("h1", title), element("p", subtitle)),
        element("nav", contents),
        element("main", *(each.html() for each in sections)),
        element("noscript", element("p", NO_SCRIPT, class_="notice")),
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


def _own(name: str) -> Html:
    return Html(resources.files("pigou.report").joinpath(name).read_text(encoding="utf-8"))
