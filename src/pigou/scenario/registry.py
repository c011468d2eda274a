"""Mechanisms by the names that people write, what each takes, and what it rests on."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from pigou.errors import InvalidArgument, NotApplicable
from pigou.game import Setting
from pigou.mechanisms import Groves, Mechanism, Menu, Pigouvian, PostedPrice, Unpriced
from pigou.paper import PaperPricing
from pigou.paper.two_types import PaperTwoTypes
from pigou.population import Finite, Population, two_point
from pigou.terms import RefundRule

MOST_POINTS = 5  # types of a menu: more gain nothing, as clients choose their noise themselves
MOST_CASES = 4_000  # that a check over a menu's types has to go through, where points are free

Types = Literal["not asked", "known", "reported"]  # how the server gets at the clients' types


@dataclass(frozen=True, kw_only=True)
class Details:
    """What mechanisms take besides their setting; None: each mechanism's own default."""

    rounds: int = 1
    money: float = 1.0  # units of currency per unit of cost
    refund: RefundRule | None = None
    mean_alpha: float | None = None
    report_spread: bool | None = None
    population: Population | None = None  # what the server takes types to be drawn from
    points: int | None = None
    verbatim: bool | None = None
    rewards: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One mechanism: how it is made, and what it rests on."""

    make: Callable[..., Mechanism]
    types: Types
    knows: str  # what the server must know about the clients
    options: tuple[str, ...] = ()  # of the details, beyond the contract's
    drawn_from: Callable[[Any], Finite] | None = None  # of its mechanism, if made for a population
    fits_setting: bool = False  # made for one setting
    own_refund: bool = False  # pays a constant refund, and no other

    def build(self, setting: Callable[[], Setting], details: Details) -> Mechanism:
        """The mechanism; ``setting`` is asked for where it is made for one."""
        given: dict[str, Any] = {"rounds": details.rounds, "money": details.money}
        if not self.own_refund:
            given["refund"] = details.refund
        given |= {name: getattr(details, name) for name in self.options}
        if self.drawn_from is not None and details.population is None:
            what = (
                "must be given (--population, or a [population] table): the mechanism is made "
                "for a distribution of types"
            )
            raise NotApplicable("population", what, None)
        if self.fits_setting:
            given["setting"] = setting()
        return self.make(**{name: value for name, value in given.items() if value is not None})


def _menu(
    setting: Setting, population: Population, points: int | None = None, **contract: Any
) -> Menu:
    return Menu(population, points or checkable_points(setting.n), **contract)


def checkable_points(n: int) -> int:
    """Types of a menu made of a continuous population: as many as can be checked in short time."""
    fits = [k for k in range(2, MOST_POINTS + 1) if cases(n, k) <= MOST_CASES]
    return max(fits, default=2)


def cases(n: int, types: int) -> int:
    """How many cases there are of one client's report and how many others are of each type."""
    return types * math.comb(n + types - 2, types - 1)


def _menu_types(mechanism: Menu) -> Finite:
    return mechanism.finite


def _two_types(mechanism: PaperTwoTypes) -> Finite:
    model = mechanism.model
    return two_point(model.alpha_low, model.alpha_high, model.eta)


MECHANISMS: Mapping[str, Kind] = MappingProxyType(
    {
        Unpriced.name: Kind(make=Unpriced, types="not asked", knows="nothing"),
        Pigouvian.name: Kind(make=Pigouvian, types="known", knows="every client's type"),
        PostedPrice.name: Kind(
            make=PostedPrice,
            types="not asked",
            knows="the mean type, roughly",
            options=("mean_alpha",),
        ),
        Groves.name: Kind(
            make=Groves,
            types="reported",
            knows="spread; types are reported",
            options=("report_spread",),
        ),
        Menu.name: Kind(
            make=_menu,
            types="reported",
            knows="how types are distributed",
            options=("population", "points"),
            drawn_from=_menu_types,
            fits_setting=True,
        ),
        PaperPricing.name: Kind(
            make=PaperPricing,
            types="known",
            knows="every client's type",
            options=("verbatim",),
            own_refund=True,
        ),
        PaperTwoTypes.name: Kind(
            make=PaperTwoTypes.for_setting,
            types="reported",
            knows="the two types and their odds",
            options=("population", "rewards"),
            drawn_from=_two_types,
            fits_setting=True,
            own_refund=True,
        ),
    }
)


def kind_named(name: str) -> Kind:
    """The kind of mechanism of that name."""
    if name not in MECHANISMS:
        raise InvalidArgument("mechanism", f"must be one of {', '.join(MECHANISMS)}", name)
    return MECHANISMS[name]
