"""The example app on Flower's simulation engine, started as its README says."""

import re
from contextlib import closing
from pathlib import Path

import pytest
from tests.engines.loopback import Processes, free_port, healthy, living

from pigou.federation.flower.environment import QUIET
from pigou.ledger import Ledger

APP = Path(__file__).parents[2] / "examples" / "flower_numpy"
FOUR = "num-supernodes=4 client-resources-num-cpus=1"


class Simulation(Processes):
    """A SuperLink of the simulation engine, of the test's own."""

    def __init__(self, base: Path) -> None:
        super().__init__(base)
        self._home = {**QUIET, "FLWR_HOME": f"{base}/flower"}
        self._port = str(free_port())
        (base / "flower").mkdir(parents=True)
        link = f'[superlink.here]\naddress = "127.0.0.1:{self._port}"\ninsecure = true\n'
        (base / "flower" / "config.toml").write_text(link)

    def start_server(self) -> None:
        """The SuperLink, once it answers."""
        flags = ("--insecure", "--simulation", "--host", "127.0.0.1", "--port", self._port)
        self.start(self.base / "link.log", "flower-superlink", *flags, **self._home)
        healthy(f"http://127.0.0.1:{self._port}")

    def run(self, config: str) -> list[float]:
        """The app with this configuration: its accuracy before and after each round."""
        log = self.base / f"{free_port()}.log"
        words = ("run", str(APP), "here", "--stream", "-c", config, "--federation-config", FOUR)
        assert self.start(log, "flwr", *words, **self._home).wait(timeout=300) == 0
        told = log.read_text()
        found = re.findall(r"^round (\d+): accuracy ([0-9.]+), loss ", told, re.MULTILINE)
        assert [int(k) for k, _ in found] == list(range(11)), told[-3000:]
        return [float(accuracy) for _, accuracy in found]


@pytest.mark.long
def test_the_numpy_example_learns_and_bills_every_round(tmp_path: Path) -> None:
    book = f"sqlite:///{tmp_path}/book.db"
    with closing(Simulation(tmp_path)) as simulation:
        simulation.start_server()
        silent = simulation.run("mechanism='unpriced' pigou-conduct='silent'")
        priced = simulation.run(f"ledger='{book}'")
    assert living(tmp_path) == []
    assert silent[-1] >= 0.9  # without noise everything is determined but for rounding
    assert max(priced) > priced[0]
    with Ledger(book, write=False) as ledger:
        assert ledger.verify().ok
        rounds = [sealed.entry for sealed in ledger.entries()]
        balances = ledger.balances()
    assert [entry.round for entry in rounds] == list(range(1, 11))
    assert all(len(entry.statements) == 4 for entry in rounds)
    assert sum(balance.amount for balance in balances) == 0
    assert sum(balance.amount != 0 for balance in balances) == 4
