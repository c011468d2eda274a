"""All mechanisms on one game, side by side: what they achieve, and what breaks them."""

from pigou.comparison.compare import Comparison, NotHere, Row, compare
from pigou.comparison.judging import QUICK, THOROUGH, Effort, Judged, judge
from pigou.comparison.play import Play, play

__all__ = [
    "QUICK",
    "THOROUGH",
    "Comparison",
    "Effort",
    "Judged",
    "NotHere",
    "Play",
    "Row",
    "compare",
    "judge",
    "play",
]
