"""One case, played: without prices, with them, and as it should be."""

from dataclasses import dataclass
from functools import cached_property

from pigou.anarchy import price_of_anarchy
from pigou.cli.inputs import Case
from pigou.comparison import Play, play
from pigou.solve import Solution, equilibrium, optimum


@dataclass(frozen=True, eq=False)
class Outcome:
    """What clients do under the case's mechanism, and what they do without prices."""

    case: Case
    play: Play

    @classmethod
    def of(cls, case: Case) -> "Outcome":
        """The outcome when the clients report their types truthfully, where they are asked."""
        return cls(case, play(case.game, case.mechanism()))

    @cached_property
    def unpriced(self) -> Solution:
        """The equilibrium without prices."""
        return equilibrium(self.case.game)

    @cached_property
    def best(self) -> Solution:
        """The least social cost for these weights."""
        return optimum(self.case.game)

    @property
    def price_of_anarchy(self) -> float:
        """Unpriced social cost over the optimum."""
        return price_of_anarchy(self.case.game)
