"""Every mechanism on one game: what it achieves among truthful clients, and what breaks it."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from pigou.certificate import GAIN_TOLERANCE
from pigou.comparison.judging import QUICK, Effort, judge
from pigou.comparison.play import Play, play
from pigou.errors import Degenerate, InvalidArgument
from pigou.game import Game
from pigou.scenario import MECHANISMS, Details, Kind
from pigou.solve import Solution, equilibrium, optimum


@dataclass(frozen=True)
class Row:
    """One mechanism that applies. Gains are shares of the gaining client's own cost."""

    mechanism: str
    ratio: float  # social cost over the least for the scenario's weights
    lying: float | None  # with the noise that goes with it; None: nothing reported, or no search
    disobeying: float | None  # in noise alone; None: no search
    reserve: float  # what it expects to receive, over social cost; on average where that is judged
    better_off: float  # share of clients who pay less in all than they cost without prices
    knows: str  # what the server must know about the clients
    asks: bool  # whether clients report anything
    searched: int  # clients whose lies were searched for
    on_average: bool  # gains are on average over the others' types
    types: int  # on the menu; 0 where there is none
    between: int  # clients whose types are not on it
    unsearched: str = ""  # why there was no search


@dataclass(frozen=True)
class NotHere:
    """One mechanism that does not apply, and why."""

    mechanism: str
    reason: str


@dataclass(frozen=True, eq=False)
class Comparison:
    """All mechanisms on one game."""

    game: Game
    optimum: float  # the least social cost for the scenario's weights
    rows: tuple[Row | NotHere, ...]

    @property
    def applicable(self) -> tuple[Row, ...]:
        """Those that apply."""
        return tuple(row for row in self.rows if isinstance(row, Row))

    @property
    def refused(self) -> tuple[NotHere, ...]:
        """Those that do not."""
        return tuple(row for row in self.rows if isinstance(row, NotHere))


def compare(
    game: Game,
    details: Details | None = None,
    *,
    names: Iterable[str] = tuple(MECHANISMS),
    effort: Effort = QUICK,
) -> Comparison:
    """The mechanisms side by side; what one of them refuses is told in its place."""
    best, selfish = optimum(game), equilibrium(game)
    if not 0 < best.social_cost < math.inf:
        raise Degenerate("game", "must have a positive, finite least social cost", best.social_cost)
    given = details or Details()
    rows = [_row(name, game, given, best, selfish, effort) for name in names]
    return Comparison(game, best.social_cost, tuple(rows))


def _row(
    name: str, game: Game, details: Details, best: Solution, selfish: Solution, effort: Effort
) -> Row | NotHere:
    kind = MECHANISMS[name]
    try:
        played = play(game, kind.build(lambda: game.setting, details))
        found = _gains(played, kind, effort)
    except InvalidArgument as error:
        return NotHere(name, told(error))
    reserve = played.reserve / played.terms.money
    if found.reserve is not None:
        reserve = found.reserve
    return Row(
        mechanism=name,
        ratio=played.social_cost / best.social_cost,
        lying=found.lying,
        disobeying=found.disobeying,
        reserve=reserve / best.social_cost,
        better_off=better_off(played, selfish),
        knows=kind.knows,
        asks=played.reports is not None,
        searched=found.searched,
        on_average=kind.drawn_from is not None,
        types=0 if kind.drawn_from is None else kind.drawn_from(played.mechanism).types.size,
        between=played.between,
        unsearched=found.unsearched,
    )


@dataclass(frozen=True)
class _Gains:
    lying: float | None = None
    disobeying: float | None = None
    reserve: float | None = None
    searched: int = 0
    unsearched: str = ""


def _gains(played: Play, kind: Kind, effort: Effort) -> _Gains:
    try:
        judged = judge(played, kind, effort, lies=True)
    except InvalidArgument as error:
        return _Gains(unsearched=told(error))
    certificate = judged.certificate
    lie, asked = certificate.report, played.reports is not None
    return _Gains(
        lying=None if lie is None else lie.relative,
        disobeying=certificate.noise.relative,
        reserve=certificate.budget.ex_ante,
        searched=len(judged.searched),
        unsearched="there are too many clients" if asked and lie is None else "",
    )


def better_off(played: Play, selfish: Solution) -> float:
    """Share of clients whose cost and bill are less, by more than rounding, than ``selfish``."""
    paid = played.costs + played.owed / played.terms.money
    return float(np.mean(paid < selfish.costs * (1.0 - GAIN_TOLERANCE)))


def told(error: InvalidArgument) -> str:
    """The reason, with the value received if there was one."""
    reason = f"{error.argument} {error.constraint}"
    return reason if error.received == "None" else f"{reason}; received {error.received}"
