"""What the repaired mechanisms add: efficiency, incentives and money, in the figures' settings."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from pigou.certificate import GAIN_TOLERANCE
from pigou.comparison import NotHere, Row, compare
from pigou.game import Game
from pigou.paper.errata.cases import HIGH, LOW
from pigou.paper.errata.record import Cell, Table
from pigou.population import Finite, Population, TruncatedNormal, two_point
from pigou.report.words import number, percent
from pigou.reproduce import fig1, formulas, weights
from pigou.reproduce.part import Chapter, Heading, Part, Progress, Request, Sheet
from pigou.scenario import MECHANISMS, Details

NAME: Final = "added"
SHARES: Final = (0.3, 0.5, 0.7)  # eta, of Fig. 2
WIDTHS: Final = (0.1, 0.24)  # of the normal, of Fig. 1
FEW: Final = 20  # clients, among whom one client's type matters more
PRINTED: Final = "paper, as printed"
TWO_TYPES: Final = "paper-two-types"
NO_GAIN: Final = "none"
BEYOND: Final = 10.0  # times: gains above are not told apart, money is not in percent
COLUMNS: Final = (
    "types",
    "mechanism",
    "social cost over optimum",
    "gain from lying",
    "gain from disobeying",
    "reserve receives",
    "better off",
    "the server must know",
)
OURS: Final = ("posted", "groves", "menu")

Rows = tuple[Row | NotHere, ...]


@dataclass(frozen=True, eq=False)
class Case:
    """One game, and what its types are drawn from."""

    name: str
    game: Game
    population: Population


def cases(request: Request) -> Iterator[Case]:
    """The settings of both figures, and one with few clients."""
    setting = formulas.setting()
    rng = request.generator(NAME)
    for width in WIDTHS:
        drawn = next(fig1.games(setting, width, 1, rng))
        population = TruncatedNormal(fig1.MEAN, width)
        yield Case(f"Fig. 1, sd {width:g}", drawn, population)
    for n, eta in (*((setting.n, eta) for eta in SHARES), (FEW, SHARES[0])):
        low = round(n * eta)
        types = np.repeat([LOW, HIGH], [low, n - low])
        name = f"Fig. 2, η = {eta:g}" + (f", N = {n}" if n != setting.n else "")
        yield Case(name, Game(formulas.setting(n), types), two_point(LOW, HIGH, eta))


def judged(case: Case) -> Rows:
    """Every mechanism, and the paper's as printed."""
    details = Details(population=case.population)
    found = list(compare(case.game, details).rows)
    printed = replace(details, verbatim=True)
    (row,) = compare(case.game, printed, names=("paper",)).rows
    found.insert(list(MECHANISMS).index("paper") + 1, replace(row, mechanism=PRINTED))
    if not isinstance(case.population, Finite):
        found = [row for row in found if row.mechanism != TWO_TYPES]
    return tuple(found)


def make(request: Request) -> Chapter:
    """The chapter."""
    games = list(cases(request))
    found = []
    for k, case in enumerate(games):
        found.append(judged(case))
        request.watch(Progress(NAME, k + 1, len(games) + 1, case.name))
    sheet = weights.sheet(request)
    request.watch(Progress(NAME, len(games) + 1, len(games) + 1, "weights"))
    pairs = list(zip(games, found, strict=True))
    rows = tuple(_cells(case, row) for case, group in pairs for row in group)
    caption = f"All mechanisms on one game each, N = {formulas.N} unless said otherwise"
    return Chapter(
        name=NAME,
        title="What the repaired mechanisms add",
        content=(
            _words(found),
            Sheet("mechanisms", Table(caption, COLUMNS, rows), words=(0, 1, 7)),
            _said(found),
            Heading("Who should upload at all"),
            weights.WORDS,
            sheet,
        ),
        summary=_said(found),
    )


def _words(found: list[Rows]) -> str:
    searched = {row.searched for rows in found for row in rows if isinstance(row, Row)} - {0}
    return (
        "“paper” is its mechanism for known types with β and q corrected, or as printed; "
        f"“{TWO_TYPES}” the one for two private types, with β^H corrected. “pigouvian” is the "
        "price that the others are built on, for known types. Social cost is before money, among "
        "truthful clients, over the least that mean weights allow. Gains are the most that one "
        "client gains alone, as a share of its own cost, found by a search that shares no code "
        "with the mechanisms; a lie comes with the noise that goes best with it, and is searched "
        f"for {min(searched)} clients of all types, or for everybody where there are few. Where a "
        "mechanism is made for a distribution of types, gains and the reserve are averages over "
        "the others' types. “Better off” is the share of clients whose cost and bill together are "
        "below their cost without prices. The reserve is over the least social cost. Mechanisms "
        "for known types take reports for the truth: what lying would gain there shows why types "
        "that are not known need another one."
    )


def _cells(case: Case, row: Row | NotHere) -> tuple[Cell, ...]:
    if isinstance(row, NotHere):
        return (case.name, row.mechanism, "—", "—", "—", "—", "—", f"not applicable: {row.reason}")
    lying = gain(row.lying) if row.asks else "no reports"
    reserve = _signed(row.reserve)
    better = percent(row.better_off)
    return (
        case.name,
        row.mechanism,
        row.ratio,
        lying,
        gain(row.disobeying),
        reserve,
        better,
        row.knows,
    )


def gain(share: float | None) -> str:
    """Of one's own cost."""
    if share is None:
        return "not searched"
    if share <= GAIN_TOLERANCE:
        return NO_GAIN
    return f"over {BEYOND:g} times" if share > BEYOND else f"{number(100.0 * share)} %"


def _signed(share: float) -> str:
    if abs(share) <= GAIN_TOLERANCE:
        return "0"
    sign = "+" if share > 0 else ""
    size = f"{share:,.0f} times" if abs(share) >= 1.0 else f"{number(100.0 * share)} %"
    return f"{sign}{size}"


def _said(found: list[Rows]) -> str:
    rows = [row for group in found for row in group if isinstance(row, Row)]
    ours = [row for row in rows if row.mechanism in OURS]
    gains = [g for row in ours for g in (row.lying, row.disobeying) if g is not None]
    theirs = [row.lying for row in rows if row.mechanism == TWO_TYPES and row.lying]
    most = gain(max(gains)).replace(NO_GAIN, "nothing")
    return (
        "The posted price, Groves and the menu reach at most "
        f"{number(max(row.ratio for row in ours))} times the optimum for mean weights in all "
        f"{len(found)} settings, the paper's mechanism for two private types "
        f"{_span([row.ratio for row in rows if row.mechanism == TWO_TYPES])} times. The "
        f"most that lying or disobeying gains under ours is {most}, under the "
        f"paper's for two types {gain(max(theirs, default=None))}. Money left in the "
        f"reserve by ours: at most {number(100.0 * max(abs(row.reserve) for row in ours))} % of "
        "social cost."
    )


def _span(values: list[float]) -> str:
    return f"{number(min(values))} to {number(max(values))}"


ADDED: Final = Part(NAME, make)
