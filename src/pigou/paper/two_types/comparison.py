"""Which case the clients choose, as the paper compares them (end of section IV-B).

"By comparing the expected cost for the minimum, each client will choose the type reporting at
the BNE from the three cases": whole cases are compared, everybody changing at once, and not what
one client gains by changing alone (E9).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pigou.paper.two_types.cases import Case
from pigou.paper.two_types.pair import HIGH, LOW, PerType
from pigou.paper.two_types.rewards import Rewards

TIE = 1e-9  # relative: rewards that bind make two cases equal, and truth is then chosen


@dataclass(frozen=True)
class Comparison:
    """Expected costs of each type in each case, net of expected rewards where these exist."""

    costs: Mapping[Case, PerType]
    missing: tuple[Case, ...]  # cases whose equilibrium was not found
    rewards: Rewards

    @property
    def preferred(self) -> tuple[Case, Case]:
        """The case that each type would choose."""
        return self._cheapest(LOW), self._cheapest(HIGH)

    @property
    def chosen(self) -> Case | None:
        """The case that both types choose; None where they differ."""
        low, high = self.preferred
        return low if low is high else None

    def __str__(self) -> str:
        low, high = self.preferred
        both = f"low types prefer {low.text}; high types prefer {high.text}"
        says = [both if low is not high else f"both types prefer {low.text}"]
        if self.rewards.paid is None:
            says.append(f"compared before rewards ({self.rewards})")
        says += [f"{case.text}: no equilibrium found" for case in self.missing]
        return "; ".join(says)

    def _cheapest(self, kind: int) -> Case:
        least = min(cost[kind] for cost in self.costs.values())
        ties = [case for case, cost in self.costs.items() if cost[kind] <= least + TIE * abs(least)]
        return Case.TRUTHFUL if Case.TRUTHFUL in ties else ties[0]
