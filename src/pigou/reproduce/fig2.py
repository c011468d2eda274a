"""Fig. 2 from the formulas: expected social cost against the share of insensitive clients.

Types are 0.25 with probability eta and 0.75 otherwise, N = 100, as in the paper. Its mechanism and
its unpriced benchmark are its own two-type model's; those of mean weights are exact sums over how
many clients of either type there are. Expectations are over the types, money not counted.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from pigou.checks import FloatArray
from pigou.comparison import play
from pigou.game import AccuracyLoss, Game
from pigou.mechanisms import Groves, Mechanism, Menu, PostedPrice, Unpriced
from pigou.paper.errata.cases import HIGH, LOW, PRIVACY_SCALE
from pigou.paper.two_types import Outcome, Reading, RewardStatus, TwoTypes
from pigou.paper.two_types.counts import Counts
from pigou.population import two_point
from pigou.reproduce import formulas
from pigou.reproduce.chart import Chart, Note, Series
from pigou.reproduce.treatments import (
    CORRECTED,
    GROVES,
    MEAN_UNPRICED,
    MENU,
    POSTED,
    PRINTED,
    UNPRICED,
)

ETAS: Final = tuple(round(0.02 * k, 2) for k in range(1, 50))
QUICK_ETAS: Final = tuple(round(0.05 * k, 2) for k in range(1, 20))
GONE: Final = "the equilibrium without prices has no branch continuous with known types (E6b)"
LOST: Final = "the paper's optimum has no branch continuous with known types (E6b)"
SINGULAR: Final = "the paper's rewards divide by 0: its mechanism does not exist here (E8)"
ASSUMED: Final = 0.5  # mean type that the posted price assumes, whatever eta is


@dataclass(frozen=True)
class Model:
    """The two-type game at any eta."""

    loss: AccuracyLoss = formulas.LOSS
    privacy_scale: float = PRIVACY_SCALE
    n: int = formulas.N

    def at(self, eta: float) -> TwoTypes:
        """The paper's."""
        return TwoTypes(self.n, eta, LOW, HIGH, self.loss, self.privacy_scale)


Done = Callable[[int], None]


@dataclass(frozen=True)
class Point:
    """The paper's curves at one eta; NaN where there is nothing, with the reasons."""

    unpriced: float
    corrected: float
    printed: float
    reasons: tuple[str, ...]


def point(model: TwoTypes) -> Point:
    """A branch that is gone, or rewards that do not exist, are gaps: no other branch instead."""
    reasons = []
    unpriced = corrected = printed = np.nan
    if model.unpriced.outcome is Outcome.FOUND:
        unpriced = model.social_cost_unpriced
    else:
        reasons.append(GONE)
    if model.status is not Outcome.FOUND:
        reasons.append(LOST)
    elif model.rewards.status is RewardStatus.SINGULAR:
        reasons.append(SINGULAR)
    else:
        corrected = model.social_cost
        reached = model.truthful_equilibrium(model.beta(Reading.AS_PRINTED))
        if reached.sigma is not None:
            printed = model.expected_social_cost(reached.sigma)
    return Point(unpriced, corrected, printed, tuple(reasons))


def papers(model: Model, etas: Sequence[float]) -> tuple[tuple[Series, ...], tuple[Note, ...]]:
    """The paper's own curves, and why they have gaps."""
    points = [point(model.at(eta)) for eta in etas]
    x = np.array(etas)
    series = (
        Series(UNPRICED, x, np.array([p.unpriced for p in points])),
        Series(PRINTED, x, np.array([p.printed for p in points])),
        Series(CORRECTED, x, np.array([p.corrected for p in points])),
    )
    notes = _notes(etas, [p.reasons for p in points])
    return series, tuple(sorted(notes, key=lambda note: note.low))


def _notes(etas: Sequence[float], reasons: Sequence[tuple[str, ...]]) -> Iterator[Note]:
    """One note per reason and run of neighbouring points."""
    for reason in (GONE, LOST, SINGULAR):
        start: float | None = None
        for k, eta in enumerate(etas):
            if reason not in reasons[k]:
                continue
            start = eta if start is None else start
            if k + 1 == len(etas) or reason not in reasons[k + 1]:
                yield Note(start, eta, reason)
                start = None


def repaired(
    model: Model, etas: Sequence[float], done: Done = lambda _: None
) -> tuple[Series, ...]:
    """Mean weights: one game per number of low types serves every eta."""
    setting = formulas.setting(model.n, model.loss, model.privacy_scale)
    games = [Game(setting, np.repeat([LOW, HIGH], [k, model.n - k])) for k in range(model.n + 1)]
    mechanisms: dict[str, Mechanism] = {
        MEAN_UNPRICED: Unpriced(),
        GROVES: Groves(),
        POSTED: PostedPrice(mean_alpha=ASSUMED),
    }
    found = {}
    for k, (name, mechanism) in enumerate(mechanisms.items()):
        cost = np.array([play(game, mechanism).social_cost for game in games])
        found[name] = np.array([_expected(model.n, eta, cost) for eta in etas])
        done(k + 1)
    found[MENU] = np.array([_menu(games, eta) for eta in etas])
    done(len(mechanisms) + 1)
    x = np.array(etas)
    return tuple(Series(name, x, cost) for name, cost in found.items())


def _expected(n: int, eta: float, by_count: FloatArray) -> float:
    counts = Counts.of(n, eta)
    return float(counts.mean(by_count[counts.number.astype(int)]))


def _menu(games: Sequence[Game], eta: float) -> float:
    setting = games[0].setting
    low, high = Menu(two_point(LOW, HIGH, eta)).schedule(setting).sigma
    costs = [game.social_cost(np.where(game.alpha == LOW, low, high)) for game in games]
    return _expected(setting.n, eta, np.array(costs))


def charts(series: tuple[Series, ...], notes: tuple[Note, ...], n: int) -> tuple[Chart, Chart]:
    """All treatments, and those with prices alone, which lie close together."""
    everything = Chart(
        name="fig2",
        title="Fig. 2: prices flatten what diversity costs",
        caption=f"Expected social cost of {n} clients, money not counted, from the formulas: types "
        f"{LOW} with probability eta and {HIGH} otherwise. All clients are truthful, which under "
        "the paper's mechanism is not what is best for them (E9).",
        x_title=f"eta: probability of the lower privacy sensitivity, {LOW}",
        y_title="expected social cost",
        series=series,
        notes=notes,
    )
    priced = replace(
        everything,
        name="fig2_priced",
        title="Fig. 2, with prices only",
        caption="The same curves, without those of the clients whom nobody charges.",
        series=tuple(each for each in series if each.name not in (UNPRICED, MEAN_UNPRICED)),
        notes=tuple(note for note in notes if note.text != GONE),
    )
    return everything, priced
