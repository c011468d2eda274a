"""Lies that pay on average: each type, not knowing the others' (section 7).

The others' types are independent draws from a finite population; a type chooses a report and one
noise of its own before it knows them. The expectation is exact: over how many of the others are of
each type. That takes clients who differ in nothing but their type, and a rule that treats them
alike: client 0 stands for any of them, the others are sorted by type.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import combinations
from typing import Self

import numpy as np
from scipy.special import gammaln

from pigou.certificate.facing import Facing
from pigou.certificate.lies import REFUSED, WORTH, Rule, faced_under, saved, worst_of
from pigou.certificate.report_search import Lie, best_report, check_truth, is_pair
from pigou.certificate.results import Deviation
from pigou.certificate.search import best_noise
from pigou.certificate.stakes import Stakes
from pigou.checks import FloatArray
from pigou.errors import NotApplicable
from pigou.game import Setting
from pigou.population import Finite, Population
from pigou.terms import IntArray, Reports

MOST_STATES = 10**6  # each takes one call of the rule, for each report

ONE = np.ones(1)


@dataclass(frozen=True)
class OnAverage:
    """The worst that types can do, and what the reserve receives if none of them does."""

    noise: Deviation
    report: Deviation
    reserve: float  # expected, in units of cost


def worst_type(setting: Setting, rule: Rule, space: Reports, population: Population) -> OnAverage:
    """The type that gains most, in relation to its own expected cost: by noise, and by any lie."""
    interim = Interim.of(setting, rule, space, population)
    types = interim.population.types
    kinds = range(types.size)
    own = np.array([interim.own_cost(kind) for kind in kinds])
    noise = worst_of([interim.best_noise(kind) for kind in kinds], own, types[:, None])
    report = worst_of([interim.best_lie(kind) for kind in kinds], own, types[:, None])
    noise = replace(noise, alpha=interim.alpha(noise.client))
    report = replace(report, alpha=interim.alpha(report.client))
    return OnAverage(noise, report, interim.reserve())


@dataclass(frozen=True, eq=False)
class Interim:
    """One client of each type against others drawn from the population: one row per state."""

    setting: Setting
    space: Reports
    population: Finite
    chance: FloatArray
    faced: Callable[[float], Facing]  # what client 0 faces after a report, one row per state

    @classmethod
    def of(cls, setting: Setting, rule: Rule, space: Reports, population: Population) -> Self:
        """All states of the others, where the clients are alike and the states not too many."""
        if not isinstance(population, Finite):
            raise NotApplicable("population", "must be Finite: discretise it first", population)
        if is_pair(space):
            raise NotApplicable("report_space", "must hold types alone: a population does", space)
        for name in ("weights", "spread", "divergence"):
            values = getattr(setting, name)
            if not (values == values[0]).all():
                raise NotApplicable(name, "must be equal for a check over a population", values)
        check_truth(space, population.types[:, None])
        counts, chance = states(setting.n - 1, population.probabilities)

        @cache
        def faced(report: float) -> Facing:
            mine, first = np.array([report]), slice(0, 1)
            profiles = (np.append(mine, np.repeat(population.types, row)) for row in counts)
            return Facing.stacked(
                [faced_under(setting, rule, each[:, None]).rows(first) for each in profiles]
            )

        return cls(setting, space, population, chance, faced)

    def alpha(self, kind: int) -> float:
        """The type itself."""
        return float(self.population.types[kind])

    def own_cost(self, kind: int) -> float:
        """Expected cost before money when truthful and obedient."""
        faced = self._truth(kind)
        free = replace(self._stakes(kind, faced), price=np.zeros(self.chance.size))
        return float(self.chance @ free.value(faced.sigma))

    def best_noise(self, kind: int) -> Lie:
        """The truth, with the best noise."""
        report = np.array([self.alpha(kind)])
        gain, sigma = self.gains(kind, report[None])
        return Lie(report, float(sigma[0]), float(gain[0]))

    def best_lie(self, kind: int) -> Lie:
        """The best report with its best noise."""
        attempt = partial(self.gains, kind)
        worth = WORTH * self.own_cost(kind)
        return best_report(self.space, np.array([self.alpha(kind)]), ONE, attempt, worth)

    def gains(self, kind: int, reports: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What each report gains with its best noise, and that noise; never, where refused."""
        truth = self._truth(kind)
        honest = self.chance @ (self._stakes(kind, truth).value(truth.sigma) + truth.fixed)
        gain, sigma = np.full(len(reports), -np.inf), np.full(len(reports), np.nan)
        for row, report in enumerate(reports[:, 0].tolist()):
            try:
                faced = self.faced(report)
            except REFUSED:
                continue
            stakes = self._stakes(kind, faced).pooled(self.chance)
            noise = best_noise(stakes, faced.sigma[:1])
            cost = stakes.value(noise)[0] + self.chance @ faced.fixed
            gain[row], sigma[row] = saved(honest, cost), noise[0]
        return gain, sigma

    def reserve(self) -> float:
        """What the reserve receives on average when all are truthful and obedient."""
        owed = [
            float(self.chance @ self._truth(k).money) for k in range(len(self.population.types))
        ]
        return self.setting.n * float(self.population.probabilities @ np.array(owed))

    def _truth(self, kind: int) -> Facing:
        return self.faced(self.alpha(kind))

    def _stakes(self, kind: int, faced: Facing) -> Stakes:
        alpha = np.full(faced.sigma.size, self.alpha(kind))
        return Stakes.of(self.setting.loss, alpha, self.setting.privacy_scale, faced)


def states(others: int, probabilities: FloatArray) -> tuple[IntArray, FloatArray]:
    """How many of the others are of each type, in every way, and the multinomial chances."""
    bars = probabilities.size - 1
    number = math.comb(others + bars, bars)
    if number > MOST_STATES:
        limit = (
            f"must leave at most {MOST_STATES} counts of {others} other clients' types: "
            "discretise it to fewer types"
        )
        raise NotApplicable("population", limit, number)
    places = np.array(list(combinations(range(others + bars), bars)), dtype=np.int64)
    ends = np.full((number, 1), -1), np.full((number, 1), others + bars)
    counts = np.diff(np.hstack([ends[0], places.reshape(number, bars), ends[1]]), axis=1) - 1
    logs = gammaln(others + 1) - gammaln(counts + 1).sum(axis=1) + counts @ np.log(probabilities)
    chance = np.exp(logs)
    possible = chance > 0  # the others underflow: less than 1e-300
    return counts[possible], chance[possible] / chance.sum()
