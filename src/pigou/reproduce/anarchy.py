"""The price of anarchy has no bound: it grows with the clients, and with one client's type."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from pigou.anarchy import Scan, scan_clients, scan_sensitivity
from pigou.checks import FloatArray
from pigou.game import AccuracyLoss, Game
from pigou.paper import complete
from pigou.paper.errata.cases import PRIVACY_SCALE
from pigou.paper.errata.record import Table
from pigou.report.words import number
from pigou.reproduce import formulas
from pigou.reproduce.chart import Chart, Series
from pigou.reproduce.part import Chapter, Claim, Part, Progress, Request, Sheet, Verdict

NAME: Final = "anarchy"
CLIENTS: Final = (2, 5, 10, 30, 100, 300, 1000, 3000, 10_000, 100_000, 1_000_000)
QUICK_CLIENTS: Final = CLIENTS[:-2]
DISTANCES: Final = tuple(10.0**-k for k in range(1, 10))
ALPHA: Final = 0.5
FEW: Final = 10  # clients, one of whom stops caring for accuracy
UNBOUNDED: Final = 1000.0  # times the optimum: beyond it a divergence is called one

BOUND: Final = formulas.LOSS
PAPERS, LINEAR, QUADRATIC = "the paper's bound", "linear loss", "quadratic loss"
LOSSES: Mapping[str, AccuracyLoss] = MappingProxyType(
    {
        LINEAR: AccuracyLoss(BOUND.linear, 0.0),
        PAPERS: BOUND,
        QUADRATIC: AccuracyLoss(0.0, BOUND.quadratic),
    }
)
IN_CLIENTS: Mapping[str, str] = MappingProxyType({LINEAR: "1/2", PAPERS: "7/12", QUADRATIC: "2/3"})
IN_DISTANCE: Mapping[str, str] = MappingProxyType({LINEAR: "1/2", PAPERS: "2/3", QUADRATIC: "2/3"})
MEAN, MLE = "mean weights", "the paper's MLE rule"


def in_clients(sizes: tuple[int, ...]) -> dict[str, Scan]:
    """Growth with the number of equal clients, by loss."""
    return {name: scan_clients(sizes, loss, PRIVACY_SCALE, ALPHA) for name, loss in LOSSES.items()}


def in_sensitivity(loss: AccuracyLoss) -> Scan:
    """One client's alpha goes to 1, mean weights."""
    setting = formulas.setting(FEW, loss)
    return scan_sensitivity(Game(setting, np.full(FEW, ALPHA)), 0, DISTANCES)


def in_sensitivity_mle(distance: float) -> float:
    """The same ratio under the paper's rule, against the optimum for its own weights."""
    alpha = np.full(FEW, ALPHA)
    alpha[0] = 1.0 - distance
    game = Game(formulas.setting(FEW), alpha)
    return complete.equilibrium(game).social_cost / complete.stationary(game).social_cost


def make(request: Request) -> Chapter:
    """The chapter."""
    sizes = QUICK_CLIENTS if request.quick else CLIENTS
    grown = in_clients(sizes)
    request.watch(Progress(NAME, 1, 2, "number of clients"))
    near = {name: in_sensitivity(loss) for name, loss in LOSSES.items()}
    mle = np.array([in_sensitivity_mle(distance) for distance in DISTANCES])
    request.watch(Progress(NAME, 2, 2, "one client's type"))
    ratios = (grown[PAPERS].ratio, near[PAPERS].ratio, mle)
    return Chapter(
        name=NAME,
        title="The price of anarchy",
        content=(
            _words(),
            _clients_chart(grown),
            _sensitivity_chart(near[PAPERS], mle),
            _slopes(grown, near),
        ),
        summary=_evidence(sizes, *ratios),
        parameters=formulas.PARAMETERS,
        claims=(_claim(sizes, *ratios),),
    )


def _words() -> str:
    return (
        "The price of anarchy is social cost without prices over the least for the same weights. "
        "It grows without bound in two ways: with the number of equal clients "
        f"(alpha = {ALPHA:g}), and, for a fixed number, as a single client stops caring about "
        f"accuracy: {FEW} clients, one with alpha = 1 - distance, the others with "
        f"alpha = {ALPHA:g}."
    )


def _clients_chart(grown: dict[str, Scan]) -> Chart:
    return Chart(
        name="anarchy_clients",
        title="Against the number of clients",
        caption="Equal clients, mean weights. On these axes the lines tend to the slopes 1/2 where "
        "the loss is linear in the error of the model, 2/3 where it is quadratic, and 7/12 for "
        "the paper's bound, which starts as the first and ends between the two.",
        x_title="number of clients",
        y_title="price of anarchy",
        series=tuple(Series(name, scan.values, scan.ratio) for name, scan in grown.items()),
        log_x=True,
        log_y=True,
    )


def _sensitivity_chart(mean: Scan, mle: FloatArray) -> Chart:
    distance = np.array(DISTANCES)
    return Chart(
        name="anarchy_sensitivity",
        title="As one client cares about nothing but privacy",
        caption=f"{FEW} clients and the paper's bound; the optimum is the one for the weights of "
        "the rule.",
        x_title="distance of one client's alpha from 1",
        y_title="price of anarchy",
        series=(Series(MEAN, distance, mean.ratio), Series(MLE, distance, mle)),
        log_x=True,
        log_y=True,
    )


def _slopes(grown: dict[str, Scan], near: dict[str, Scan]) -> Sheet:
    rows = [
        (
            name,
            float(grown[name].slope[-1]),
            IN_CLIENTS[name],
            float(near[name].slope[-1]),
            IN_DISTANCE[name],
        )
        for name in LOSSES
    ]
    columns = ("loss", "in N", "limit in N", "in 1/(1 - alpha)", "limit in 1/(1 - alpha)")
    caption = "Slopes at the right end of the charts, mean weights, and their limits"
    return Sheet("anarchy_slopes", Table(caption, columns, tuple(rows)), words=(0, 2, 4))


def _evidence(
    sizes: tuple[int, ...], clients: FloatArray, mean: FloatArray, mle: FloatArray
) -> str:
    least = f"{DISTANCES[-1]:g}"
    return (
        f"Social cost without prices is {number(float(clients[-1]))} times the optimum with "
        f"{sizes[-1]:,} equal clients; with {FEW} clients, one of them at a distance of {least} "
        f"from alpha = 1, {number(float(mean[-1]))} times with mean weights and "
        f"{number(float(mle[-1]))} times under the paper's rule, growing to the end."
    )


def _claim(sizes: tuple[int, ...], clients: FloatArray, mean: FloatArray, mle: FloatArray) -> Claim:
    grows = all(bool((np.diff(ratio) > 0).all()) for ratio in (clients, mean, mle))
    return Claim(
        place="Proposition 3",
        statement="The price of anarchy goes to infinity in the worst case.",
        verdict=Verdict.REPRODUCED if grows and mle[-1] > UNBOUNDED else Verdict.NOT,
        evidence=_evidence(sizes, clients, mean, mle),
        tests=(
            "tests/unit/test_anarchy.py::test_growth_with_a_linear_loss_is_a_square_root",
            "tests/unit/test_anarchy.py::test_growth_with_a_quadratic_loss_is_two_thirds",
            "tests/unit/test_anarchy.py::test_one_alpha_towards_one_has_no_bound",
            "tests/reproduce/test_anarchy.py::test_the_papers_rule_diverges_too",
        ),
    )


ANARCHY: Final = Part(NAME, make)
