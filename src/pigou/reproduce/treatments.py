"""The treatments that figures compare: one name, colour and dash each, the same everywhere."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

UNPRICED: Final = "paper's MLE rule, no prices"
PRINTED: Final = "paper's MLE rule, prices as printed"
CORRECTED: Final = "paper's MLE rule, prices corrected"
MEAN_UNPRICED: Final = "mean weights, no prices"
GROVES: Final = "mean weights, Groves"
POSTED: Final = "mean weights, posted price"
MENU: Final = "mean weights, menu"


@dataclass(frozen=True)
class Style:
    """How a line looks. Colours are Okabe and Ito's; dashes say the same in black and white."""

    colour: str
    dash: str  # plotly's name
    width: float = 2.0


STYLES: Mapping[str, Style] = MappingProxyType(
    {
        UNPRICED: Style("#d55e00", "solid"),
        PRINTED: Style("#e69f00", "dot", 3.0),
        CORRECTED: Style("#cc79a7", "dash"),
        MEAN_UNPRICED: Style("#000000", "dashdot"),
        GROVES: Style("#0072b2", "solid"),
        POSTED: Style("#56b4e9", "dash", 3.0),
        MENU: Style("#009e73", "dot", 3.0),
    }
)
OTHERS: Final = (
    Style("#0072b2", "solid"),
    Style("#d55e00", "dash"),
    Style("#009e73", "dashdot"),
    Style("#cc79a7", "dot"),
    Style("#e69f00", "solid"),
    Style("#000000", "dash"),
)


def style(name: str, place: int) -> Style:
    """Of the treatment so named; of anything else, by its place in the chart."""
    return STYLES.get(name, OTHERS[place % len(OTHERS)])
