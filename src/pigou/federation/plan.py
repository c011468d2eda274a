"""All that is agreed before a run starts, and public: who, how long, by which rules."""

from dataclasses import dataclass, field

from pigou.checks import count, number
from pigou.errors import require
from pigou.federation.audit import AuditRule
from pigou.game import Setting
from pigou.mechanisms.base import Mechanism


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What the server accepts in a round."""

    min_clients: int = 1  # fewer valid uploads: the round is void and repeated
    max_attempts: int = 3  # of one round, before the run gives up
    largest: float = 1e6  # absolute value of any uploaded number

    def __post_init__(self) -> None:
        count("min_clients", self.min_clients)
        count("max_attempts", self.max_attempts)
        number("largest", self.largest, above_zero=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """The rules of one run. The rounds and the money are the mechanism's contract."""

    consortium: str
    run: str
    clients: tuple[str, ...]
    setting: Setting
    mechanism: Mechanism
    currency: str = "EUR"
    limits: Limits = field(default_factory=Limits)
    audit: AuditRule = field(default_factory=AuditRule)

    def __post_init__(self) -> None:
        n = self.setting.n
        require(len(self.clients) == n, "clients", f"must name {n} clients", len(self.clients))
        unique = len(set(self.clients)) == n and all(self.clients)
        require(unique, "clients", "must be distinct and not empty", self.clients)
        for name, value in (("consortium", self.consortium), ("run", self.run)):
            require(bool(value), name, "must not be empty", value)
        least = self.limits.min_clients
        require(least <= n, "min_clients", f"must be at most the number of clients, {n}", least)
