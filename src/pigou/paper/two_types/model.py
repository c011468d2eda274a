"""The paper's two-type model, everything it defines and what it overlooks (its section IV)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from pigou.paper.two_types import cases, prices
from pigou.paper.two_types import interim as deviations
from pigou.paper.two_types import rewards as money
from pigou.paper.two_types.branch import Outcome, Point
from pigou.paper.two_types.cases import Case
from pigou.paper.two_types.comparison import Comparison
from pigou.paper.two_types.costs import social_cost
from pigou.paper.two_types.interim import Interim
from pigou.paper.two_types.pair import Pair, PerType
from pigou.paper.two_types.prices import Reading
from pigou.paper.two_types.rewards import BeforeReward, Matches, Rewards
from pigou.paper.two_types.stationary import (
    StationaryPoint,
    UnpricedEquilibrium,
    stationary_points,
    unpriced_equilibria,
)
from pigou.paper.two_types.system import Weights


@dataclass(frozen=True)
class TwoTypes(Pair):
    """The paper's mechanism for private types, alpha_low with probability eta, or alpha_high.

    Everything is computed on first use. ``status`` says whether there is an optimum on the branch
    that the paper means; where it is lost, numbers that depend on it raise ``NoBranch``.
    """

    # The optimum

    @cached_property
    def optimum(self) -> Point:
        """sigma** with two types, on the branch from known types (E6b)."""
        return cases.optimum(self)

    @property
    def status(self) -> Outcome:
        """Whether that branch exists here; the value is the message."""
        return self.optimum.outcome

    @property
    def sigma(self) -> PerType:
        """sigma**(alpha_L) and sigma**(alpha_H)."""
        return self.optimum.required()

    @property
    def sigma_low(self) -> float:
        return self.sigma.low

    @property
    def sigma_high(self) -> float:
        return self.sigma.high

    def stationary_points(self) -> tuple[StationaryPoint, ...]:
        """All points where E[SC] is stationary, as far as the window of the binomial sees them."""
        return stationary_points(self, self.optimum.sigma)

    def expected_social_cost(self, sigma: PerType, case: Case = Case.TRUTHFUL) -> float:
        """E[SC], money not counted, when all play ``sigma`` and report as in ``case``."""
        return social_cost(self, sigma, case.weights)

    @cached_property
    def social_cost(self) -> float:
        """With the mechanism: at sigma**, an equilibrium of truthful clients at beta."""
        return self.expected_social_cost(self.sigma)

    @cached_property
    def unpriced(self) -> Point:
        """Lemma 3 without prices: truthful clients whom nobody charges."""
        return cases.unpriced(self)

    def unpriced_equilibria(self) -> tuple[UnpricedEquilibrium, ...]:
        """All solutions of lemma 3 without prices, as far as the window sees them."""
        return unpriced_equilibria(self, self.unpriced.sigma)

    @cached_property
    def social_cost_unpriced(self) -> float:
        """Without the mechanism."""
        return self.expected_social_cost(self.unpriced.required())

    # Prices

    def beta(self, reading: Reading) -> PerType:
        """Proposition 5's penalty coefficients, as one reads them (E6, E7)."""
        return prices.beta(self, self.sigma, reading)

    @cached_property
    def beta_corrected(self) -> PerType:
        """Those that make sigma** an equilibrium of truthful clients."""
        return self.beta(Reading.CORRECTED)

    @property
    def beta_low(self) -> float:
        """beta^L; as printed it is correct (E6)."""
        return self.beta_corrected.low

    @property
    def beta_high(self) -> float:
        """beta^H, corrected (E7)."""
        return self.beta_corrected.high

    @property
    def beta_high_as_printed(self) -> float:
        """beta^H with the printed N - n (E7)."""
        return self.beta(Reading.AS_PRINTED).high

    # The three cases

    def equilibrium(self, case: Case) -> Point:
        """Lemmas 1 to 3 under the corrected prices."""
        if case is Case.TRUTHFUL:
            return self.truthful_equilibrium(self.beta_corrected)
        return cases.equilibrium(self, case, self.beta_corrected)

    def truthful_equilibrium(self, beta: PerType) -> Point:
        """Lemma 3 under any prices, on the branch of sigma**."""
        return cases.truthful_equilibrium(self, self.sigma, self.beta_corrected, beta)

    @cached_property
    def points(self) -> Mapping[Case, Point]:
        """The equilibrium of every case."""
        return MappingProxyType({case: self.equilibrium(case) for case in Case})

    def costs_before_reward(self, case: Case) -> PerType:
        """Expected cost with the penalty, of a client of each type, when all play the case."""
        sigma = self.points[case].required()
        return cases.expected_costs(self, case, sigma, self.beta_corrected)

    @cached_property
    def comparison(self) -> Comparison:
        """The cases compared as the paper does, net of the printed rewards."""
        found = [case for case in Case if self.points[case].sigma is not None]
        costs = {case: self.costs_before_reward(case) for case in found}
        paid = self.rewards.paid
        if paid is not None:
            got = {case: money.expected_reward(self, case, paid) for case in found}
            costs = {
                case: PerType(cost.low - got[case].low, cost.high - got[case].high)
                for case, cost in costs.items()
            }
        missing = tuple(case for case in Case if case not in found)
        return Comparison(costs, missing, self.rewards)

    # Rewards

    @cached_property
    def matches_low(self) -> Matches:
        """A low type's Q_1 (``swapped``) and Q_2 (``truthful``): the paper's."""
        return money.matches(self, low=True)

    @cached_property
    def matches_high(self) -> Matches:
        """A high type's own (E8)."""
        return money.matches(self, low=False)

    @property
    def q1(self) -> float:
        return self.matches_low.swapped

    @property
    def q2(self) -> float:
        return self.matches_low.truthful

    @property
    def q1_high(self) -> float:
        """E[p(N - n)]: the high type's own Q_1 (E8)."""
        return self.matches_high.swapped

    @property
    def q2_high(self) -> float:
        """E[p(n)]: the high type's own Q_2 (E8)."""
        return self.matches_high.truthful

    @cached_property
    def before_reward(self) -> BeforeReward:
        """A_1 to A_4, reconstructed."""
        swapped = self.costs_before_reward(Case.SWAPPED)
        truthful = self.costs_before_reward(Case.TRUTHFUL)
        return BeforeReward(swapped.low, swapped.high, truthful.low, truthful.high)

    @cached_property
    def rewards(self) -> Rewards:
        """r^L and r^H as printed; their status says where they do not exist (E8)."""
        return money.rewards(self.eta, self.before_reward, self.matches_low, self.matches_low)

    @cached_property
    def rewards_corrected(self) -> Rewards:
        """The same with the high type's own Q's (E8)."""
        return money.rewards(self.eta, self.before_reward, self.matches_low, self.matches_high)

    def constant_refund(self, *, rewards: bool = True) -> float:
        """q, which balances the budget on average when all are truthful."""
        paid = self.rewards.required() if rewards else PerType(0.0, 0.0)
        return money.constant_refund(self, self.sigma, self.beta_corrected, paid)

    # Deviations of one client

    @cached_property
    def interim_mle(self) -> Interim:
        """C[type][report] under the paper's weights and corrected prices (E9)."""
        return deviations.interim(self, Weights.TRUTHFUL, self.sigma, self.beta_corrected)

    @cached_property
    def interim_mean(self) -> Interim:
        """The same under mean weights, with their own optimum and prices."""
        sigma = cases.mean_optimum(self).required()
        return deviations.interim(self, Weights.MEAN, sigma, prices.mean_weights_beta(self, sigma))
