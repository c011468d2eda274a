"""``pigou deploy``: what it writes, prints and refuses."""

from pathlib import Path

import pytest
from tests.cli.conftest import HOSPITALS, Result, Run

from pigou.deployment import from_toml
from pigou.ledger import keys

CLIENTS = {"Riverside": "0.2", "St. Anna": "0.5", "Children's": "0.8"}
PUBLIC = ("--superlink", "fl.example.org:443")


def joins(run: Run, name: str, folder: Path, scenario: str = HOSPITALS) -> Result:
    words = ("deploy", "client", scenario, name, "--alpha", "0.4", *PUBLIC)
    return run(*words, "--out", str(folder))


def refused(result: Result, message: str) -> None:
    assert result.status == 2
    assert result.out == ""
    assert message in result.err
    assert result.err.count("\n") == 1


def test_clients_and_server_make_a_deployment_whose_private_keys_never_met(
    run: Run, tmp_path: Path
) -> None:
    sent = []
    for k, name in enumerate(CLIENTS):
        made = joins(run, name, tmp_path / str(k))
        assert made.status == 0
        member = tmp_path / f"{k}.toml"
        member.write_text(made.out[: made.out.index("Send this")])  # what is printed is the file
        assert member.read_text().strip() == (tmp_path / str(k) / "member.toml").read_text().strip()
        (read,) = from_toml(member.read_text(), "member")
        assert read.fingerprint in made.out
        sent += ["--members", str(member)]
    server = run("deploy", "server", HOSPITALS, *sent, *PUBLIC, "--out", str(tmp_path / "server"))
    assert server.status == 0
    listed = from_toml((tmp_path / "server" / "members.toml").read_text(), "members")
    assert [each.name for each in listed] == list(CLIENTS)
    assert all(each.fingerprint in server.out for each in listed)
    for k, each in enumerate(listed):
        private = keys.load(tmp_path / str(k) / "upload.key")
        assert keys.to_hex(private.public_key()) == each.upload_key
    assert (tmp_path / "server" / "nginx.conf").is_file()
    assert "superlink fl.example.org:443" in (tmp_path / "0" / "supernode.sh").read_text()


def test_a_trial_is_whole_and_says_what_it_is(run: Run, tmp_path: Path) -> None:
    made = run("deploy", "trial", HOSPITALS, "--out", str(tmp_path / "trial"))
    assert made.status == 0
    assert "for testing" in made.out
    assert "for testing" in (tmp_path / "trial" / "README.md").read_text()
    for client in ("riverside", "st-anna", "children-s"):
        folder = tmp_path / "trial" / "clients" / client
        assert {"ca.crt", "server.pub", "supernode.sh"} <= {p.name for p in folder.iterdir()}
    again = run("deploy", "trial", HOSPITALS, "--out", str(tmp_path / "trial"))
    refused(again, "--out must be an empty or a new folder")


def test_what_a_client_gets_wrong(run: Run, tmp_path: Path) -> None:
    new = tmp_path / "new"
    refused(joins(run, "Mallory", new), "name must be a client of the scenario")
    refused(joins(run, "St. Anna", new, "absent.toml"), "absent.toml: cannot be read")
    plain = tmp_path / "plain.toml"
    unclipped = Path(HOSPITALS).read_text().replace("clip = 0.5", "")
    plain.write_text(unclipped[: unclipped.index("[training]")] + "[mechanism]\n" + CLIENT_TABLES)
    refused(joins(run, "a", new, str(plain)), "privacy.clip must be given")
    words = ("deploy", "client", HOSPITALS, "St. Anna", "--out", str(new))
    refused(run(*words, *PUBLIC, "--alpha", "1.4"), "alpha must lie in [0, 1]; received 1.4")
    refused(run(*words, *PUBLIC, "--alpha", "nan"), "alpha must")
    refused(run(*words, *PUBLIC), "Missing option '--alpha'")
    refused(run(*words, "--alpha", "0.4", "--superlink", "fl;ls:1"), "--superlink must hold")
    assert not new.exists()


POPULATION = '[population]\nkind = "uniform"\nlow = 0.1\nhigh = 0.9\nn = 5\n'
CLIENT_TABLES = "".join(f'[[client]]\nname = "{name}"\nalpha = 0.5\n' for name in "abc")


def test_what_an_operator_gets_wrong(run: Run, tmp_path: Path) -> None:
    for k, name in enumerate(CLIENTS):
        joins(run, name, tmp_path / str(k))
    sent = [str(tmp_path / str(k) / "member.toml") for k in range(3)]
    new = tmp_path / "new"

    def serves(*members: str, where: tuple[str, ...] = PUBLIC) -> Result:
        flags = [word for member in members for word in ("--members", member)]
        return run("deploy", "server", HOSPITALS, *flags, *where, "--out", str(new))

    refused(serves(*sent[:2]), "must hold every client; received none for Children's")
    refused(serves(*sent, sent[0]), "name must differ from member to member")
    refused(serves(*sent[:2], "absent.toml"), "absent.toml: cannot be read")
    refused(serves(*sent[:2], HOSPITALS), "must hold tables [[member]]")
    clash = (*PUBLIC, "--bind", "127.0.0.1:443")
    refused(serves(*sent, where=clash), "--bind must have another port than --superlink")
    refused(serves(), "Missing option '--members'")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    refused(serves(str(tmp_path / "binary.toml")), "is not UTF-8 text")
    assert not new.exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ('alpha = 0.5 -> alpha = 0.5\nconduct = "lying"\noptions = { factor = 0.1 }', "options"),
        ("[[client]] -> [population]", "must name its clients in tables [[client]]"),
    ],
)
def test_what_a_trial_cannot_be_made_of(
    run: Run, tmp_path: Path, change: str, message: str
) -> None:
    old, _, new = change.partition(" -> ")
    text = Path(HOSPITALS).read_text()
    if old == "[[client]]":
        text = (
            text[: text.index(old)] + '[population]\nkind = "uniform"\nlow=0.1\nhigh=0.9\nn = 5\n'
        )
    path = tmp_path / "scenario.toml"
    path.write_text(text.replace(old, new, 1))
    refused(run("deploy", "trial", str(path), "--out", str(tmp_path / "new")), message)
    assert not (tmp_path / "new").exists()


def test_help_has_examples(run: Run) -> None:
    for words in (("client",), ("server",), ("trial",)):
        assert f"pigou deploy {words[0]}" in run("deploy", *words, "--help").out
    assert "trial" in run("deploy").out
