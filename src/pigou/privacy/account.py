"""What a client's uploads reveal, added up over rounds (section 8).

The facts are the releases: the clipping norm, the adjacency and the noise of each upload. The
figures are read from them. One release is exactly mu-GDP with mu = S / sigma; independent releases
compose exactly. Where a client chooses its noise in view of earlier rounds, the figures hold as
budgets: a run that never exceeds epsilon is covered by epsilon (fully adaptive GDP composition).
"""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, Self

import numpy as np

from pigou.checks import count, number
from pigou.errors import InvalidArgument, require
from pigou.privacy.gaussian import gaussian_delta, gaussian_epsilon

if TYPE_CHECKING:
    import dp_accounting

Adjacency = Literal["zero-out", "replace"]
SENSITIVITY: Final[dict[str, float]] = {"zero-out": 1.0, "replace": 2.0}  # S / C
ROUND_UP: Final = 1.0 + 8.0 * float(np.finfo(np.float64).eps)  # over the rounding of hypot and S/σ


@dataclass(frozen=True)
class PaperBound:
    """The paper's privacy loss c S / sigma of the least noisy release, and whether it applies.

    Its proof needs epsilon < 1, and it speaks of one release, not of the run.
    """

    epsilon: float
    condition_held: bool


@dataclass(frozen=True)
class PrivacyAccount:
    """One client's releases so far, and what they reveal together.

    ``adjacency`` says what is hidden: "zero-out", whether the client's update was there at all
    (S = C); "replace", which of two updates it was (S = 2C). Both are about the whole update of
    one client; clipping an update alone says nothing finer about single records.
    """

    clip: float  # C
    adjacency: Adjacency = "zero-out"
    releases: tuple[float, ...] = ()  # sigma of each upload

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "clip", number("clip", self.clip, above_zero=True))
        known = self.adjacency in SENSITIVITY
        require(known, "adjacency", 'must be "zero-out" or "replace"', self.adjacency)
        put(self, "releases", tuple(_noise(sigma) for sigma in self.releases))

    @property
    def sensitivity(self) -> float:
        """S: how far the upload can move between neighbouring inputs."""
        return SENSITIVITY[self.adjacency] * self.clip

    @property
    def mu(self) -> float:
        """mu = S sqrt(sum sigma_t^-2) of all releases, rounded up; infinite without noise."""
        return math.hypot(*(self._loss(sigma) for sigma in self.releases)) * ROUND_UP

    def after(self, sigma: float, times: int = 1) -> Self:
        """The account after ``times`` further releases with noise sigma."""
        more = (_noise(sigma),) * count("times", times, least=0)
        return replace(self, releases=self.releases + more)

    def epsilon(self, delta: float) -> float:
        """The exact epsilon at this delta, never below the truth."""
        return gaussian_epsilon(self.mu, delta)

    def delta(self, epsilon: float) -> float:
        """The exact delta at this epsilon, never below the truth."""
        return gaussian_delta(self.mu, epsilon)

    def would_exceed(self, sigma: float, cap: float, delta: float) -> bool:
        """Whether one more release with noise sigma would take epsilon(delta) above the cap."""
        return self.after(sigma).epsilon(delta) > number("cap", cap)

    def paper_bound(self, delta: float) -> PaperBound:
        """c S / sigma with c = sqrt(2 ln(1.25 / delta)) (section 1; erratum E10)."""
        inside = number("delta", delta, above_zero=True) < 1
        require(inside, "delta", "must be below 1", delta)
        factor = math.sqrt(2.0 * math.log(1.25 / delta))
        epsilon = max((factor * self._loss(sigma) for sigma in self.releases), default=0.0)
        return PaperBound(epsilon, epsilon < 1)

    def event(self) -> "dp_accounting.DpEvent":
        """The releases as dp-accounting describes them, for any of its accountants.

        The noise multiplier is sigma / S, with the S of this account's adjacency.
        """
        import dp_accounting  # a second to import, and needed here only

        revealing = [sigma for sigma in self.releases if sigma < math.inf]
        return dp_accounting.ComposedDpEvent(
            [dp_accounting.GaussianDpEvent(sigma / self.sensitivity) for sigma in revealing]
        )

    def _loss(self, sigma: float) -> float:
        return self.sensitivity / sigma if sigma > 0 else math.inf


def _noise(sigma: object) -> float:
    """A standard deviation; infinity is noise that reveals nothing."""
    if isinstance(sigma, float | np.floating) and sigma == math.inf:
        return math.inf
    try:
        return number("sigma", sigma)
    except InvalidArgument as error:
        raise InvalidArgument("sigma", "must be a number >= 0 or infinity", sigma) from error
