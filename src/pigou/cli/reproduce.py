"""``pigou reproduce``: the paper's figures, claims and errata, computed anew."""

from pathlib import Path
from textwrap import wrap
from typing import Annotated

import typer

from pigou.cli.output import print_lines
from pigou.cli.progress import counting

ALL = "all"
LINE = 100  # characters


def reproduce(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[all|fig1|fig2|anarchy|claims|errata]…",
            help="What to compute. Default: all.",
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where index.html, CSV and SVG files go.")
    ] = Path("reproduction"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Few draws, small data: about a minute for all.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Where random draws start.")] = 0,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Data sets; default: PIGOU_DATA or the user's cache."),
    ] = None,
) -> None:
    """Compute the paper's figures, claims and errata anew, with this project's mechanisms beside.

    Examples:

    pigou reproduce all --out reproduction

    pigou reproduce fig2 claims --quick
    """
    # plotly and the data sets' readers take a second to load, which no other command needs
    from pigou.reproduce.execution import asked_for, make
    from pigou.reproduce.files import PAGE, write
    from pigou.reproduce.part import Request
    from pigou.reproduce.tables import claims, counted

    parts = asked_for(what or [ALL])
    with counting() as watch:
        request = Request(quick=quick, seed=seed, data=data, watch=watch)
        chapters = make(parts, request)
    write(chapters, request, out)
    for chapter in chapters:
        if chapter.summary:
            said = f"{chapter.title}. {chapter.summary}"
            print_lines(*wrap(said, LINE, break_on_hyphens=False), "")
    if stated := claims(chapters):
        print_lines(counted(stated), "")
    print_lines(f"Read: {out / PAGE}")
