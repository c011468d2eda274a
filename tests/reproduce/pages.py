"""Small chapters, with everything that a page can hold."""

import numpy as np

from pigou.paper.errata.record import Table
from pigou.reproduce.chart import Chart, Note, Series
from pigou.reproduce.part import Chapter, Claim, Heading, Parameter, Sheet, Verdict

X = np.array([0.0, 1.0, 2.0, 3.0])
GAP = np.array([1.0, np.nan, 4.0, 5.0])


def chart(name: str = "small", **more: object) -> Chart:
    parts: dict[str, object] = {
        "title": "A <title> & more",
        "caption": "What it shows.",
        "x_title": "x",
        "y_title": "y",
        "series": (
            Series("whole", X, X + 1.0, X + 0.5, X + 2.0),
            Series("with a gap", X, GAP),
        ),
        "notes": (Note(1.0, 1.0, "nothing here"), Note(2.0, 3.0, "a stretch")),
        **more,
    }
    return Chart(name=name, **parts)  # type: ignore[arg-type]  # as given by the tests


def chapter(*charts: Chart) -> Chapter:
    table = Table("A table", ("what", "how much"), (("one", 1.23456), ("two", 2)))
    return Chapter(
        name="first",
        title="The first",
        content=("A paragraph.", Heading("Within"), *charts, Sheet("numbers", table)),
        summary="It is small.",
        parameters=(Parameter("k", "a constant", "3", "chosen", "this"),),
        claims=(
            Claim("Fig. 2", "It falls.", Verdict.NOT, "It rises by 2.", ("tests/x.py::test_y",)),
        ),
    )
