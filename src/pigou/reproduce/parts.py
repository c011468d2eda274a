"""All parts of the reproduction in the order of the page, and what one may ask for."""

from collections.abc import Mapping
from types import MappingProxyType

from pigou.reproduce.part import Part

PARTS: tuple[Part, ...] = ()

# What the command takes, and the parts that it stands for.
GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"all": tuple(part.name for part in PARTS)}
)
