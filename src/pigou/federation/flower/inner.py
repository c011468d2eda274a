"""Which strategies can be wrapped: those that aggregate by the weights in the replies.

A price is right only for the weights that were announced. A strategy that picks, trims or reweighs
uploads does not use them, and one that adds noise of its own changes what is billed.
"""

from typing import Final

from flwr.app import MetricRecord
from flwr.serverapp import strategy as flower
from flwr.serverapp.strategy import FedAvg, Strategy

from pigou.errors import InvalidArgument, Shown

REFUSED: Final = {
    flower.MultiKrum: "it chooses uploads by their distances",  # Krum is one of its subclasses
    flower.Bulyan: "it chooses and trims uploads",
    flower.FedMedian: "it takes medians",
    flower.FedTrimmedAvg: "it trims uploads",
    flower.QFedAvg: "it weighs uploads by their losses",
    flower.FedXgbBagging: "it collects trees and averages nothing",
    flower.FedXgbCyclic: "it takes one client after another and averages nothing",
    flower.DifferentialPrivacyServerSideFixedClipping: "it clips uploads and adds its own noise",
    flower.DifferentialPrivacyServerSideAdaptiveClipping: "it clips uploads and adds its own noise",
    flower.DifferentialPrivacyClientSideFixedClipping: "it adds its own noise",
    flower.DifferentialPrivacyClientSideAdaptiveClipping: "it adds its own noise",
}


def require_weighted(inner: Strategy) -> FedAvg:
    """The strategy, if it aggregates by weights; an error with its name if it does not."""
    name = type(inner).__name__
    for refused, why in REFUSED.items():
        if isinstance(inner, refused):
            constraint = f"must use the committed weights, and {name} does not: {why}"
            raise InvalidArgument("inner", constraint, Shown(name))
    if not isinstance(inner, FedAvg):
        raise InvalidArgument("inner", "must be FedAvg or one of its kind", Shown(name))
    return inner


def weighted(metrics: MetricRecord, key: str, weight: float) -> MetricRecord:
    """A client's metrics with the committed weight in place of whatever it claimed."""
    said = {name: value for name, value in metrics.items() if name != key}
    return MetricRecord({**said, key: weight})
