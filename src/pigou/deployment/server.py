"""The server's folder: its keys and certificate, who the members are, and how to start it."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from pigou.deployment.address import Address
from pigou.deployment.certificates import issue
from pigou.deployment.client import FROM_SERVER
from pigou.deployment.files import File, Files, below, program, secret, text
from pigou.deployment.keys import private_pem
from pigou.deployment.members import Member, in_order, to_toml
from pigou.deployment.names import folder_names
from pigou.deployment.texts import filled
from pigou.ledger.keys import public_pem
from pigou.scenario import Scenario
from pigou.scenario import to_toml as scenario_toml

LOCAL: Final = ("localhost", "127.0.0.1", "::1")  # how the proxy and Flower's own program reach it
FOR_CLIENTS: Final = "for-clients"


@dataclass(frozen=True)
class Places:
    """Where the nodes find the server, and where the SuperLink itself listens."""

    public: Address
    bind: Address

    @property
    def local(self) -> Address:
        """The SuperLink as its own machine reaches it."""
        near = {"0.0.0.0": "127.0.0.1", "::": "::1"}
        return Address(near.get(self.bind.host, self.bind.host), self.bind.port)


def server_folder(scenario: Scenario, members: Sequence[Member], places: Places) -> Files:
    """All that the server's machine needs; ``for-clients`` holds what every client is given."""
    listed = in_order(scenario.clients, members)
    folders = folder_names([member.name for member in listed])
    tls = issue([places.public.host, places.bind.host, *LOCAL])
    key = Ed25519PrivateKey.generate()
    public = text(public_pem(key.public_key()).decode())
    authority = text(tls.authority.decode())
    files: dict[str, File] = {
        "README.md": text(_readme(scenario, places)),
        "threat-model.md": text(filled("threat-model.md")),
        "scenario.toml": text(scenario_toml(scenario)),
        "members.toml": text(to_toml(listed)),
        "signing.key": secret(private_pem(key)),
        "signing.key.pub": public,
        "tls/ca.crt": authority,
        "tls/server.pem": text(tls.certificate.decode()),
        "tls/server.key": secret(tls.key),
        "superlink.sh": program(_superlink(places.bind)),
        "flwr.sh": program(filled("flwr.sh", local=str(places.local))),
        "register.sh": program(_register(folders)),
        **below(FOR_CLIENTS, dict(zip(FROM_SERVER, (authority, public), strict=True))),
    }
    if places.public != places.bind:
        files["nginx.conf"] = text(_proxy(places))
    for folder, member in zip(folders, listed, strict=True):
        files[f"nodes/{folder}.pub"] = text(member.node_key + "\n")
    return files


def _readme(scenario: Scenario, places: Places) -> str:
    return filled(
        "server.md",
        title=scenario.name,
        clients=", ".join(scenario.clients),
        public=str(places.public),
        bind=str(places.bind),
        local=str(places.local),
    )


def _superlink(bind: Address) -> str:
    return filled("superlink.sh", bind=str(bind), bind_host=bind.host, bind_port=str(bind.port))


def _proxy(places: Places) -> str:
    port, host = str(places.public.port), places.public.host
    return filled("nginx.conf", local=str(places.local), port=port, host=host)


def _register(folders: Sequence[str]) -> str:
    lines = [
        f"./flwr.sh supernode register nodes/{folder}.pub pigou --name {folder}"
        for folder in map(shlex.quote, folders)
    ]
    return filled("register.sh", commands="\n".join(lines))
