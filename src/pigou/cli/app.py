"""The program ``pigou``: its commands, and how it refuses bad input."""

import logging
import re
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Annotated, cast

import typer

from pigou.cli.anarchy import anarchy
from pigou.cli.calibrate import calibrate
from pigou.cli.certify import certify
from pigou.cli.compare import compare
from pigou.cli.data import data
from pigou.cli.deploy import deploy
from pigou.cli.ledger import ledger
from pigou.cli.quote import quote
from pigou.cli.reproduce import reproduce
from pigou.cli.run import run
from pigou.cli.scenario import scenario
from pigou.cli.solve import solve
from pigou.errors import PigouError

REFUSED = 2  # exit status when the input is wrong; 1 is a negative answer
INTERRUPTED = 130

# What typer raises for wrong options: click's class, or that of its own copy of click since 0.26.
USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]

app = typer.Typer(
    help="Put a price on privacy noise in federated learning, without verifying it.",
    epilog="Start with: pigou solve --alpha 0.2,0.5,0.8",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command()(solve)
app.command()(certify)
app.command()(compare)
app.command()(anarchy)
app.command()(run)
app.command()(quote)
app.command()(calibrate)
app.command()(reproduce)
app.add_typer(scenario, name="scenario")
app.add_typer(data, name="data")
app.add_typer(ledger, name="ledger")
app.add_typer(deploy, name="deploy")


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    show_version: Annotated[
        bool, typer.Option("--version", help="Show the version and stop.", is_eager=True)
    ] = False,
) -> None:
    """Put a price on privacy noise in federated learning, without verifying it."""
    if show_version:
        typer.echo(f"pigou {version('pigou')}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())
    else:
        return
    raise typer.Exit


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status. Bad input is one line on stderr and status 2."""
    logging.getLogger("psycopg").setLevel(logging.CRITICAL)  # the ledger's errors say it once
    command = typer.main.get_command(app)
    try:
        status = command.main(args=arguments, prog_name="pigou", standalone_mode=False)
    except USAGE_ERROR as error:
        return _refuse(_once(cast(typer.BadParameter, error).format_message()))
    except PigouError as error:
        return _refuse(str(error))
    except MemoryError:
        return _refuse("there is not enough memory for so many clients")
    except (typer.Abort, KeyboardInterrupt):
        return INTERRUPTED
    return status if isinstance(status, int) else 0


def _once(message: str) -> str:
    """The message with one suggestion where typer adds its own to click's."""
    return re.sub(r"(Did you mean [^?]*\?)(?: \1)+", r"\1", message)


def _refuse(message: str) -> int:
    print("pigou:", " ".join(message.split()), file=sys.stderr)
    return REFUSED
