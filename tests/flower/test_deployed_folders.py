"""Flower's side reads what ``pigou deploy`` wrote: settings, members, keys and book agree."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import load_ssh_private_key, load_ssh_public_key
from flwr.serverapp.strategy import FedAvg

from pigou.cli.files import placed
from pigou.deployment import Address, Federation, Places, trial_folder
from pigou.federation.flower import PricedStrategy, Registered
from pigou.federation.flower.profile import read
from pigou.ledger import keys
from pigou.scenario import load

HOSPITALS = Path(__file__).parents[2] / "examples" / "three_hospitals.toml"
FOLDERS = ("riverside", "st-anna", "children-s")
BIND = Address("127.0.0.1", 8000)


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("deployed") / "trial"
    placed(folder, trial_folder(load(HOSPITALS), Places(BIND, BIND)))
    return folder


def test_nodes_read_their_settings_and_the_server_knows_their_keys(trial: Path) -> None:
    scenario = load(HOSPITALS)
    members = Registered.read(trial / "server" / "members.toml")
    assert members.names == scenario.clients
    server = keys.load_public(trial / "server" / "signing.key.pub")
    for folder, client in zip(FOLDERS, scenario.client, strict=True):
        profile = read(trial / "clients" / folder / "client.toml")
        assert (profile.name, profile.clip) == (client.name, scenario.privacy.clip)
        assert profile.group == ((client.name, client.alpha),)
        assert profile.conduct.name == client.conduct
        assert profile.server_key == server
        assert profile.key is not None
        members.check(client.name, profile.key.sign(b"words"), b"words")  # an error if it is not
        with pytest.raises(ValueError, match="not signed"):
            members.check(client.name, profile.key.sign(b"words"), b"others")
        node = load_ssh_private_key((trial / "clients" / folder / "node.key").read_bytes(), None)
        public = load_ssh_public_key((trial / "server" / "nodes" / f"{folder}.pub").read_bytes())
        assert node.public_key() == public


def test_a_server_app_takes_its_contract_members_key_and_book_from_the_folder(trial: Path) -> None:
    here = Federation.deployed(trial / "server")
    assert here.contract == load(HOSPITALS)
    with here.book() as book:
        assert book is not None
        assert (trial / "server" / "ledger.db").is_file()
        assert book.public_key == keys.load_public(trial / "server" / "signing.key.pub")
        priced = PricedStrategy(FedAvg(), **here.pricing("winter", book))
        assert isinstance(priced.inner, FedAvg)


def test_a_simulation_has_no_keys_and_a_book_only_where_it_is_asked_for(tmp_path: Path) -> None:
    here = Federation.simulated(HOSPITALS)
    with here.book() as none:
        assert none is None
    with here.book(f"sqlite:///{tmp_path / 'book.db'}") as book:
        assert book is not None
        given = here.pricing("winter", book, "unpriced")
    assert given["key"] is None
    assert given["mechanism"].name == "unpriced"
    assert given["members"].names == ("client-0", "client-1", "client-2")
