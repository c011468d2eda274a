"""Pigou puts a price on privacy noise in federated learning, without verifying it."""

from pigou.anarchy import price_of_anarchy
from pigou.certificate import Certificate, certify
from pigou.errors import Degenerate, InvalidArgument, NotApplicable, PigouError, TooFewClients
from pigou.game import AccuracyLoss, Game, Setting
from pigou.solve import Solution, equilibrium, optimum

__all__ = [
    "AccuracyLoss",
    "Certificate",
    "Degenerate",
    "Game",
    "InvalidArgument",
    "NotApplicable",
    "PigouError",
    "Setting",
    "Solution",
    "TooFewClients",
    "certify",
    "equilibrium",
    "optimum",
    "price_of_anarchy",
]
