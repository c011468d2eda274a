"""``pigou scenario``: begin a scenario file, and check one without running it."""

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from pigou.cli.files import writing
from pigou.cli.output import print_lines
from pigou.errors import require
from pigou.scenario import load

scenario = typer.Typer(help="Scenario files: begin one, check one.")

TEMPLATE = files("pigou.scenario") / "template.toml"


@scenario.callback(invoke_without_command=True)
def root(context: typer.Context) -> None:
    """Scenario files: begin one, check one."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit


@scenario.command()
def new(file: Annotated[Path, typer.Argument(help="Where to write it; must not exist.")]) -> None:
    """Write a commented example that runs.

    Examples:

    pigou scenario new mine.toml
    """
    require(not file.exists(), "FILE", "must not exist yet", str(file))
    with writing(file), file.open("x", encoding="utf-8") as opened:
        opened.write(TEMPLATE.read_text(encoding="utf-8"))
    print_lines(f"{file} is written. Change it, then: pigou run {file}")


@scenario.command()
def check(file: Annotated[Path, typer.Argument(help="A scenario file.")]) -> None:
    """Say what is wrong with a scenario file, all of it; or what it describes.

    Examples:

    pigou scenario check examples/three_hospitals.toml
    """
    found = load(file)
    facts = [
        f"{found.name}: {found.n} clients, {found.federation.rounds} rounds, "
        f"mechanism {found.mechanism.name}"
    ]
    if found.training is not None:
        from pigou.runs.preparing import build_task

        task, split = build_task(found)
        table = found.training
        facts.append(f"training: {table.learner} on {table.data}, {task.dim} numbers in a model")
        facts.append(f"data: {split.message}")
    print_lines(f"{file} is sound", *facts)
