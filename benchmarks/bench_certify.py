"""Certificates cost a time in proportion to the number of clients."""

from collections.abc import Callable, Iterator

import numpy as np
from benchmarks.table import Ratio, medians

from pigou import AccuracyLoss, Game, Setting
from pigou.certificate import certify
from pigou.mechanisms import Pigouvian

SMALL, LARGE = 10**4, 10**5
AT_MOST = 13.0


def ratios() -> Iterator[Ratio]:
    """Time at a hundred thousand clients over time at ten thousand, without and with spread."""
    for what, spread in (("no spread", 0.0), ("a spread of each client's own", 1.0)):
        small, large = medians(certifying(SMALL, spread), certifying(LARGE, spread))
        yield Ratio(
            f"certify, {what}: N = {LARGE:,} over N = {SMALL:,}",
            large / small,
            at_most=AT_MOST,
            note=f"{1e3 * large:.3g} ms over {1e3 * small:.3g} ms",
        )


def certifying(n: int, spread: float) -> Callable[[], object]:
    """A certificate of honest terms, which must hold."""
    rng = np.random.default_rng(n)
    loss = AccuracyLoss.bound(kappa=16.0, smoothness=2.0)
    setting = Setting(n, loss, 0.5, spread=spread * rng.uniform(0.1, 1.0, n))
    game = Game(setting, rng.uniform(0.1, 0.9, n))
    terms = Pigouvian().terms(setting, game.alpha)
    certificate = certify(game, terms)
    if not certificate.ok:
        raise RuntimeError(certificate.explain())
    return lambda: certify(game, terms)
