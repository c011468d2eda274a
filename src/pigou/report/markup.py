"""HTML that cannot be broken by a name: whatever is not ``Html`` already is escaped."""

import html
from collections.abc import Iterable, Sequence
from typing import Any, Final

import plotly.io

VOID: Final = ("meta", "br")


class Html(str):
    """Text that is HTML; only the functions of this module make it."""

    __slots__ = ()


def text(value: object) -> Html:
    """Anything as HTML: HTML as it is, all else escaped."""
    return value if isinstance(value, Html) else Html(html.escape(str(value)))


def joined(parts: Iterable[object], between: str = "") -> Html:
    """The parts one after the other."""
    return Html(text(between).join(text(part) for part in parts))


def element(tag: str, *content: object, **attributes: str) -> Html:
    """<tag ...>content</tag>; ``class_`` stands for class, data_x for data-x."""
    named = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
    given = "".join(f' {key}="{html.escape(value)}"' for key, value in named.items())
    if tag in VOID:
        return Html(f"<{tag}{given}>")
    return Html(f"<{tag}{given}>{joined(content)}</{tag}>")


def paragraph(*content: object) -> Html:
    """A paragraph."""
    return element("p", *content)


def bullets(items: Iterable[object]) -> Html:
    """A list, or nothing where there are no items."""
    lines = [element("li", item) for item in items]
    return element("ul", *lines) if lines else Html("")


def link(target: str, words: str) -> Html:
    """A link to another section of the page."""
    return element("a", words, href=f"#{target}")


def facts(pairs: Iterable[tuple[str, object]]) -> Html:
    """Names and what they stand for."""
    return element("dl", *(joined([element("dt", k), element("dd", v)]) for k, v in pairs))


def table(
    headers: Sequence[str], rows: Iterable[Sequence[object]], words: Sequence[int] = (0,)
) -> Html:
    """A table whose columns hold numbers, but for those whose places are in ``words``."""

    def cells(tag: str, values: Sequence[object]) -> Html:
        kinds = ["words" if k in words else "number" for k in range(len(values))]
        pairs = zip(values, kinds, strict=True)
        return element("tr", *(element(tag, value, class_=kind) for value, kind in pairs))

    head = element("thead", cells("th", headers))
    body = element("tbody", *(cells("td", row) for row in rows))
    return element("div", element("table", head, body), class_="scroll")


def folded(summary: str, *content: object) -> Html:
    """Content that opens on a click."""
    return element("details", element("summary", summary), *content)


def chart(name: str, figure: Any, caption: object) -> Html:
    """A place for a plotly figure, its data, and what it shows in words.

    Plotly's JSON has its <, > and / escaped: it cannot end the script that holds it.
    """
    place = f"chart-{name}"  # sections have the plain names
    data = Html(plotly.io.to_json(figure, validate=False, remove_uids=True))
    return element(
        "figure",
        element("div", id=place, class_="chart", style=f"height:{figure.layout.height}px"),
        element("script", data, type="application/json", data_chart=place),
        element("figcaption", caption),
    )


def label(name: str, longest: int = 28) -> str:
    """A name as charts show it: cut short, and safe in plotly's own little HTML."""
    cut = name if len(name) <= longest else name[: longest - 1] + "…"
    return html.escape(" ".join(cut.split()), quote=False)
