"""A deployment on this machine as ``pigou deploy trial`` writes it: started, killed, cleared up.

Whatever runs for one of its folders has that folder's Flower home in its environment, and is found
by it: nothing else is ever touched, and nothing of it is left behind.
"""

import os
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pigou.cli.files import placed
from pigou.deployment import Address, Places, trial_folder
from pigou.deployment.names import folder_names
from pigou.scenario import Scenario

PATIENCE = 300.0  # seconds; a message leg takes about ten, a lost node four times that
PROCESSES = Path("/proc")

Found = TypeVar("Found")


class Processes:
    """What is started for the folders below one, and does not outlive it."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self._started: list[subprocess.Popen[bytes]] = []

    def close(self) -> None:
        """End everything, gently first."""
        for name in (signal.SIGTERM, signal.SIGKILL):
            self.end(self.base, name)
            awaited(lambda: not living(self.base), "an end", patience=10.0, must=False)
        for process in self._started:
            process.wait(timeout=5)

    def start(self, log: Path, *command: str, **variables: str) -> subprocess.Popen[bytes]:
        """A program that writes to a log."""
        with log.open("ab") as output:
            process = subprocess.Popen(
                command,
                env={**environment(), **variables},
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._started.append(process)
        return process

    def end(self, folder: Path, how: signal.Signals = signal.SIGKILL) -> None:
        """End everything that runs for a folder, at once."""
        for process in living(folder):
            try:
                os.kill(process, how)
            except ProcessLookupError:
                continue


class Deployment(Processes):
    """One SuperLink and one SuperNode per client, each in the folder that was written for it."""

    def __init__(self, base: Path, scenario: Scenario) -> None:
        super().__init__(base)
        self.scenario = scenario
        self.address = Address("127.0.0.1", free_port())
        placed(base, trial_folder(scenario, Places(self.address, self.address)))
        self.server = base / "server"
        names = folder_names(scenario.clients)
        folders = [base / "clients" / name for name in names]
        self.clients = dict(zip(scenario.clients, folders, strict=True))

    def script(
        self, folder: Path, name: str, *words: str, **variables: str
    ) -> subprocess.Popen[bytes]:
        """A script of the deployment, writing to a log beside it."""
        return self.start(folder / f"{name}.log", str(folder / name), *words, **variables)

    def start_server(self) -> None:
        """The SuperLink, once it answers."""
        self.script(self.server, "superlink.sh")
        healthy(f"https://{self.address}", self.server / "tls" / "ca.crt")

    def start_node(self, folder: Path, place: int) -> subprocess.Popen[bytes]:
        """A client's SuperNode."""
        mine = {"PIGOU_NODE_PORT": str(free_port()), "PIGOU_NODE_CONFIG": f"partition-id={place}"}
        return self.script(folder, "supernode.sh", **mine)

    def online(self) -> int:
        """How many nodes the SuperLink has heard of lately."""
        command = [str(self.server / "flwr.sh"), "supernode", "list", "pigou"]
        return subprocess.check_output(command, env=environment(), text=True).count("online")


def healthy(server: str, authority: Path | None = None) -> None:
    """Wait until a SuperLink answers."""
    context = ssl.create_default_context(cafile=authority) if authority else None

    def answers() -> bool:
        try:
            with urllib.request.urlopen(f"{server}/health", context=context, timeout=2):
                return True
        except OSError:
            return False

    awaited(answers, "the SuperLink")


def living(folder: Path) -> list[int]:
    """The processes whose Flower home is in a folder; those that have ended do not count."""
    found = []
    wanted = f"FLWR_HOME={folder}/".encode()
    for place in PROCESSES.glob("[0-9]*"):
        try:
            ended = (place / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
            variables = (place / "environ").read_bytes().split(b"\0")
        except OSError:
            continue  # it has ended meanwhile
        if not ended and any(each.startswith(wanted) for each in variables):
            found.append(int(place.name))
    return found


def environment() -> dict[str, str]:
    """The test's own, with the programs of its Python first."""
    programs = str(Path(sys.executable).parent)
    clean = {k: v for k, v in os.environ.items() if not k.startswith("FLWR_")}
    return {**clean, "PATH": f"{programs}:{clean.get('PATH', '')}"}


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def awaited(
    look: Callable[[], Found], what: str, patience: float = PATIENCE, *, must: bool = True
) -> Found:
    """What a look finds, as soon as it finds anything."""
    end = time.monotonic() + patience
    while not (found := look()) and time.monotonic() < end:
        time.sleep(0.2)
    assert found or not must, f"{what} did not come within {patience:.0f} s"
    return found
