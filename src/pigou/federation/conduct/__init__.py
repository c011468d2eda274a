"""Conducts: how clients behave. Each is one small class; ``CONDUCTS`` names them for scenarios."""

from types import MappingProxyType

from pigou.federation.conduct.base import (
    Conduct,
    Outcome,
    Play,
    Truthful,
    View,
    best_response,
    targets,
)
from pigou.federation.conduct.dishonest import Copycat, Dropout, Lying, Ring, Silent
from pigou.federation.conduct.honest import Obedient, Selfish
from pigou.federation.conduct.learning import Learning

CONDUCTS = MappingProxyType(
    {
        each.name: each
        for each in (Obedient, Selfish, Learning, Lying, Silent, Copycat, Ring, Dropout)
    }
)

__all__ = [
    "CONDUCTS",
    "Conduct",
    "Copycat",
    "Dropout",
    "Learning",
    "Lying",
    "Obedient",
    "Outcome",
    "Play",
    "Ring",
    "Selfish",
    "Silent",
    "Truthful",
    "View",
    "best_response",
    "targets",
]
