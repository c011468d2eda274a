"""What is wrapped and who takes part: settings are checked before a run, and errors say what."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_ssh_public_key,
)
from flwr.app import Array, ArrayRecord, Context, RecordDict
from flwr.serverapp import strategy as flower
from flwr.serverapp.strategy import FedAvg, FedProx, Strategy
from tests.flower.hospitals import NAMES, Town, grid, model
from tests.flower.inprocess import Node

from pigou import InvalidArgument, PigouError
from pigou.federation.coordinator import Phase
from pigou.federation.flower import Registered, Simulated
from pigou.federation.flower.keeping import Closing
from pigou.federation.flower.profile import configured, read
from pigou.federation.flower.records import view


@pytest.fixture
def town(tmp_path: Path) -> Town:
    return Town.of(tmp_path)


AVERAGING = [
    flower.FedAdagrad,
    flower.FedAdam,
    flower.FedAvg,
    flower.FedAvgM,
    flower.FedProx,
    flower.FedYogi,
]


@pytest.mark.parametrize("make", AVERAGING)
def test_strategies_that_average_keep_working(town: Town, make: Any) -> None:
    """The aggregate of round 1 is the inner strategy's own, of the uploads that were billed."""
    seen: list[Closing] = []
    inner = make(fraction_evaluate=0.0, min_available_nodes=4)
    strategy = town.strategy(inner=inner, watch=seen.append)
    result = strategy.start(grid(town.nodes()), model())
    assert strategy.coordinator.stopped == ""
    assert len(result.train_metrics_clientapp) == 3
    mean, after = seen[0].closed.aggregate(), seen[0].model
    moved = view(after["kernel"])
    if make in (FedAvg, FedProx):
        assert moved == pytest.approx(mean[0], abs=1e-5)
    elif make is not flower.FedAvgM:  # which has no momentum here: the same mean
        assert moved != pytest.approx(mean[0], abs=1e-5)


REFUSED = [
    *("Krum", "MultiKrum", "Bulyan", "FedMedian", "FedTrimmedAvg", "FedXgbBagging"),
    *("FedXgbCyclic", "QFedAvg"),
]


@pytest.mark.parametrize("name", REFUSED)
def test_strategies_that_ignore_weights_are_refused_by_name(town: Town, name: str) -> None:
    more: dict[str, Any] = {}
    if name in ("Krum", "MultiKrum", "Bulyan"):
        more = {"num_malicious_nodes": 1}
    if name == "QFedAvg":
        more = {"client_learning_rate": 0.1}
    with pytest.raises(InvalidArgument, match=f"inner must .*; received {name}"):
        town.strategy(inner=getattr(flower, name)(**more))


def test_a_strategy_of_another_kind_is_refused(town: Town) -> None:
    class Odd(Strategy):
        configure_train = aggregate_train = configure_evaluate = aggregate_evaluate = None  # type: ignore[assignment]
        summary = None  # type: ignore[assignment]

    with pytest.raises(InvalidArgument, match="must be FedAvg or one of its kind; received Odd"):
        town.strategy(inner=Odd())


def test_real_members_need_a_signing_server(town: Town) -> None:
    from tests.flower.hospitals import SETTING

    from pigou.federation.flower import PricedStrategy
    from pigou.mechanisms import Pigouvian

    with pytest.raises(InvalidArgument, match="key must be given"):
        PricedStrategy(
            FedAvg(),
            mechanism=Pigouvian(),
            setting=SETTING,
            members=Registered.read(town.folder / "members.toml"),
            run="r",
            consortium="c",
        )


def test_models_without_numbers_to_train_are_refused(town: Town) -> None:
    import numpy as np

    for content in ({"steps": Array(np.arange(3))}, {}):
        with pytest.raises(InvalidArgument, match="initial_arrays must hold an array"):
            town.strategy().start(grid(town.nodes()), ArrayRecord(content))


MEMBERS = [
    ("", "must be tables"),
    ("[[member]]\nname = 'a'\n", "must hold name, node_key, upload_key"),
    ("[[member]\n", "not TOML"),
    ("[[member]]\nname='a'\nnode_key='x'\nupload_key='00'\n", "Ed25519 public key"),
]


