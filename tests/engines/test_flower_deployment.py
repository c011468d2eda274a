"""A real deployment on this machine: TLS, node keys, signed statements, and what gets killed."""

import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.engines.loopback import Deployment, awaited, living

from pigou.cli.files import placed
from pigou.deployment import Behaviour, client_folder
from pigou.deployment.client import FROM_SERVER
from pigou.deployment.files import File
from pigou.federation.flower.book import Book
from pigou.ledger import Ledger, keys
from pigou.ledger.entry import Sealed
from pigou.ledger.errors import LedgerUnavailable, NotALedger
from pigou.scenario import Scenario, load
from pigou.terms import Statement

APP = Path(__file__).parents[2] / "examples" / "flower_numpy"
RUN = "loopback"


def contract() -> Scenario:
    """The example's contract, for three rounds."""
    whole = load(APP / "flower_numpy" / "contract.toml")
    return whole.model_copy(
        update={"federation": whole.federation.model_copy(update={"rounds": 3})}
    )


@pytest.fixture
def deployment(tmp_path: Path) -> Iterator[Deployment]:
    with closing(Deployment(tmp_path / "trial", contract())) as made:
        yield made
    assert living(tmp_path) == []


def booked(deployment: Deployment) -> dict[int, Sealed]:
    """The rounds in the book, each of them once."""
    try:
        with Ledger(f"sqlite:///{deployment.server / 'ledger.db'}", write=False) as ledger:
            entries = list(ledger.entries())
    except (LedgerUnavailable, NotALedger):  # not made yet, or just being made
        return {}
    rounds = {sealed.entry.round: sealed for sealed in entries}
    assert len(rounds) == len(entries)
    return rounds


def run_app(deployment: Deployment) -> None:
    """Start the run, or go on with it: the operator's command."""
    config = f"federation='{deployment.server}' run='{RUN}'"
    words = ("run", str(APP), "pigou", "--stream", "-c", config)
    deployment.script(deployment.server, "flwr.sh", *words)


def billed(sealed: Sealed) -> set[str]:
    return {statement.client for statement in sealed.entry.statements}


@pytest.mark.long
def test_a_node_is_killed_and_the_superlink_restarted_and_the_books_agree(
    deployment: Deployment,
) -> None:
    names, folders = list(deployment.clients), list(deployment.clients.values())
    deployment.start_server()
    registered = deployment.script(deployment.server, "register.sh")
    assert registered.wait(timeout=60) == 0
    for place, folder in enumerate(folders):
        deployment.start_node(folder, place)
    awaited(lambda: deployment.online() == len(names), "the nodes")

    stranger = a_stranger(deployment)
    run_app(deployment)
    awaited(lambda: 1 in booked(deployment), "round 1")
    lost = names[-1]
    deployment.end(folders[-1])  # SIGKILL, while round 2 is under way
    awaited(lambda: 2 in booked(deployment), "round 2")
    before = booked(deployment)
    deployment.end(deployment.server)  # SIGKILL again: the SuperLink, and the server app with it
    assert billed(before[1]) == set(names)
    assert billed(before[2]) == set(names) - {lost}

    deployment.start_server()
    deployment.start_node(folders[-1], len(names) - 1)
    awaited(lambda: deployment.online() == len(names), "the nodes again")
    run_app(deployment)
    awaited(lambda: 3 in booked(deployment), "round 3")
    after = booked(deployment)
    assert {k: after[k] for k in before} == before
    assert billed(after[3]) == set(names)
    awaited(lambda: all(bills(folder).get(3) for folder in folders), "the last statements")
    check_the_books(deployment, lost)
    assert refused(stranger, deployment.base / "clients" / "stranger")


def a_stranger(deployment: Deployment) -> subprocess.Popen[bytes]:
    """Somebody with all of the deployment's public files, and keys that nobody registered."""
    folder, known = deployment.base / "clients" / "stranger", next(iter(deployment.clients))
    made = client_folder(deployment.scenario, known, Behaviour(alpha=0.5), deployment.address)
    given = {name: File((deployment.clients[known] / name).read_bytes()) for name in FROM_SERVER}
    placed(folder, {**made.files, **given})
    return deployment.start_node(folder, 0)


def refused(node: subprocess.Popen[bytes], folder: Path) -> bool:
    """The node was turned away for what it is, and gave up."""
    assert node.wait(timeout=60) != 0
    log = (folder / "supernode.sh.log").read_text()
    return "2004" in log and not (folder / "book.json").exists()


def bills(folder: Path) -> dict[int, Statement]:
    """The bills in a client's own book, by round."""
    path = folder / "book.json"
    if not path.exists():
        return {}
    book = Book.read(path)
    assert [bill.objection for bill in book.bills] == [""] * len(book.bills)
    found = {bill.statement.round: bill.statement for bill in book.bills}
    assert len(found) == len(book.bills)
    return found


def check_the_books(deployment: Deployment, lost: str) -> None:
    """The ledger balances, is signed by the key that clients were given, and says what they were
    told."""
    key = keys.load_public(next(iter(deployment.clients.values())) / "server.pub")
    with Ledger(f"sqlite:///{deployment.server / 'ledger.db'}", write=False) as ledger:
        assert ledger.verify(key=key).ok
        balances = {each.owner: each.amount for each in ledger.balances()}
        entries = list(ledger.entries())
    assert sum(balances.values()) == 0
    for client, folder in deployment.clients.items():
        rounds = [sealed.entry.round for sealed in entries if client in billed(sealed)]
        mine = bills(folder)
        assert sorted(mine) == rounds == ([1, 3] if client == lost else [1, 2, 3])
        for sealed in entries:
            posted = [s for s in sealed.entry.statements if s.client == client]
            assert posted == [mine[k] for k in mine if k == sealed.entry.round]
        assert balances[client] == sum(statement.net for statement in mine.values())
    assert any(balances.values())  # something was billed at all
