"""The paper's two-type model: the cost grows as the square root of the number of clients."""

from collections.abc import Callable, Iterable

from benchmarks.table import Ratio, seconds

from pigou import AccuracyLoss
from pigou.paper.two_types import TwoTypes

SMALL, LARGE = 10**3, 10**6
AT_MOST = 40.0
ETAS = (0.3, 0.5)


def ratios() -> Iterable[Ratio]:
    """Times at a million clients over times at a thousand: all of the model, and its optimum."""
    for what, call in (("all of it", everything), ("optimum and prices", prices)):
        for eta in ETAS:
            small, large = (seconds(computing(call, n, eta)) for n in (SMALL, LARGE))
            yield Ratio(
                f"TwoTypes, {what}, eta = {eta}: N = {LARGE:,} over N = {SMALL:,}",
                large / small,
                at_most=AT_MOST,
                note=f"{1e3 * large:.3g} ms over {1e3 * small:.3g} ms",
            )


def computing(call: Callable[[TwoTypes], object], n: int, eta: float) -> Callable[[], object]:
    """A fresh model each time: its results are kept once computed."""
    loss = AccuracyLoss.bound(kappa=16.0, smoothness=2.0)
    return lambda: call(TwoTypes(n, eta, 0.25, 0.75, loss, 0.5))


def prices(model: TwoTypes) -> object:
    """sigma** and beta."""
    return model.sigma, model.beta_corrected


def everything(model: TwoTypes) -> object:
    """Equilibria, prices, rewards, the comparison of cases and both matrices of single lies."""
    return (
        model.comparison,
        model.unpriced,
        model.social_cost,
        model.interim_mle,
        model.interim_mean,
        model.constant_refund(rewards=False),
    )
