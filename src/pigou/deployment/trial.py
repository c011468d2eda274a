"""A whole deployment from one machine, for trying things out: all private keys have met there."""

from typing import Final

from pigou.deployment.client import (
    FROM_SERVER,
    NODE_PORT,
    Behaviour,
    client_folder,
)
from pigou.deployment.files import File, Files, below, text
from pigou.deployment.names import folder_names
from pigou.deployment.server import FOR_CLIENTS, Places, server_folder
from pigou.deployment.texts import filled
from pigou.errors import NotApplicable, Shown
from pigou.scenario import Scenario

SERVER: Final = "server"
CLIENTS: Final = "clients"


def trial_folder(scenario: Scenario, places: Places) -> Files:
    """The server's folder, and every client's with the types that the scenario states."""
    if scenario.population is not None:
        given = "clients drawn from a population"
        raise NotApplicable("scenario", "must name its clients in tables [[client]]", Shown(given))
    made = {}
    names = folder_names(scenario.clients)
    for k, (name, client) in enumerate(zip(names, scenario.client, strict=True)):
        if client.options:
            constraint = "must not be given for a client that is deployed"
            raise NotApplicable("options", constraint, dict(client.options))
        behaviour = Behaviour(alpha=client.alpha, conduct=client.conduct)
        made[name] = client_folder(scenario, client.name, behaviour, places.public, NODE_PORT + k)
    server = server_folder(scenario, [each.member for each in made.values()], places)
    files: dict[str, File] = {
        "README.md": text(filled("trial.md", title=scenario.name, names=", ".join(names))),
        **below(SERVER, server),
    }
    for name, each in made.items():
        handed = {path: server[f"{FOR_CLIENTS}/{path}"] for path in FROM_SERVER}
        files.update(below(f"{CLIENTS}/{name}", {**each.files, **handed}))
    return files
