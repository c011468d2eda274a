"""A contract as a server app of Flower needs it: on the simulation engine, or as deployed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pigou.ledger import Ledger
from pigou.ledger.store import sqlite_url
from pigou.scenario import Scenario, load


@dataclass(frozen=True)
class Federation:
    """A contract, and the folder of the server that carries it out; simulations have none."""

    contract: Scenario
    folder: Path | None = None

    @classmethod
    def deployed(cls, folder: Path) -> Self:
        """The server whose folder ``pigou deploy`` wrote."""
        return cls(load(folder / "scenario.toml"), folder)

    @classmethod
    def simulated(cls, contract: Path) -> Self:
        """The clients of the simulation engine, by the contract of a scenario file."""
        return cls(load(contract))

    @contextmanager
    def book(self, url: str = "") -> Iterator[Ledger | None]:
        """The ledger at this place; otherwise the server's own, which simulations do not have."""
        place = url or (sqlite_url(self.folder / "ledger.db") if self.folder else "")
        if not place:
            yield None
            return
        with Ledger(place, self._key) as ledger:
            yield ledger

    def pricing(self, run: str, book: Ledger | None, mechanism: str = "") -> dict[str, Any]:
        """What ``PricedStrategy`` takes beside an app's own strategy.

        A run is known by its name: with the same name and book it goes on where it stopped. The
        mechanism is the contract's, or the one named.
        """
        from pigou.federation.flower import Registered, Simulated  # needs Flower

        contract = self.contract
        return {
            "mechanism": contract.build_mechanism(mechanism or None),
            "setting": contract.setting(),
            "members": (
                Simulated([f"client-{place}" for place in range(contract.n)])
                if self.folder is None
                else Registered.read(self.folder / "members.toml")
            ),
            "run": run,
            "consortium": contract.name,
            "ledger": book,
            "currency": contract.mechanism.currency,
            "limits": contract.limits.build(),
            "audit": contract.audit.build(),
            "key": self._key,
        }

    @property
    def _key(self) -> Path | None:
        return None if self.folder is None else self.folder / "signing.key"
