"""What a deployment consists of: keys that others read, certificates that they trust, scripts."""

import os
import re
import ssl
import stat
import subprocess
import tomllib
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
    load_ssh_private_key,
)

from pigou import InvalidArgument, PigouError
from pigou.cli.files import placed
from pigou.deployment import (
    Address,
    Behaviour,
    Places,
    UnreadableMember,
    client_folder,
    from_toml,
    server_folder,
    trial_folder,
)
from pigou.deployment.certificates import Issued, issue
from pigou.deployment.files import SECRET, Files, program, secret, text
from pigou.deployment.keys import ClientKeys
from pigou.deployment.members import in_order, to_toml
from pigou.deployment.names import folder_names
from pigou.ledger import keys as ledger_keys
from pigou.scenario import parse

SCENARIO = parse("""
name = "Three"
[loss]
kappa = 16.0
smoothness = 2.0
[privacy]
clip = 0.5
epsilon_cap = 8.0
[[client]]
name = "St. Anna"
alpha = 0.25
[[client]]
name = "St Anna"
alpha = 0.5
conduct = "obedient"
[[client]]
name = "Children's \\"ward\\" $(false)"
alpha = 0.75
""")
NAMES = SCENARIO.clients
BIND = Address("127.0.0.1", 8000)
BEHIND_A_PROXY = Places(Address("fl.example.org", 443), BIND)
PLAIN = Places(BIND, BIND)
HALVES = [ClientKeys.new(name) for name in NAMES]
ROOT = Path(__file__).parents[2]


def told(files: Files, path: str) -> str:
    return files[path].content.decode()


@pytest.fixture(scope="module")
def trial() -> Files:
    return trial_folder(SCENARIO, PLAIN)


# ---- certificates


def meet(folder: Path, server: Issued, authority: bytes, called: str) -> None:
    """A strict TLS client that trusts one authority meets a server, in memory."""
    (folder / "server.pem").write_bytes(server.certificate)
    (folder / "server.key").write_bytes(server.key)
    accepting = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    accepting.load_cert_chain(folder / "server.pem", folder / "server.key")
    calling = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    calling.load_verify_locations(cadata=authority.decode())
    calling.verify_flags |= ssl.VERIFY_X509_STRICT
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = [
        accepting.wrap_bio(to_server, to_client, server_side=True),
        calling.wrap_bio(to_client, to_server, server_hostname=called),
    ]
    while sides:
        for side in tuple(sides):
            try:
                side.do_handshake()
                sides.remove(side)
            except ssl.SSLWantReadError:
                continue


@pytest.mark.parametrize("called", ["fl.example.org", "127.0.0.1", "::1", "localhost"])
def test_nodes_trust_the_server_under_each_of_its_names(tmp_path: Path, called: str) -> None:
    server = issue(["fl.example.org", "127.0.0.1", "localhost", "::1"])
    meet(tmp_path, server, server.authority, called)


def test_nodes_trust_no_other_name_and_no_other_authority(tmp_path: Path) -> None:
    server, other = issue(["fl.example.org"]), issue(["fl.example.org"])
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        meet(tmp_path, server, server.authority, "evil.example.org")
    with pytest.raises(ssl.SSLCertVerificationError):
        meet(tmp_path, server, other.authority, "fl.example.org")


def test_the_authority_signs_certificates_and_the_server_cannot() -> None:
    issued = issue(["fl.example.org"])
    authority = x509.load_pem_x509_certificate(issued.authority)
    server = x509.load_pem_x509_certificate(issued.certificate)
    server.verify_directly_issued_by(authority)
    for certificate, signs in ((authority, True), (server, False)):
        basic = certificate.extensions.get_extension_for_class(x509.BasicConstraints)
        usage = certificate.extensions.get_extension_for_class(x509.KeyUsage)
        assert basic.critical
        assert usage.critical
        assert (basic.value.ca, usage.value.key_cert_sign) == (signs, signs)


# ---- keys