@pytest.mark.parametrize(("text", "message"), MEMBERS)
def test_a_register_that_cannot_be_read_says_why(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "members.toml"
    path.write_text(text)
    with pytest.raises(PigouError, match=message):
        Registered.read(path)


@pytest.mark.parametrize("field", ["name", "node_key", "upload_key"])
def test_no_two_members_share_a_name_or_a_key(town: Town, field: str) -> None:
    lines = (town.folder / "members.toml").read_text().splitlines()
    first = next(line for line in lines if line.startswith(field))
    doubled = [first if line.startswith(field) else line for line in lines]
    (town.folder / "members.toml").write_text("\n".join(doubled))
    with pytest.raises(InvalidArgument, match=f"{field} must differ from member to member"):
        Registered.read(town.folder / "members.toml")


def test_nodes_are_known_by_their_key_in_any_form(town: Town) -> None:
    known = Registered.read(town.folder / "members.toml")
    assert known.names == NAMES
    line = town.hospitals[2].node_key
    key = load_ssh_public_key(line)
    pem = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    for written in (line, line.split(b" node@")[0], pem):
        assert known.client_of(_Seen(1, written)) == "Children's"
    for stranger in (b"", b"ecdsa-sha2-nistp384 AAAA", b"\x00\xff"):
        assert known.client_of(_Seen(1, stranger)) is None


class _Seen:
    def __init__(self, node_id: int, public_key: bytes) -> None:
        self.node_id, self.public_key = node_id, public_key


def test_simulated_members_are_who_they_say(town: Town) -> None:
    known = Simulated(["a", "b"])
    known.met(7, "b")
    known.met(8, "c")
    assert [known.client_of(_Seen(n, b"")) for n in (7, 8)] == ["b", None]


CLIENT = [
    ("name", "", "name must be text"),
    ("alpha", 1.5, r"alpha must lie in \[0, 1\]"),
    ("clip", -1.0, "clip must be"),
    ("conduct", "ring", "conduct must be one of"),
    ("conduct", "honest", "conduct must be one of"),
    ("adjacency", "both", "adjacency must be"),
    ("key", "nowhere.pem", "cannot be read"),
    ("colour", "red", "must hold nothing unknown"),
    ("epsilon_cap", -2.0, "epsilon"),
]


@pytest.mark.parametrize(("field", "value", "message"), CLIENT)
def test_a_clients_file_is_checked(town: Town, field: str, value: Any, message: str) -> None:
    hospital = town.hospitals[0]
    hospital.settings[field] = value
    node = hospital.node()
    with pytest.raises(PigouError, match=message):
        read(Path(str(node.config["pigou"])))


def test_a_key_that_others_can_read_is_refused(town: Town) -> None:
    node = town.hospitals[0].node()
    (town.hospitals[0].folder / "upload.pem").chmod(0o644)
    with pytest.raises(PigouError, match="chmod 600"):
        read(Path(str(node.config["pigou"])))


def test_a_capped_client_stays_away_rather_than_exceed_its_epsilon(town: Town) -> None:
    hospital = town.hospitals[3]
    free = town.strategy()
    free.start(grid(town.nodes()), model())
    one = hospital.book.releases[0].sigma
    account = hospital.book.account(50.0)
    assert len(account.releases) == 3
    cap = type(account)(50.0).after(one, 2).epsilon(1e-5) * 1.001
    (hospital.folder / "book.json").unlink()
    hospital.settings |= {"epsilon_cap": cap, "delta": 1e-5}
    seen: list[Closing] = []
    again = town.strategy(watch=seen.append, run="another")
    again.start(grid(town.nodes()), model())
    assert again.coordinator.phase is Phase.CLOSED
    assert [closing.closed.arrived.tolist()[3] for closing in seen] == [True, True, False]
    assert hospital.book.account(50.0).epsilon(1e-5) <= cap


def test_settings_of_the_server_do_not_reach_a_real_client() -> None:
    """Outside of the simulation engine the run's configuration is not looked at."""
    config = {"pigou-alpha": "0.5", "pigou-clip": 1e9}
    context = Context(1, 1, {"partition-id": 0}, RecordDict(), config)  # type: ignore[arg-type]
    with pytest.raises(PigouError, match="no pigou settings"):
        configured(None, context)  # type: ignore[arg-type]


def test_pigou_works_without_flower_and_says_what_to_install() -> None:
    program = """
import sys
sys.modules["flwr"] = None
import pigou.federation.flower as package
from pigou.cli import main
try:
    package.PricedStrategy
except package.FlowerMissing as error:
    assert "pip install 'pigou[flower]'" in str(error), error
else:
    raise AssertionError
sys.exit(main(["run", "examples/three_hospitals.toml", "--engine", "flower"]))
"""
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2
    assert done.stderr == "pigou: Flower is not installed: pip install 'pigou[flower]'\n"


def test_nothing_is_sent_to_anybody_by_default() -> None:
    program = """
import os
for name in list(os.environ):
    if name.startswith(("FLWR", "RAY")):
        del os.environ[name]
os.environ["FLWR_DISABLE_UPDATE_CHECK"] = "0"  # the user's own choice stays
import pigou.federation.flower
from flwr.supercore import telemetry
assert not telemetry.FLWR_TELEMETRY_ENABLED in ("1", True), telemetry.FLWR_TELEMETRY_ENABLED
print(os.environ["RAY_USAGE_STATS_ENABLED"], os.environ["FLWR_DISABLE_UPDATE_CHECK"])
"""
    words = [sys.executable, "-W", "ignore", "-c", program]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout == "0 0\n"


def test_a_node_that_is_not_awaited_is_not_waited_for(town: Town) -> None:
    nodes = [*town.nodes()[:3]]
    strategy = town.strategy()
    strategy.start(grid(nodes), model())
    assert strategy.coordinator.eligible.tolist() == [True, True, True, False]
    assert isinstance(nodes[0], Node)
