"""Federations on Flower: wrap the strategy, add one client mod, and get prices and statements.

Nothing leaves the machine unasked: Flower's telemetry and update check are off unless the user's
own environment turns them on.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pigou.errors import PigouError
from pigou.federation.flower.environment import QUIET

if TYPE_CHECKING:
    from pigou.federation.flower.client import pigou_client
    from pigou.federation.flower.members import Registered, Simulated
    from pigou.federation.flower.mod import noise_mod
    from pigou.federation.flower.strategy import PricedStrategy

__all__ = ["PricedStrategy", "Registered", "Simulated", "noise_mod", "pigou_client"]

_HOMES = {
    "PricedStrategy": "strategy",
    "Registered": "members",
    "Simulated": "members",
    "noise_mod": "mod",
    "pigou_client": "client",
}

for _name, _value in QUIET.items():  # read by Flower when it is imported
    os.environ.setdefault(_name, _value)


class FlowerMissing(PigouError):  # noqa: N818
    """Flower is not installed."""


def __getattr__(name: str) -> Any:
    """The public names, imported with Flower when they are first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    require_flower()
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def require_flower() -> None:
    """An error that says what to install, where Flower is not."""
    try:
        import_module("flwr")
    except ModuleNotFoundError as error:
        needed = "Flower is not installed: pip install 'pigou[flower]'"
        raise FlowerMissing(needed) from error
