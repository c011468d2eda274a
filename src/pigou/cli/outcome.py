"""One case, played: without prices, with them, and as it should be."""

from dataclasses import dataclass
from functools import cached_property

from pigou.anarchy import price_of_anarchy
from pigou.cli.inputs import Case
from pigou.mechanisms import billing
from pigou.mechanisms.expected import ExpectedBills
from pigou.solve import Solution, equilibrium, optimum
from pigou.terms import Terms


@dataclass(frozen=True, eq=False)
class Outcome:
    """What selfish clients do under the case's terms, and what they do without prices."""

    case: Case
    terms: Terms

    @classmethod
    def of(cls, case: Case) -> "Outcome":
        """The outcome when the clients report their types truthfully, where they are asked."""
        return cls(case, case.mechanism.terms(case.game.setting, reports=case.game.alpha))

    @cached_property
    def unpriced(self) -> Solution:
        """The equilibrium without prices."""
        return equilibrium(self.case.game)

    @cached_property
    def priced(self) -> Solution:
        """The equilibrium under the terms' prices."""
        return equilibrium(self.case.game, unit_price=self.terms.unit_price)

    @cached_property
    def best(self) -> Solution:
        """The least social cost for these weights."""
        return optimum(self.case.game)

    @cached_property
    def bills(self) -> ExpectedBills:
        """Expected charges and refunds of the whole run, in currency."""
        return billing.expected_bills(self.case.game.setting, self.terms, self.priced.sigma)

    @property
    def price_of_anarchy(self) -> float:
        """Unpriced social cost over the optimum."""
        return price_of_anarchy(self.case.game)

    @property
    def budget(self) -> float:
        """What the reserve expects to receive, in currency."""
        return float(self.bills.net.sum() + self.terms.transfers.sum())
