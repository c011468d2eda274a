"""What every mechanism is: reports in, terms out, and a revision after each round."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

from numpy.typing import ArrayLike

from pigou.checks import count, number
from pigou.errors import require
from pigou.game import Setting
from pigou.terms import RefundRule, Reports, Terms


class Mechanism(Protocol):
    """One protocol for all: the server side of the two-stage game."""

    @property
    def name(self) -> str:
        """The name on the command line and in the terms."""

    @property
    def rounds(self) -> int:
        """How many rounds the unit prices are spread over."""

    @property
    def report_space(self) -> Reports | None:
        """What a client may report: None (nothing), an interval, a menu, or (alpha, spread)."""

    def terms(
        self,
        setting: Setting,
        reports: ArrayLike | None = None,
        present: ArrayLike | None = None,
    ) -> Terms:
        """The terms for the clients present (all, unless told otherwise)."""

    def revise(self, setting: Setting, terms: Terms, deviations: ArrayLike) -> Terms:
        """The terms of the next round, from what this round's deviations show."""

    def adapt(
        self, setting: Setting, terms: Terms, reports: ArrayLike | None, present: ArrayLike
    ) -> Terms:
        """The running terms, made anew for the clients present: the rule for dropouts."""


@dataclass(frozen=True, kw_only=True)
class Contract(ABC):
    """What any mechanism's terms need besides prices: how long, in what money, refunded how."""

    rounds: int = 1
    money: float = 1.0  # units of currency per unit of cost
    refund: RefundRule = "zero-sum"

    def __post_init__(self) -> None:
        count("rounds", self.rounds)
        number("money", self.money, above_zero=True)
        known = self.refund in ("zero-sum", "constant")
        require(known, "refund", 'must be "zero-sum" or "constant"', self.refund)

    @abstractmethod
    def terms(
        self,
        setting: Setting,
        reports: ArrayLike | None = None,
        present: ArrayLike | None = None,
    ) -> Terms:
        """As in ``Mechanism``."""

    def revise(self, setting: Setting, terms: Terms, deviations: ArrayLike) -> Terms:
        """Nothing to learn: the terms stay."""
        return terms

    def adapt(
        self, setting: Setting, terms: Terms, reports: ArrayLike | None, present: ArrayLike
    ) -> Terms:
        """Nothing learnt that could be kept: terms as if these clients had been there alone."""
        return self.terms(setting, reports, present)


def arrived(setting: Setting, present: ArrayLike | None) -> Setting:
    """The setting of the clients that are there: the rule announced for dropouts (section 3)."""
    return setting if present is None else setting.restricted(present)
