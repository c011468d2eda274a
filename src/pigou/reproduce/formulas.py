"""What the formula half of the figures takes for granted, and where it comes from."""

# ruff: noqa: RUF001
# The page's Greek letters and signs are meant.

from typing import Final

from pigou.game import AccuracyLoss, Setting
from pigou.paper.errata.cases import KAPPA, PRIVACY_SCALE, SMOOTHNESS
from pigou.paper.errata.model import DELTA, C
from pigou.reproduce.part import Parameter

N: Final = 100  # the paper's, in Fig. 2; Fig. 1 does not say, its label in the source does
ROUNDS: Final = 30  # the paper's T, which the bound does not depend on
LOSS: Final = AccuracyLoss.bound(KAPPA, SMOOTHNESS)
WHERE: Final = "figures and tables from the formulas"
WHY: Final = "chosen; only sqrt(cS/κ)/L_F shapes the figures, and the sensitivity table varies it"

PARAMETERS: Final = (
    Parameter("κ", "16‖w⁰ − w*‖, in the bound of Proposition 1", f"{KAPPA:g}", WHY, WHERE),
    Parameter("L_F", "smoothness of the loss", f"{SMOOTHNESS:g}", WHY, WHERE),
    Parameter(
        "cS",
        "privacy scale: c of the Gaussian mechanism times the sensitivity S",
        f"{PRIVACY_SCALE:g}: for instance c = {C:.4g}, the least for δ = {DELTA:g}, and "
        f"S = {PRIVACY_SCALE / C:.4g}",
        f"{WHY}; they enter as a product only",
        WHERE,
    ),
)


def setting(n: int = N, loss: AccuracyLoss = LOSS, privacy_scale: float = PRIVACY_SCALE) -> Setting:
    """The paper's: mean weights unless a mechanism says otherwise, honest updates all alike."""
    return Setting(n, loss, privacy_scale)