def test_a_client_gets_the_keys_that_it_sends_in_the_public_halves_of(tmp_path: Path) -> None:
    made = client_folder(SCENARIO, "St. Anna", Behaviour(alpha=0.4), BIND)
    placed(tmp_path / "anna", made.files)
    node = load_ssh_private_key((tmp_path / "anna" / "node.key").read_bytes(), None)
    assert isinstance(node, ec.EllipticCurvePrivateKey)
    assert isinstance(node.curve, ec.SECP384R1)
    upload = ledger_keys.load(tmp_path / "anna" / "upload.key")  # refuses rights beyond 600
    (sent,) = from_toml((tmp_path / "anna" / "member.toml").read_text(), "member.toml")
    public = node.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    assert sent == made.member
    assert sent.name == "St. Anna"
    assert sent.node_key == public.decode()
    assert sent.upload_key == ledger_keys.to_hex(upload.public_key())


def test_settings_of_a_node_are_its_own_and_the_contract() -> None:
    made = client_folder(SCENARIO, "St. Anna", Behaviour(alpha=0.4), BIND)
    settings = tomllib.loads(told(made.files, "client.toml"))
    assert settings["alpha"] == 0.4  # not the scenario's 0.25
    assert settings["clip"] == 0.5
    assert settings["epsilon_cap"] == 8.0
    assert made.files["client.toml"].mode == SECRET
    for path in (settings["key"], "supernode.sh"):
        assert path in made.files
    public = "".join(told(made.files, path) for path in ("member.toml", "supernode.sh"))
    assert "0.4" not in public


def test_every_private_key_stands_in_one_file_that_nobody_else_may_read(trial: Files) -> None:
    holding = {p: f for p, f in trial.items() if b"PRIVATE KEY" in f.content}
    assert len(holding) == 2 + 2 * len(NAMES)
    assert {file.mode for file in holding.values()} == {SECRET}
    assert len({file.content for file in holding.values()}) == len(holding)


def test_a_server_made_from_public_halves_holds_no_private_key_of_a_client() -> None:
    files = server_folder(SCENARIO, [keys.member for keys in HALVES], BEHIND_A_PROXY)
    private = {path for path, file in files.items() if b"PRIVATE KEY" in file.content}
    assert private == {"signing.key", "tls/server.key"}
    signing = load_pem_private_key(files["signing.key"].content, None)
    public = signing.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    assert files["for-clients/server.pub"].content == public
    assert files["for-clients/ca.crt"].content == files["tls/ca.crt"].content


# ---- members


def test_members_come_back_in_the_order_of_the_scenario() -> None:
    members = [keys.member for keys in HALVES]
    back = from_toml(to_toml(reversed(members)), "members.toml")
    assert back == members[::-1]
    assert in_order(NAMES, back) == members


def test_a_comment_in_a_public_key_does_not_matter_and_a_fingerprint_covers_all() -> None:
    member = HALVES[0].member
    commented = to_toml([member]).replace('=="', '== root@host"')
    (back,) = from_toml(commented, "member.toml")
    assert back == member
    prints = {keys.member.fingerprint for keys in HALVES}
    renamed = to_toml([member]).replace("St. Anna", "St Anna")
    assert from_toml(renamed, "x")[0].fingerprint not in prints | {""}
    assert len(prints) == 3


WRONG = [
    ("", "must hold tables [[member]]"),
    ("[[member", "is not valid TOML"),
    ("name = 1", "must hold tables [[member]]"),
    ("[[member]]\nname = 'a'", "each member must hold name, node_key, upload_key"),
    ("[[member]]\nname='a'\nnode_key='ssh-rsa x'\nupload_key='00'", "must be an OpenSSH public"),
    ("[[member]]\nname='a'\nnode_key=''\nupload_key='00'", "must be an OpenSSH public"),
]


@pytest.mark.parametrize(("given", "message"), WRONG)
def test_what_is_no_member_is_named(given: str, message: str) -> None:
    with pytest.raises(UnreadableMember, match=re.escape(message)) as refused:
        from_toml(given, "anna.toml")
    assert str(refused.value).startswith("anna.toml: ")


