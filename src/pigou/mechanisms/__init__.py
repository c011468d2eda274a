"""Mechanisms: reports in, terms out; and billing: uploads and terms in, bills out."""

from pigou.mechanisms import billing
from pigou.mechanisms.base import Contract, Mechanism
from pigou.mechanisms.groves import Groves
from pigou.mechanisms.menu import Menu
from pigou.mechanisms.pigouvian import Pigouvian
from pigou.mechanisms.posted import Path, PostedPrice
from pigou.mechanisms.unpriced import Unpriced

__all__ = [
    "Contract",
    "Groves",
    "Mechanism",
    "Menu",
    "Path",
    "Pigouvian",
    "PostedPrice",
    "Unpriced",
    "billing",
]
