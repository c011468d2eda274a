"""One client's deviation in its report, the others truthful and obedient (E9).

C[type][report] is what a client of a type expects to pay at its best noise when it makes a
report, before any reward. When types are independent, a reward that depends on reports takes the
same amount off both types' costs for the same report, so that some reward makes truth an
equilibrium if and only if there is room for t_L - t_H, the difference of the expected rewards, in

    C_L(L) - C_L(H) <= t_L - t_H <= C_H(L) - C_H(H)          (section 4).
"""

from dataclasses import dataclass

from pigou.paper.two_types.costs import Facing, predicted
from pigou.paper.two_types.pair import HIGH, LOW, Pair, PerType
from pigou.paper.two_types.system import Weights

Matrix = tuple[PerType, PerType]  # by type, then by report

NO_REWARD = PerType(0.0, 0.0)
ROUNDING = 1e-12  # of the largest cost: without a linear loss both bounds are 0 exactly


@dataclass(frozen=True)
class Lie:
    """A false report, the noise that goes with it and what it gains on average."""

    kind: int  # LOW or HIGH: the liar's type
    sigma: float
    gain: float  # negative: a loss
    relative: float  # as a share of its expected cost when truthful, penalty included

    def __str__(self) -> str:
        true, told = ("low", "high") if self.kind == LOW else ("high", "low")
        share = f"{100.0 * self.relative:.3g} % of its cost, penalty included"
        gains = f"gains {self.gain:.6g}, {share}" if self.gain > 0 else "gains nothing"
        return f"a {true} type that reports {told} and plays noise {self.sigma:.6g} {gains}"


@dataclass(frozen=True)
class Interim:
    """Expected costs before reward, by type and report, and what they say about truth."""

    sigma: PerType
    beta: PerType
    cost: Matrix
    noise: Matrix

    @property
    def lower(self) -> float:
        """C_L(L) - C_L(H): the least t_L - t_H that keeps the low type truthful."""
        return self.cost[LOW].low - self.cost[LOW].high

    @property
    def upper(self) -> float:
        """C_H(L) - C_H(H): the most that keeps the high type truthful."""
        return self.cost[HIGH].low - self.cost[HIGH].high

    @property
    def feasible(self) -> bool:
        """Whether any reward makes truth an equilibrium."""
        largest = max(max(row) for row in self.cost)
        return self.lower <= self.upper + ROUNDING * largest

    def lies(self, reward: PerType = NO_REWARD) -> tuple[Lie, Lie]:
        """Each type's lie, under expected rewards by report."""
        found = []
        for kind, other in ((LOW, HIGH), (HIGH, LOW)):
            truth, lie = self.cost[kind][kind], self.cost[kind][other]
            gain = (truth - reward[kind]) - (lie - reward[other])
            found.append(Lie(kind, self.noise[kind][other], gain, gain / truth))
        return found[0], found[1]

    def best_lie(self, reward: PerType = NO_REWARD) -> Lie:
        """The one that gains more."""
        return max(self.lies(reward), key=lambda lie: lie.gain)


def interim(pair: Pair, weights: Weights, sigma: PerType, beta: PerType) -> Interim:
    """The matrix where the server's rule expects sigma and charges beta by report."""
    tau = predicted(weights, sigma)
    facing = [Facing.others(pair, own_tau, tau, sigma) for own_tau in tau]
    noise: list[PerType] = []
    cost: list[PerType] = []
    for kind in (LOW, HIGH):
        best = [facing[report].best_noise(kind, beta[report]) for report in (LOW, HIGH)]
        paid = [facing[report].cost(kind, best[report], beta[report]) for report in (LOW, HIGH)]
        noise.append(PerType(*best))
        cost.append(PerType(*paid))
    return Interim(sigma, beta, (cost[0], cost[1]), (noise[0], noise[1]))
