"""What a certificate says, as frozen values and as sentences."""

from dataclasses import dataclass
from typing import Literal

from pigou.checks import FloatArray

GAIN_TOLERANCE = 1e-9  # of the client's own cost: what a solver's rounding may leave

Report = float | tuple[float, float]
Promise = Literal["zero every round", "zero in expectation", "nothing is charged"]


@dataclass(frozen=True)
class Deviation:
    """The best that one client, or one type, can do while the others are truthful and obedient."""

    client: int  # index of the client; of the type, where ``alpha`` is given
    sigma: float  # the noise it would play
    gain: float  # in units of cost
    relative: float  # as a share of its own cost, before money, when truthful and obedient
    report: Report | None = None  # the lie it would tell; None: none
    alpha: float | None = None  # the type that gains, on average over the others' types

    @property
    def who(self) -> str:
        """The client by its index, counted from 0, or the type."""
        if self.alpha is None:
            return f"client {self.client}"
        return f"a client of type {self.alpha:.6g}"

    def __str__(self) -> str:
        report = "" if self.report is None else f"reports {_shown(self.report)} and "
        share = f"{100.0 * self.relative:.3g} % of its cost"
        return f"{self.who} {report}plays noise {self.sigma:.6g} and gains {self.gain:.6g}, {share}"


@dataclass(frozen=True)
class Budget:
    """Expected money, summed over clients and the whole run, in units of cost."""

    promise: Promise
    charges: float
    refunds: float
    transfers: float  # report transfers, which go to the reserve
    holds: bool  # charges and refunds balance; with a constant refund, or all money on average
    ex_ante: float | None = None  # the residual on average over a population, where one was given

    @property
    def residual(self) -> float:
        """What the reserve receives: charges and transfers minus refunds."""
        return self.charges - self.refunds + self.transfers


@dataclass(frozen=True, eq=False)
class Certificate:
    """An outcome checked from outside, by code that shares nothing with its solver (section 7)."""

    noise: Deviation  # the worst in noise alone; on average, where a population was given
    report: Deviation | None  # the worst in report and noise together, where a rule was given
    curvature: FloatArray  # of each client's own cost at its noise, times noise squared
    second_order: bool
    social_cost: float
    optimum: float  # for these weights
    best_weights: float  # the best found over all weights: an upper bound on the optimum
    best_active: int  # how many clients upload there
    budget: Budget
    better_off: float  # share of clients better off than with the same weights and no prices

    @property
    def worst(self) -> Deviation:
        """The more profitable of the two, in relation to own cost."""
        if self.report is None or self.report.relative < self.noise.relative:
            return self.noise
        return self.report

    @property
    def max_gain(self) -> float:
        """The largest gain, as a share of the client's own cost."""
        return self.worst.relative

    @property
    def ratio_to_optimum(self) -> float:
        """Social cost over the least for these weights."""
        return _ratio(self.social_cost, self.optimum)

    @property
    def ratio_to_best_weights(self) -> float:
        """Social cost over the least found for any weights (an upper bound on the optimum)."""
        return _ratio(self.social_cost, self.best_weights)

    @property
    def ok(self) -> bool:
        """Nobody gains by deviating, and the budget's promise holds. Efficiency is not judged."""
        return self.max_gain <= GAIN_TOLERANCE and self.second_order and self.budget.holds

    def explain(self) -> str:
        """The verdict in sentences."""
        return "\n".join([*self._incentives(), *self._money(), *self._efficiency()])

    def _incentives(self) -> list[str]:
        found = [self.noise] if self.report is None else [self.noise, self.report]
        paying = [str(each) for each in found if each.relative > GAIN_TOLERANCE]
        lines = [f"FAILS: {deviation}." for deviation in dict.fromkeys(paying)]
        if not lines:
            how = "in noise" if self.report is None else "in report and noise"
            gain = f"{100.0 * self.max_gain:.1e} % of its own cost"
            share = gain if self.max_gain > 0.0 else "none"
            lines = [f"Nobody gains by deviating {how} (largest gain found: {share})."]
        if not self.second_order:
            at, least = int(self.curvature.argmin()), float(self.curvature.min())
            what = f"is no minimum of its cost (curvature {least:.3g})"
            lines.append(f"FAILS: the noise of client {at} {what}.")
        return lines

    def _money(self) -> list[str]:
        verdict = "holds" if self.budget.holds else "FAILS"
        residual = f"The reserve receives {self.budget.residual:.6g}"
        if self.budget.ex_ante is not None:
            residual += f"; {self.budget.ex_ante:.6g} on average over the population"
        return [f"Budget: promised {self.budget.promise}: {verdict}. {residual}."]

    def _efficiency(self) -> list[str]:
        ratio = f"{self.ratio_to_optimum:.6g}"
        return [
            f"Social cost {self.social_cost:.6g}: {'' if ratio == '1' else f'{ratio} times '}"
            "the optimum for these weights,",
            f"{self.ratio_to_best_weights:.6g} times the best found over all weights "
            f"({self.best_active} uploading; an upper bound on the optimum).",
            f"Better off than without prices: {100 * self.better_off:.3g} % of the clients.",
        ]


def _ratio(value: float, least: float) -> float:
    """value / least, with 1 for 0 / 0 and for infinity / infinity."""
    if value == least:
        return 1.0
    return value / least if least > 0 else float("inf")


def _shown(report: Report) -> str:
    parts = report if isinstance(report, tuple) else (report,)
    return ", ".join(f"{part:.6g}" for part in parts)