def test_keys_of_another_kind_are_refused() -> None:
    right = HALVES[0].member
    ed25519 = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB9dG4kjRhQTtWTVzd2t27+t0DEHBPW7iOD23TUiYLio"
    for old, new in ((right.node_key, ed25519), (right.upload_key, right.upload_key[2:])):
        with pytest.raises(UnreadableMember, match="must be"):
            from_toml(to_toml([right]).replace(old, new), "x")


def test_members_are_all_clients_once_and_nobody_else() -> None:
    members = [keys.member for keys in HALVES]
    twin = ClientKeys.new("St. Anna").member
    for wrong, message in (
        (members[:2], "none for Children"),
        ([*members, ClientKeys.new("Mallory").member], "Mallory"),
        ([*members, twin], "name must differ"),
    ):
        with pytest.raises(InvalidArgument, match=message):
            server_folder(SCENARIO, wrong, PLAIN)
    stolen = to_toml([members[0], twin]).replace('name = "St. Anna"', 'name = "St Anna"', 1)
    same_node = stolen.replace(twin.node_key, members[0].node_key)
    with pytest.raises(InvalidArgument, match="node_key must differ"):
        in_order(["St Anna", "St. Anna"], from_toml(same_node, "x"))


# ---- addresses and names


@pytest.mark.parametrize(
    ("given", "host", "port"),
    [
        ("fl.example.org:443", "fl.example.org", 443),
        ("localhost:1", "localhost", 1),
        ("10.0.0.7:65535", "10.0.0.7", 65535),
        ("[fe80::1]:8000", "fe80::1", 8000),
    ],
)
def test_addresses_come_back(given: str, host: str, port: int) -> None:
    address = Address.parse("--superlink", given)
    assert (address.host, address.port, str(address)) == (host, port, given)


LONG = (f"{'a' * 64}:80", f"{'a.' * 130}a:80")
NO_HOST = (":443", "-a:80", "a..b:80", "a b:80", "a;b:80", "$(a):80", "1.2.3:80", "a\n:80", *LONG)
NO_PORT = ("", "host", "host:", "host:0", "host:65536", "host:-1", "host:4 3", "host:٤", "a:80\n")
NO_IPV6 = ("::1:80", "[::1:80", "[host]:80", "[10.0.0.1]:80", "https://a:80")


@pytest.mark.parametrize("given", NO_HOST + NO_PORT + NO_IPV6)
def test_what_is_no_address_never_reaches_a_script(given: str) -> None:
    with pytest.raises(InvalidArgument, match="--superlink"):
        Address.parse("--superlink", given)


def test_folder_names_are_plain_and_distinct() -> None:
    names = folder_names(["St. Anna", "st anna", "st-anna-2", "é", "日本", "../..", "a/b"])
    assert names == ["st-anna", "st-anna-2", "st-anna-2-2", "client", "client-2", "client-3", "a-b"]


# ---- scripts


FAKE = """#!/bin/sh
printf '%s\\n' "$PWD" "$FLWR_HOME" "$FLWR_TELEMETRY_ENABLED" "$FLWR_DISABLE_UPDATE_CHECK" "$@"
"""


def ran(script: Path, *words: str, **variables: str) -> list[str]:
    """What a script would start, and where: Flower's programs replaced by one that says so."""
    fakes = script.parents[1] / "fakes"
    fake = {name: program(FAKE) for name in ("flwr", "flower-superlink", "flower-supernode")}
    if not fakes.exists():
        placed(fakes, fake)
    clean = {k: v for k, v in os.environ.items() if not k.startswith("FLWR_")}
    found = subprocess.run(
        [script, *words],
        env={**clean, "PATH": f"{fakes}:{os.environ['PATH']}", **variables},
        check=True,
        capture_output=True,
        text=True,
    )
    assert found.stderr == ""
    return found.stdout.splitlines()


