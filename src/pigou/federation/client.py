"""The clients' side of a run: conduct, noise and privacy account, for a group of like clients.

A real client is a group of one. The server never sees any of this but what is uploaded.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from pigou.checks import BoolArray, FloatArray
from pigou.errors import require
from pigou.federation.conduct import Conduct, Outcome, Play, View
from pigou.federation.protocol import Announcement, Report
from pigou.privacy import clip_rows
from pigou.terms import MICRO, Settlement

Rows = NDArray[np.float32]
Indices = NDArray[np.intp]
Draw = Callable[[Rows, Indices], None]  # fills each row with the noise of the client named

BLOCK: Final = 256  # clients whose uploads are made at a time


@dataclass(frozen=True, kw_only=True, eq=False)
class Cohort:
    """Clients of one conduct, with their types and what their uploads have cost in privacy.

    ``precision`` is sum over releases of 1 / sigma^2, all that GDP composition needs (section 8).
    A client makes no release that would take that sum beyond ``cap``: it stays away instead.
    """

    members: Indices
    alpha: FloatArray
    conduct: Conduct
    precision: FloatArray
    cap: FloatArray
    seed: int = 0

    @classmethod
    def of(
        cls,
        members: Indices,
        alpha: FloatArray,
        conduct: Conduct,
        *,
        cap: float = np.inf,
        seed: int = 0,
    ) -> Self:
        """A group that has released nothing yet."""
        size = members.size
        require(alpha.shape == (size,), "alpha", f"must hold {size} types", alpha.shape)
        limits = np.full(size, cap)
        return cls(
            members=members,
            alpha=alpha,
            conduct=conduct,
            precision=np.zeros(size),
            cap=limits,
            seed=seed,
        )

    def view(self, announcement: Announcement) -> View:
        """What the group knows now."""
        return View(announcement, self.members, self.alpha, self.seed)

    def reports(self, announcement: Announcement) -> list[Report]:
        """The group's reports, where the mechanism asks for any."""
        values = self.conduct.report(self.view(announcement))
        names = [announcement.clients[i] for i in self.members]
        pairs = zip(names, values, strict=False)  # no values where nothing is asked
        return [Report(announcement.run, name, value) for name, value in pairs]

    def decide(self, announcement: Announcement) -> Play:
        """The conduct's play, with those absent whose privacy budget is used up."""
        play = self.conduct.play(self.view(announcement))
        return replace(play, absent=play.absent | self.exhausted(play))

    def exhausted(self, play: Play) -> BoolArray:
        """Whose next release would go beyond the cap; a copy releases nothing of one's own."""
        beyond: BoolArray = self.precision + self._release(play) > self.cap
        return beyond

    def after(self, announcement: Announcement, play: Play, settled: Settlement | None) -> Self:
        """The group after the round: account brought up to date, lessons learnt."""
        released = np.where(play.absent, 0.0, self._release(play))
        lesson = Outcome(self._net(announcement, settled))
        conduct = self.conduct.learn(self.view(announcement), play, lesson)
        return replace(self, precision=self.precision + released, conduct=conduct)

    def _release(self, play: Play) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.where(play.copies, 0.0, 1.0 / np.square(play.sigma))

    def _net(self, announcement: Announcement, settled: Settlement | None) -> FloatArray:
        if settled is None or announcement.terms is None:
            return np.full(self.members.size, np.nan)
        units = settled.net[self.members] / (MICRO * announcement.terms.money)
        return np.where(settled.billed[self.members], units, np.nan)


@dataclass(frozen=True, eq=False)
class Plays:
    """All clients' plays of one round, in the order of the run's clients."""

    sigma: FloatArray
    copies: BoolArray
    absent: BoolArray
    noise_of: Indices

    @classmethod
    def gather(cls, n: int, cohorts: tuple[Cohort, ...], plays: list[Play]) -> Self:
        """Plays of groups, put in their members' places."""
        sigma, noise_of = np.full(n, np.nan), np.zeros(n, np.intp)
        copies, absent = np.zeros(n, np.bool_), np.ones(n, np.bool_)
        for cohort, play in zip(cohorts, plays, strict=True):
            sigma[cohort.members] = play.sigma
            copies[cohort.members] = play.copies
            absent[cohort.members] = play.absent
            noise_of[cohort.members] = play.noise_of
        return cls(sigma, copies, absent, noise_of)


def uploads(model: Rows, trained: Rows, plays: Plays, draw: Draw, clip: float) -> Rows:
    """w + clip(w_i - w) + sigma_i n_i for all clients; a copy leaves the middle out."""
    rows = np.empty_like(trained)
    noise = np.empty((min(BLOCK, len(rows)), model.size), np.float32)
    sigma = np.where(plays.absent, 0.0, plays.sigma)
    for first in range(0, len(rows), BLOCK):
        block = slice(first, first + BLOCK)
        part = clip_rows(trained[block] - model, clip)
        part[plays.copies[block]] = 0.0
        part += model
        loud = np.flatnonzero(sigma[block])
        drawn = noise[: loud.size]
        draw(drawn, plays.noise_of[block][loud])
        with np.errstate(over="ignore"):  # an infinite upload is refused
            drawn *= sigma[block][loud].astype(np.float32)[:, np.newaxis]
        part[loud] += drawn
        rows[block] = part
    return rows
