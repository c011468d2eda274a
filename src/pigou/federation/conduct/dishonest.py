"""Conducts that break rules: lies, forgotten noise, copies of the model, shared noise, absence."""

from dataclasses import dataclass, replace

import numpy as np

from pigou.checks import number
from pigou.federation.conduct.base import (
    Play,
    Truthful,
    View,
    expected_error,
    harm_rate,
    said,
    scaled,
    share,
    stationary,
    targets,
)
from pigou.federation.protocol import ReportValue


@dataclass(frozen=True, eq=False)
class Lying(Truthful):
    """Reports another type, and plays its target, or a multiple of it."""

    claim: float = 1.0  # the type that it reports
    noise_factor: float = 1.0  # on the target made for that report
    name = "lying"

    def __post_init__(self) -> None:
        super().__post_init__()
        share("claim", self.claim)
        number("noise_factor", self.noise_factor)

    def report(self, view: View) -> list[ReportValue]:
        """The claim."""
        return said(view, np.full(view.members.size, self.claim))

    def play(self, view: View) -> Play:
        """The target for the claim, times the factor."""
        return Play.honest(view, scaled(self.noise_factor, targets(view, self.belief)))


@dataclass(frozen=True, eq=False)
class Silent(Truthful):
    """Trains and uploads without any noise: careless, or a mod that does not work."""

    name = "silent"

    def play(self, view: View) -> Play:
        """No noise."""
        return Play.honest(view, np.zeros(view.members.size))


@dataclass(frozen=True, eq=False)
class Copycat(Truthful):
    """Uploads the global model back, with ``noise_factor`` times the target noise: by default 0."""

    noise_factor: float = 0.0
    name = "copycat"

    def __post_init__(self) -> None:
        super().__post_init__()
        number("noise_factor", self.noise_factor)

    def play(self, view: View) -> Play:
        """A copy of the model."""
        sigma = scaled(self.noise_factor, targets(view, self.belief))
        everyone = np.ones(sigma.size, np.bool_)
        return replace(Play.honest(view, sigma), copies=everyone)


@dataclass(frozen=True, eq=False)
class Ring(Truthful):
    """A ring of k colluders that add one shared noise, so that they look alike to the comparison.

    Their net slope falls as (N - k)(N - 2k) (section 9). They add what is best for the ring at
    that slope, and hold back for its own accuracy alone where the slope is 0 or below.
    """

    noise_factor: float = 1.0  # on what is best for the ring
    name = "ring"

    def __post_init__(self) -> None:
        super().__post_init__()
        number("noise_factor", self.noise_factor)

    def play(self, view: View) -> Play:
        """The noise of the first member, for all, at one level."""
        k = view.members.size
        price = float(view.terms.unit_price[view.members].mean())
        harm = float(harm_rate(view, expected_error(view, self.belief)).mean())
        held = k**2 * harm + 2.0 * price * self.slope(view)  # its noise is k times as loud in Delta
        gain = float(view.alpha.mean()) * view.setting.privacy_scale
        best = scaled(self.noise_factor, stationary(np.array([gain]), np.array([held])))
        shared = np.full(k, view.members[0])
        return replace(Play.honest(view, np.repeat(best, k)), noise_of=shared)

    @staticmethod
    def slope(view: View) -> float:
        """The members' net slope over that of one client alone, or 0 where it is negative."""
        n, k = int(np.count_nonzero(view.terms.active)), view.members.size
        return max(0.0, (n - k) * (n - 2 * k) / ((n - 1) * (n - 2)))


@dataclass(frozen=True, eq=False)
class Dropout(Truthful):
    """Obedient, but absent from a round with probability ``rate``."""

    rate: float = 0.1
    name = "dropout"

    def __post_init__(self) -> None:
        super().__post_init__()
        share("rate", self.rate)

    def play(self, view: View) -> Play:
        """The target, if there at all."""
        away = view.chances("dropout") < self.rate
        return replace(Play.honest(view, targets(view, self.belief)), absent=away)
