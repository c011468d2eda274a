"""The folder of one institution: its keys, its settings, and the script that starts its node."""

from dataclasses import dataclass
from typing import Final

from pigou.checks import number
from pigou.deployment.address import Address
from pigou.deployment.files import File, Files, program, secret, text
from pigou.deployment.keys import ClientKeys
from pigou.deployment.members import Member, to_toml
from pigou.deployment.texts import filled
from pigou.errors import require
from pigou.federation.conduct import Obedient
from pigou.scenario import Scenario
from pigou.scenario.writing import lines

MEMBER: Final = "member.toml"
NODE_PORT: Final = 9094  # Flower's own choice for a node's inner interface
FROM_SERVER: Final = ("ca.crt", "server.pub")  # what a server hands to its clients


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """What a client decides for itself; the server never sees it."""

    alpha: float
    conduct: str = Obedient.name


@dataclass(frozen=True)
class ClientFolder:
    """What an institution keeps, and the public halves that it sends in."""

    files: Files
    member: Member


def client_folder(
    scenario: Scenario, name: str, behaviour: Behaviour, server: Address, port: int = NODE_PORT
) -> ClientFolder:
    """New keys for one of the scenario's clients, and everything that its node needs."""
    clients = scenario.clients
    require(name in clients, "name", f"must be a client of the scenario: {clients}", name)
    clip = scenario.privacy.clip
    require(clip is not None, "privacy.clip", "must be given: it bounds what is uploaded", clip)
    number("alpha", behaviour.alpha)
    require(0 <= behaviour.alpha <= 1, "alpha", "must lie in [0, 1]", behaviour.alpha)
    keys = ClientKeys.new(name)
    member = to_toml([keys.member])
    files: dict[str, File] = {
        "README.md": text(filled("client.md", name=name, superlink=str(server))),
        MEMBER: text(member),
        "node.key": secret(keys.node),
        "upload.key": secret(keys.upload),
        "client.toml": secret(_settings(scenario, name, behaviour).encode()),
        "supernode.sh": program(
            filled("supernode.sh", name=name, superlink=str(server), port=str(port))
        ),
    }
    return ClientFolder(files, keys.member)


def _settings(scenario: Scenario, name: str, behaviour: Behaviour) -> str:
    """The settings that the node's noise mod reads; the type in them is private."""
    privacy = scenario.privacy
    values = {
        "name": name,
        "alpha": behaviour.alpha,
        "conduct": behaviour.conduct,
        "clip": privacy.clip,
        "adjacency": privacy.adjacency,
        "delta": privacy.delta,
        "key": "upload.key",
        "server_key": "server.pub",
        "book": "book.json",
    }
    if privacy.epsilon_cap is not None:
        values["epsilon_cap"] = privacy.epsilon_cap
    return lines(values)
