"""What the conclusions hang on, of the quantities that the paper does not state.

In units of sqrt(a / kappa) for noise and sqrt(a kappa) for cost, the paper's model has one
parameter left: with sigma = sqrt(a / kappa) s,

    SC = sqrt(a kappa) [M Delta_s (1 + chi Delta_s / 2) + sum alpha_i / s_i],
    chi = sqrt(a / kappa) / L_F,    a = cS.

chi says how curved the loss is: 0 makes it linear in the error, and a large chi quadratic. So three
open quantities count as one, and every shape of the figures is a function of chi alone.
"""

# ruff: noqa: RUF001
# The page's Greek letters and signs are meant.

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from pigou.game import AccuracyLoss
from pigou.paper.errata.cases import KAPPA, PRIVACY_SCALE, SMOOTHNESS
from pigou.paper.errata.record import Cell, Table
from pigou.report.words import number
from pigou.reproduce import fig1, formulas
from pigou.reproduce.fig2 import ETAS, Model, papers
from pigou.reproduce.fig2_chapter import peak
from pigou.reproduce.part import Chapter, Part, Progress, Request, Sheet
from pigou.reproduce.treatments import CORRECTED, UNPRICED

NAME: Final = "sensitivity"
FACTORS: Final = (0.01, 0.1, 10.0, 100.0)
WIDTHS: Final = (fig1.WIDTHS[0], fig1.WIDTHS[-1])
DRAWS, QUICK_DRAWS = 200, 40
QUICK_ETAS: Final = tuple(round(0.05 * k, 2) for k in range(1, 20))
COLUMNS: Final = (
    "changed",
    "χ",
    "Fig. 1: growth, no prices",
    "Fig. 1: growth, prices",
    "Fig. 2: peak, no prices",
    "Fig. 2: peak, prices",
    "Fig. 2: least saving",
    "Fig. 2: no branch at",
)


@dataclass(frozen=True)
class Case:
    """One choice of the open quantities."""

    changed: str
    loss: AccuracyLoss
    privacy_scale: float

    @property
    def chi(self) -> float:
        """As in the module's head; kappa / L_F is 2 quadratic."""
        if self.loss.linear == 0.0:
            return math.inf
        curved = 2.0 * self.loss.quadratic / self.loss.linear
        return math.sqrt(self.privacy_scale / self.loss.linear) * curved


@dataclass(frozen=True)
class Shape:
    """What the figures show there."""

    chi: float
    unpriced: float  # growth of the median from the least to the largest variance
    priced: float
    peak_unpriced: float
    peak_priced: float
    saving: float  # least share of the unpriced cost that prices save, over eta
    gone: tuple[float, ...]  # eta at which a curve of the paper has no branch to follow


def cases() -> Iterator[Case]:
    """The values used, each quantity changed by itself, and both limits of the loss."""
    bound, scale = AccuracyLoss.bound, PRIVACY_SCALE
    yield Case("nothing", bound(KAPPA, SMOOTHNESS), scale)
    for factor in FACTORS:
        yield Case(f"κ × {factor:g}", bound(factor * KAPPA, SMOOTHNESS), scale)
        yield Case(f"L_F × {factor:g}", bound(KAPPA, factor * SMOOTHNESS), scale)
        yield Case(f"cS × {factor:g}", bound(KAPPA, SMOOTHNESS), factor * scale)
    yield Case("loss linear in the error", AccuracyLoss(KAPPA, 0.0), scale)
    yield Case("loss quadratic in the error", AccuracyLoss(0.0, KAPPA), scale)


def shape(case: Case, etas: tuple[float, ...], draws: int, rng: np.random.Generator) -> Shape:
    """Both figures in short."""
    setting = formulas.setting(formulas.N, case.loss, case.privacy_scale)
    treatments = {name: fig1.TREATMENTS[name] for name in (UNPRICED, CORRECTED)}
    drawn = fig1.drawn(setting, WIDTHS, draws, rng, treatments)
    curves, _ = papers(Model(case.loss, case.privacy_scale), etas)
    named = {series.name: series for series in curves}
    unpriced, priced = named[UNPRICED], named[CORRECTED]
    both = np.isfinite(unpriced.y) & np.isfinite(priced.y)
    half = np.isclose(unpriced.x, 0.5)  # where the rewards are singular, whatever chi is
    lost = ~both & ~half
    return Shape(
        chi=case.chi,
        unpriced=drawn.growth(UNPRICED),
        priced=drawn.growth(CORRECTED),
        peak_unpriced=peak(unpriced),
        peak_priced=peak(priced),
        saving=1.0 - float((priced.y[both] / unpriced.y[both]).max()),
        gone=tuple(unpriced.x[lost].tolist()),
    )


def make(request: Request) -> Chapter:
    """The chapter."""
    draws = QUICK_DRAWS if request.quick else DRAWS
    etas = QUICK_ETAS if request.quick else ETAS
    changed = tuple(cases())
    found = []
    for k, case in enumerate(changed):
        # the same draws for every case, so that only the case differs
        found.append(shape(case, etas, draws, request.generator(NAME)))
        request.watch(Progress(NAME, k + 1, len(changed), case.changed))
    rows = tuple(_row(*pair) for pair in zip(changed, found, strict=True))
    caption = f"The shapes of both figures under other values ({draws} draws per width for Fig. 1)"
    return Chapter(
        name=NAME,
        title="What the figures hang on",
        content=(
            _words(etas),
            Sheet("sensitivity", Table(caption, COLUMNS, rows), words=(0, 7)),
            _said(found),
        ),
        summary=_said(found),
    )


def _row(case: Case, found: Shape) -> tuple[Cell, ...]:
    return (
        case.changed,
        found.chi,
        found.unpriced,
        found.priced,
        found.peak_unpriced,
        found.peak_priced,
        found.saving,
        _places(found.gone),
    )


def _places(etas: tuple[float, ...]) -> str:
    return ", ".join(f"{eta:g}" for eta in etas) or "none"


def _words(etas: tuple[float, ...]) -> str:
    return (
        "The paper states N, T, the two types and the mean of the normal, but not κ, L_F, c and S. "
        "Measured in the right units these four are one number, χ = √(cS/κ)/L_F: social cost is "
        "√(cSκ) times a function of χ and the types. So κ, cS and L_F may be anything as long as χ "
        "is the same. The table changes one at a time, and at the end takes the two limits. Growth "
        f"is the median at the widest normal (sd {WIDTHS[-1]:g}) over that at the narrowest (sd "
        f"{WIDTHS[0]:g}); the peaks are places on the η axis, in steps of "
        f"{etas[1] - etas[0]:.2g}; the least saving is "
        "the share of the unpriced cost that the paper's prices, corrected, save at the η where "
        "they save least. η = 1/2 is singular in every row (E8)."
    )


def _said(found: list[Shape]) -> str:
    unpriced = [each.unpriced for each in found]
    priced = [each.priced for each in found]
    peaks = [each.peak_unpriced for each in found]
    inside = sum(0.5 <= at <= 0.7 for at in peaks)
    saving = [each.saving for each in found]
    return (
        f"Over {len(found)} choices of the open quantities the unpriced cost grows "
        f"{number(min(unpriced))} to {number(max(unpriced))} times with the variance and the "
        f"priced one {number(min(priced))} to {number(max(priced))} times; prices save at least "
        f"{number(100 * min(saving))} % at every η. The place of the unpriced peak does hang on χ: "
        f"η = {number(min(peaks))} to {number(max(peaks))}, between 0.5 and 0.7 in {inside} of "
        f"{len(found)}."
    )


SENSITIVITY: Final = Part(NAME, make)
