"""``pigou deploy``: keys, certificates, scripts and instructions for a federation on Flower."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pigou.cli.files import placed, require_empty
from pigou.cli.output import print_lines
from pigou.errors import PigouError, require
from pigou.scenario import load

if TYPE_CHECKING:
    from pigou.deployment import Member, Places

LOOPBACK = "127.0.0.1:8000"

deploy = typer.Typer(help="A federation on Flower: keys, certificates, scripts, instructions.")

ScenarioFile = Annotated[
    Path, typer.Argument(metavar="SCENARIO.toml", help="The contract: a scenario file.")
]
Out = Annotated[Path, typer.Option(metavar="DIR", help="The folder to write, empty or new.")]
Public = Annotated[
    str, typer.Option("--superlink", metavar="HOST:PORT", help="Where nodes find the server.")
]
Bind = Annotated[
    str,
    typer.Option(
        metavar="HOST:PORT",
        help="Where the SuperLink itself listens; nobody else may reach it there.",
    ),
]


@deploy.callback(invoke_without_command=True)
def root(context: typer.Context) -> None:
    """A federation on Flower: keys, certificates, scripts, instructions."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit


@deploy.command()
def client(
    scenario: ScenarioFile,
    name: Annotated[str, typer.Argument(help="Your name in the scenario.")],
    alpha: Annotated[
        float, typer.Option(help="What privacy is worth to you, in [0, 1]; stays in the folder.")
    ],
    superlink: Public,
    out: Out,
) -> None:
    """Make one institution's keys, on its own machine, and print the public halves to send in.

    Examples:

    pigou deploy client federation.toml "St. Anna" --alpha 0.5
      --superlink fl.example.org:443 --out st-anna
    """
    from pigou.deployment import Address, Behaviour, client_folder

    require_empty("--out", out)
    server = Address.parse("--superlink", superlink)
    made = client_folder(load(scenario), name, Behaviour(alpha=alpha), server)
    placed(out, made.files)
    print_lines(
        made.files["member.toml"].content.decode(),
        f"Send this, the file {out / 'member.toml'}, to the operator. Everything else in {out} "
        "stays there.",
        f"Fingerprint, to be compared over the phone: {made.member.fingerprint}",
        f"Next: {out / 'README.md'}",
    )


@deploy.command()
def server(
    scenario: ScenarioFile,
    members: Annotated[
        list[Path],
        typer.Option(
            metavar="FILE", help="What a client sent in: its member.toml. Once per client."
        ),
    ],
    superlink: Public,
    out: Out,
    bind: Bind = LOOPBACK,
) -> None:
    """Make the server's folder from the public halves of the clients' keys.

    Examples:

    pigou deploy server federation.toml --members a.toml --members b.toml
      --members c.toml --superlink fl.example.org:443 --out server
    """
    from pigou.deployment import server_folder

    require_empty("--out", out)
    sent = [member for file in members for member in _read(file)]
    placed(out, server_folder(load(scenario), sent, _places(superlink, bind)))
    print_lines(
        *(f"{member.fingerprint}  {member.name}" for member in sent),
        "Compare each fingerprint with its owner over the phone.",
        f"Next: {out / 'README.md'}; who can do what: {out / 'threat-model.md'}",
    )


@deploy.command()
def trial(
    scenario: ScenarioFile,
    out: Out,
    superlink: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Where nodes find the server. Default: --bind."),
    ] = None,
    bind: Bind = LOOPBACK,
) -> None:
    """Make the server's folder and all clients' on this one machine: for testing only.

    Examples:

    pigou deploy trial examples/three_hospitals.toml --out trial
    """
    from pigou.deployment import trial_folder

    require_empty("--out", out)
    placed(out, trial_folder(load(scenario), _places(superlink or bind, bind)))
    print_lines(
        f"{out} holds a server and its clients.",
        "All keys were made on this machine: they are for testing. In a real federation every "
        "institution",
        "makes its own with pigou deploy client, and private keys never meet.",
        f"Next: {out / 'server' / 'README.md'}",
    )


def _places(superlink: str, bind: str) -> "Places":
    from pigou.deployment import Address, Places

    public, local = Address.parse("--superlink", superlink), Address.parse("--bind", bind)
    behind_proxy = public != local
    apart = not behind_proxy or public.port != local.port
    require(apart, "--bind", "must have another port than --superlink, which the proxy takes", bind)
    return Places(public, local)


def _read(file: Path) -> "list[Member]":
    from pigou.deployment import from_toml

    try:
        return from_toml(file.read_text(encoding="utf-8"), str(file))
    except OSError as error:
        raise PigouError(f"{file}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise PigouError(f"{file}: is not UTF-8 text") from error
