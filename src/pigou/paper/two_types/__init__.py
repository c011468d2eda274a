"""The paper's mechanism for two private types, verbatim and corrected (its section IV)."""

from pigou.paper.two_types.branch import NoBranch, Outcome, Point
from pigou.paper.two_types.cases import Case
from pigou.paper.two_types.comparison import Comparison
from pigou.paper.two_types.interim import Interim, Lie
from pigou.paper.two_types.mechanism import PaperTwoTypes
from pigou.paper.two_types.model import TwoTypes
from pigou.paper.two_types.pair import PerType
from pigou.paper.two_types.prices import Reading
from pigou.paper.two_types.rewards import Rewards, RewardStatus
from pigou.paper.two_types.stationary import Kind, StationaryPoint, UnpricedEquilibrium

__all__ = [
    "Case",
    "Comparison",
    "Interim",
    "Kind",
    "Lie",
    "NoBranch",
    "Outcome",
    "PaperTwoTypes",
    "PerType",
    "Point",
    "Reading",
    "RewardStatus",
    "Rewards",
    "StationaryPoint",
    "TwoTypes",
    "UnpricedEquilibrium",
]
