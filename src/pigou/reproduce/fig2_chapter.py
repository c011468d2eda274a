"""The chapter on Fig. 2 from the formulas: what its curves say."""

# ruff: noqa: RUF001
# The page's Greek letters and signs are meant.

from typing import Final

import numpy as np

from pigou.report.words import number
from pigou.reproduce import formulas
from pigou.reproduce.chart import Series
from pigou.reproduce.fig2 import ETAS, QUICK_ETAS, Model, charts, papers, repaired
from pigou.reproduce.part import Chapter, Claim, Part, Progress, Request, Verdict
from pigou.reproduce.treatments import CORRECTED, GROVES, MEAN_UNPRICED, UNPRICED

NAME: Final = "fig2-formulas"
STEPS: Final = 5  # the paper's curves, and four of the repaired mechanisms
DIVERSE: Final = 0.5  # eta of the greatest diversity
WELL_BELOW: Final = 0.5  # priced social cost, as a share of unpriced, up to which it is


def make(request: Request) -> Chapter:
    """The chapter."""
    etas = QUICK_ETAS if request.quick else ETAS
    model = Model()

    def done(many: int) -> None:
        request.watch(Progress(NAME, many, STEPS, f"{len(etas)} values of eta"))

    theirs, notes = papers(model, etas)
    done(1)
    ours = repaired(model, etas, lambda many: done(many + 1))
    drawn = charts((*theirs, *ours), notes, model.n)
    named = {series.name: series for series in drawn[0].series}
    return Chapter(
        name=NAME,
        title="Fig. 2 from the formulas",
        content=(_words(), *drawn),
        summary=_summary(named),
        parameters=formulas.PARAMETERS,
        claims=(_peak_claim(named), _pricing_claim(named)),
    )


def peak(series: Series) -> float:
    """Where a curve is highest."""
    return float(series.x[np.nanargmax(series.y)])


def _words() -> str:
    return (
        "Types are private: 0.25 with probability eta, 0.75 otherwise. The paper's curves follow "
        "the branch that continues its solution for known types; where there is none, or where "
        "its rewards divide by 0, the curve has a gap and a letter says why. Beside them are "
        "mean weights: without prices, with the Groves mechanism, with a posted price that "
        "assumes a mean type of 0.5 at every eta, and with a menu of two prices. The paper's T = "
        f"{formulas.ROUNDS} does not enter: its bound does not depend on T. Under the paper's rule "
        "the unpriced peak lies to the right of eta = 0.5, where types are most diverse: the "
        "sensitive clients have almost all of the weight until they are few, so that the error "
        "hardly falls with eta, while the weight that society puts on accuracy, the expected sum "
        "of 1 - alpha, grows with it. With mean weights the peak is close to 0.5."
    )


def _summary(named: dict[str, Series]) -> str:
    unpriced, priced = named[UNPRICED], named[CORRECTED]
    mean, groves = named[MEAN_UNPRICED], named[GROVES]
    return (
        f"Without prices social cost peaks at eta = {number(peak(unpriced))} under the paper's "
        f"rule ({number(float(np.nanmax(unpriced.y)))}) and at {number(peak(mean))} with mean "
        f"weights ({number(float(mean.y.max()))}); with prices at {number(peak(priced))} "
        f"({number(float(np.nanmax(priced.y)))}, corrected) and {number(peak(groves))} "
        f"({number(float(groves.y.max()))}, Groves)."
    )


def _peak_claim(named: dict[str, Series]) -> Claim:
    peaks = [peak(named[name]) for name in (UNPRICED, CORRECTED)]
    step = float(np.diff(named[UNPRICED].x).max())
    there = all(abs(at - DIVERSE) <= step for at in peaks)
    inside = all(named[UNPRICED].x[0] < at < named[UNPRICED].x[-1] for at in peaks)
    corrected = Verdict.CORRECTED if inside else Verdict.NOT
    return Claim(
        place="Fig. 2",
        statement="Both social costs increase as the variance of the α_i increases (η → 0.5).",
        verdict=Verdict.REPRODUCED if there else corrected,
        evidence=f"They peak at η = {number(peaks[0])} without prices and {number(peaks[1])} with "
        f"the paper's, corrected; with mean weights at {number(peak(named[MEAN_UNPRICED]))} and "
        f"{number(peak(named[GROVES]))}. The diversity of types is greatest at η = {DIVERSE:g}.",
        tests=(
            "tests/reproduce/test_fig2.py::test_every_curve_rises_to_a_peak_inside_and_falls",
            "tests/reproduce/test_fig2.py::test_the_unpriced_peak_is_right_of_one_half",
        ),
    )


def _pricing_claim(named: dict[str, Series]) -> Claim:
    unpriced, priced = named[UNPRICED].y, named[CORRECTED].y
    both = np.isfinite(unpriced) & np.isfinite(priced)
    ratio = unpriced[both] / priced[both]
    at = named[UNPRICED].x[both]
    best = number(float(at[ratio.argmax()]))
    saved = number(float(at[(unpriced - priced)[both].argmax()]))
    return Claim(
        place="Fig. 2",
        statement="The pricing scheme reduces the social cost significantly, most at the maximum.",
        verdict=Verdict.REPRODUCED if ratio.min() > 1.0 / WELL_BELOW else Verdict.NOT,
        evidence=f"Among truthful clients social cost without prices is {number(ratio.min())} to "
        f"{number(ratio.max())} times that with corrected prices, most at η = {best}; the saving "
        f"is largest at η = {saved}, where the unpriced cost peaks at η = "
        f"{number(peak(named[UNPRICED]))}. Truth is not an equilibrium of the scheme (E9).",
        tests=("tests/reproduce/test_fig2.py::test_prices_save_at_every_eta",),
    )


FIG2: Final = Part(NAME, make)
