"""A client's own settings: who it is, how it behaves, and where its keys and its book are.

They come from the client's own file, never from the server. On Flower's simulation engine, where
all clients are one machine's, the run's configuration may hold them.
"""

import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from flwr.app import Context, Message

from pigou.errors import PigouError, require
from pigou.federation.client import Cohort
from pigou.federation.conduct import CONDUCTS, Conduct
from pigou.federation.flower import signing
from pigou.federation.flower.book import Book, Shelf, codec
from pigou.federation.protocol import Announcement
from pigou.federation.randomness import SecretNoise
from pigou.privacy import PrivacyAccount, precision_cap
from pigou.privacy.account import Adjacency
from pigou.privacy.release import Normals

NODE_KEY: Final = "pigou"  # in the node's configuration: the path of the client's file
NEEDED: Final = {"name", "alpha", "clip", "key", "server_key", "book"}
OPTIONAL: Final = {"conduct", "adjacency", "epsilon_cap", "delta"}
SHARED: Final = "ring"  # a conduct that takes a noise shared between clients
DELTA: Final = 1e-5

Noise = Callable[[int, int, int], Normals]  # of the client at this place, in this round, attempt


def secret(place: int, round_: int, attempt: int) -> Normals:
    """Noise that nobody can draw again."""
    return SecretNoise()


@dataclass(frozen=True, kw_only=True, eq=False)
class Profile:
    """One client, as its own side knows it."""

    name: str
    clip: float
    conduct: Conduct
    group: tuple[tuple[str, float], ...]  # who decides together, with types: itself, mostly
    adjacency: Adjacency = "zero-out"
    cap: float = np.inf  # of sum 1 / sigma^2
    spent: float = 0.0  # of it, before the book begins
    seed: int = 0  # of its decisions
    noise: Noise = secret
    key: Ed25519PrivateKey | None = None
    server_key: Ed25519PublicKey | None = None
    book: Path | None = None
    shelf: str = ""  # which of several books in a context, where one node plays in several runs

    @property
    def row(self) -> int:
        """The client's place in its group."""
        return [name for name, _ in self.group].index(self.name)

    def kept(self, context: Context) -> Shelf:
        """Where its book is."""
        own = codec(type(self.conduct))
        return Shelf(self.name, self.book, context, own, self.shelf)

    def cohort(self, announcement: Announcement, book: Book) -> Cohort:
        """The group as it stands; only the client's own row of it is more than a guess."""
        places = {name: place for place, name in enumerate(announcement.clients)}
        members = np.array([places[name] for name, _ in self.group], dtype=np.intp)
        size = members.size
        return Cohort(
            members=members,
            alpha=np.array([alpha for _, alpha in self.group]),
            conduct=book.conduct or self.conduct,
            precision=np.full(size, self.spent + book.precision(self.clip)),
            cap=np.full(size, self.cap),
            seed=self.seed,
        )


Who = Callable[[Message, Context], Profile]


def configured(message: Message, context: Context) -> Profile:
    """The client of this node, from its file; in simulations, from the run's configuration."""
    path = context.node_config.get(NODE_KEY)
    if isinstance(path, str):
        return read(Path(path))
    if _in_simulation() and "pigou-alpha" in context.run_config:
        return _simulated(context)
    raise PigouError("this node has no pigou settings: --node-config \"pigou='client.toml'\"")


def read(path: Path) -> Profile:
    """The client of a file; paths in it are meant from the file's folder."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PigouError(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PigouError(f"{path}: not TOML: {error}") from error
    missing, unknown = NEEDED - set(table), set(table) - NEEDED - OPTIONAL
    require(not missing, str(path), "must hold " + ", ".join(sorted(NEEDED)), sorted(table))
    require(not unknown, str(path), "must hold nothing unknown", sorted(unknown))
    home = path.parent
    return Profile(
        key=signing.load_key(home / _text(table, "key")),
        server_key=signing.load_public(home / _text(table, "server_key")),
        book=home / _text(table, "book"),
        **_character(_text(table, "name"), table),
    )


def _simulated(context: Context) -> Profile:
    """The client of a partition."""
    config, place = context.run_config, int(context.node_config["partition-id"])
    types = [float(part) for part in str(config["pigou-alpha"]).split(",")]
    held = f"must hold a type for partition {place}"
    require(place < len(types), "pigou-alpha", held, config["pigou-alpha"])
    given = {"alpha": types[place], "clip": config.get("pigou-clip")}
    conduct = config.get("pigou-conduct", "obedient")
    return Profile(**_character(f"client-{place}", {**given, "conduct": conduct}))


def _character(name: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """What a profile holds besides keys and book."""
    conduct, alpha = table.get("conduct", "obedient"), table["alpha"]
    known = conduct in CONDUCTS and conduct != SHARED
    words = ", ".join(sorted(set(CONDUCTS) - {SHARED}))
    require(known, "conduct", f"must be one of {words}", conduct)
    inside = isinstance(alpha, float | int) and 0 <= alpha <= 1
    require(inside, "alpha", "must lie in [0, 1]", alpha)
    account = PrivacyAccount(table["clip"], table.get("adjacency", "zero-out"))
    cap = np.inf
    if "epsilon_cap" in table:
        cap = precision_cap(account, table.get("delta", DELTA), table["epsilon_cap"])
    return {
        "name": name,
        "clip": account.clip,
        "adjacency": account.adjacency,
        "conduct": CONDUCTS[conduct](),
        "group": ((name, float(alpha)),),
        "cap": cap,
    }


def _text(table: Mapping[str, Any], name: str) -> str:
    value = table[name]
    require(isinstance(value, str) and value, name, "must be text, not empty", value)
    return str(value)


def _in_simulation() -> bool:
    """Whether this process is a worker of the simulation engine, which a real node's never is."""
    ray = sys.modules.get("ray")
    return ray is not None and bool(ray.is_initialized())
