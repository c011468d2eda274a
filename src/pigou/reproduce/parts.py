"""All parts of the reproduction in the order of the page, and what one may ask for."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from pigou.reproduce.accuracy import ACCURACY
from pigou.reproduce.added import ADDED
from pigou.reproduce.anarchy import ANARCHY
from pigou.reproduce.claims.chapter import CLAIMS
from pigou.reproduce.errata import ERRATA_PART
from pigou.reproduce.fig1 import FIG1
from pigou.reproduce.fig1_training import FIG1_TRAINING
from pigou.reproduce.fig2_chapter import FIG2
from pigou.reproduce.fig2_training_chapter import FIG2_TRAINING
from pigou.reproduce.part import Part
from pigou.reproduce.sensitivity import SENSITIVITY
from pigou.reproduce.training_sensitivity import SENSITIVITY_TRAINING

PARTS: Final[tuple[Part, ...]] = (
    FIG1,
    FIG1_TRAINING,
    FIG2,
    FIG2_TRAINING,
    ACCURACY,
    ANARCHY,
    SENSITIVITY,
    SENSITIVITY_TRAINING,
    ADDED,
    CLAIMS,
    ERRATA_PART,
)


def _starting(prefix: str) -> tuple[str, ...]:
    return tuple(part.name for part in PARTS if part.name.startswith(prefix))


# What the command takes, and the parts that it stands for; a part's own name stands for itself.
GROUPS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "all": _starting(""),
        "fig1": _starting("fig1"),
        "fig2": _starting("fig2"),
        "sensitivity": _starting("sensitivity"),
        "claims": (FIG1.name, FIG2.name, ANARCHY.name, CLAIMS.name),
    }
)