def test_the_scripts_start_flower_quietly_wherever_they_stand(tmp_path: Path, trial: Files) -> None:
    base = tmp_path / "a b" / "trial"
    placed(base, trial)
    server, client = base / "server", base / "clients" / "children-s-ward-false"
    started = ran(server / "superlink.sh")
    assert started[:4] == [str(server), str(server / "flower"), "0", "1"]
    assert "--enable-supernode-auth" in started
    node = ran(client / "supernode.sh", PIGOU_NODE_PORT="9999", PIGOU_NODE_CONFIG="data='x y'")
    assert node[:4] == [str(client), str(client / "flower"), "0", "1"]
    assert node[-1] == f"pigou='{client / 'client.toml'}' data='x y'"
    assert "9999" in node
    for flag, folder, listed in (
        ("--ssl-keyfile", server, started),
        ("--root-certificates", client, node),
        ("--auth-supernode-private-key", client, node),
    ):
        assert (folder / listed[listed.index(flag) + 1]).is_file()
    chatty = ran(server / "flwr.sh", "ls", "x y", FLWR_TELEMETRY_ENABLED="1")
    assert chatty[2:] == ["1", "1", "ls", "x y"]
    link = tomllib.loads((server / "flower" / "config.toml").read_text())["superlink"]["pigou"]
    assert link["address"] == str(BIND)
    assert Path(link["root-certificates"]).samefile(server / "tls" / "ca.crt")
    registered = " ".join(ran(server / "register.sh"))
    assert registered.count("supernode register") == len(NAMES)
    assert all((server / key).is_file() for key in re.findall(r"nodes/\S+", registered))


def test_the_proxy_lets_through_the_nodes_interface_alone() -> None:
    """Patterns of nginx are tried on the normalised path; what none takes is refused."""
    files = server_folder(SCENARIO, [keys.member for keys in HALVES], BEHIND_A_PROXY)
    conf = told(files, "nginx.conf")
    places = re.findall(r"location (.*?) \{(.*?)\}", conf, re.DOTALL)
    assert len(places) == conf.count("location ") == 2
    (pattern, passed), (rest, refused) = places
    assert "proxy_pass https://superlink$uri;" in passed
    assert (rest, refused.split()) == ("/", ["return", "404;"])
    assert pattern.startswith("~ ^")
    let = re.compile(pattern.removeprefix("~ "))
    assert let.search("/v1/fleet/pull-messages")
    for path in ("/v1/control/start-run", "/v1/runtime/acquire-task", "/health", "/docs", "/"):
        assert not let.search(path)
        assert not let.search("/v1/fleet/.." + path)
    assert "nginx.conf" not in server_folder(SCENARIO, [k.member for k in HALVES], PLAIN)


def test_the_threat_model_in_the_docs_is_the_one_that_is_handed_out() -> None:
    files = server_folder(SCENARIO, [keys.member for keys in HALVES], PLAIN)
    page = ROOT / "docs" / "explanation" / "threat-model.md"
    assert told(files, "threat-model.md") == page.read_text(encoding="utf-8")


# ---- writing


def test_files_get_their_rights_whatever_the_umask(tmp_path: Path) -> None:
    files = {"a/key": secret(b"k"), "note": text("n"), "go": program("#!/bin/sh\n")}
    for umask in (0o000, 0o077):
        before = os.umask(umask)
        try:
            placed(tmp_path / str(umask), files)
        finally:
            os.umask(before)
        for path, file in files.items():
            place = tmp_path / str(umask) / path
            assert stat.S_IMODE(place.stat().st_mode) == file.mode
            assert place.read_bytes() == file.content
        assert stat.S_IMODE((tmp_path / str(umask)).stat().st_mode) == 0o700


def test_nothing_is_overwritten_and_nothing_left_half_done(tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine").write_text("mine")
    with pytest.raises(PigouError, match="cannot be written"):
        placed(full, {"note": text("n")})
    with pytest.raises(PigouError, match="cannot be written"):
        placed(tmp_path / "new", {"a": text(""), "a/b": text("")})  # a is no folder
    assert [path.name for path in tmp_path.rglob("*")] == ["full", "mine"]
