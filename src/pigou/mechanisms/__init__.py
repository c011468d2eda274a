"""Mechanisms: reports in, terms out; and billing: uploads and terms in, bills out."""

from pigou.mechanisms import billing
from pigou.mechanisms.base import Contract, Mechanism
from pigou.mechanisms.pigouvian import Pigouvian
from pigou.mechanisms.unpriced import Unpriced

__all__ = ["Contract", "Mechanism", "Pigouvian", "Unpriced", "billing"]
