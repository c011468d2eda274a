"""Pigou puts a price on privacy noise in federated learning, without verifying it."""

from pigou.errors import Degenerate, InvalidArgument, NotApplicable, PigouError, TooFewClients
from pigou.game import AccuracyLoss, Game, Setting
from pigou.solve import Solution, equilibrium, optimum

__all__ = [
    "AccuracyLoss",
    "Degenerate",
    "Game",
    "InvalidArgument",
    "NotApplicable",
    "PigouError",
    "Setting",
    "Solution",
    "TooFewClients",
    "equilibrium",
    "optimum",
]
