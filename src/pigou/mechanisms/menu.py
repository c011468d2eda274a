"""A menu of prices for a known distribution of types: screening, the paper's setting repaired.

Clients report a type from the menu; their target, price and payment are announced per type in
advance. Truth and obedience are best in expectation over the others' types, as long as these are
independent draws from the menu's population, truthful and obedient. How the menu is made is in
``menu_schedule``. ``transfers`` are minus the payments: they depend on a client's own report alone,
and add up to zero in expectation, not in every draw.

The transfers are those of everybody of positive weight in ``setting``, and stay those when some are
absent later: ``present`` changes targets and prices only. A continuous population is replaced by
``points`` equally likely types; a client in between reports the type that suits it best.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pigou.checks import FloatArray, count, sensitivities
from pigou.errors import InvalidArgument, require
from pigou.game import Setting
from pigou.mechanisms.base import Contract, arrived
from pigou.mechanisms.menu_schedule import Schedule, Symmetric, schedule, symmetric
from pigou.mechanisms.pigouvian import balancing, require_enough
from pigou.population import Finite, Population, discretise
from pigou.terms import Terms

SAME = 1e-9  # how far a reported number may be from the type that it means


@dataclass(frozen=True)
class Menu(Contract):
    """A menu of the population's types; equal weights, spread and divergence only."""

    population: Population
    points: int = 5  # of a continuous population
    _made: dict[Symmetric, Schedule] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    name = "menu"

    def __post_init__(self) -> None:
        super().__post_init__()
        count("points", self.points)
        known = callable(getattr(self.population, "quantile", None))
        require(known, "population", "must be a population of types", self.population)

    @cached_property
    def finite(self) -> Finite:
        """The population as the menu has it."""
        given = self.population
        return given if isinstance(given, Finite) else discretise(given, self.points)

    @property
    def report_space(self) -> tuple[float, ...]:
        """The types of the menu."""
        return tuple(self.finite.types.tolist())

    def terms(
        self,
        setting: Setting,
        reports: ArrayLike | None = None,
        present: ArrayLike | None = None,
    ) -> Terms:
        """Each client's target, price and transfer by its reported type."""
        chosen = self._chosen(reports, setting.n)
        here = arrived(setting, present)
        require_enough(here, self.refund)
        paid = np.where(setting.active, self.schedule(setting).payment[chosen], 0.0)
        return self._terms(here, chosen, -self.money * paid)

    def adapt(
        self, setting: Setting, terms: Terms, reports: ArrayLike | None, present: ArrayLike
    ) -> Terms:
        """Targets and prices for the clients present; the transfers have been charged."""
        here = arrived(setting, present)
        require_enough(here, self.refund)
        return self._terms(here, self._chosen(reports, setting.n), terms.transfers)

    def _terms(self, here: Setting, chosen: NDArray[np.intp], transfers: FloatArray) -> Terms:
        menu = self.schedule(here)
        price = np.where(here.active, menu.unit_price[chosen], 0.0)
        sigma = np.where(here.active, menu.sigma[chosen], np.inf)
        return Terms(
            mechanism=self.name,
            weights=here.weights,
            unit_price=price,
            sigma=sigma,
            transfers=transfers,
            rounds=self.rounds,
            money=self.money,
            refund=self.refund,
            constant_refund=balancing(self.refund, here, price, sigma),
        )

    def schedule(self, setting: Setting) -> Schedule:
        """What is announced per type for this setting; made once."""
        game = symmetric(setting, self.finite)
        if game not in self._made:
            self._made[game] = schedule(game, self.refund)
        return self._made[game]

    def _chosen(self, reports: ArrayLike | None, n: int) -> NDArray[np.intp]:
        if reports is None:
            raise InvalidArgument("reports", "must hold one type of the menu per client", reports)
        given, types = sensitivities("reports", reports, n), self.finite.types
        distance = np.abs(given[:, None] - types)
        other = given[distance.min(axis=1) > SAME]
        require(other.size == 0, "reports", f"must be types of the menu, {types}", other[:3])
        return np.asarray(distance.argmin(axis=1))
