"""The tables of docs/explanation/limits.md: what pricing cannot do, with numbers."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from pigou.checks import FloatArray
from pigou.federation.attacks.example import digits_scene
from pigou.federation.attacks.measuring import Attack, Scene, loud_majority, measured
from pigou.game import Game
from pigou.mechanisms.billing import compare, settle
from pigou.mechanisms.pigouvian import Pigouvian
from pigou.mechanisms.posted import PostedPrice
from pigou.solve import optimum
from pigou.terms import MICRO, Settlement, Terms

ROUNDS: Final = 30
SEEDS: Final = 8
PROGRESS: Final = (0.0, 0.01, 0.1, 0.5, 1.0, 2.0, 5.0)
SIZES: Final = (20, 100)
RINGS: Final = (1, 2, 4, 8, 9, 10, 11, 15, 19)

MEASURED: Final = (
    "attack",
    "accounts",
    "bill",
    "bill if honest",
    "gain",
    "loss of the others",
    "flagged, %",
    "others, %",
    "accuracy, %",
    "if honest, %",
)


def tables() -> Iterator[str]:
    """All of them, in the order of the page; takes some seconds."""
    priced, posted = (digits_scene(kind(rounds=ROUNDS)) for kind in (Pigouvian, PostedPrice))
    for scene, rules in ((priced, (False, True)), (posted, (False,))):
        found = (*measured(scene, SEEDS), *loud_majority(scene, SEEDS))
        for rule in rules:
            yield _attacks(scene, [attack for attack in found if attack.refund_rule is rule])
    yield _copycats()
    yield _rings()


def copycat_bills(n: int, progress: float) -> tuple[float, float]:
    """Expected net bill of one copycat among clients of s = 1, with its refund and without it, in
    per cent of what each is charged where all are honest.

    Its deviation is the common progress and the background (section 9).
    """
    deviation = np.full(n, 1.0 + (n - 2 + progress) / (n - 1) ** 2)
    deviation[0] = progress + 1.0 / (n - 1)
    terms = Terms("example", np.full(n, 1.0 / n), np.ones(n))
    usual = settle(np.full(n, n / (n - 1.0)), terms).charge[0]
    refunded, barred = settle(deviation, terms), settle(deviation, terms, barred=[0])
    return 100.0 * float(refunded.net[0] / usual), 100.0 * float(barred.net[0] / usual)


def ring_bills(n: int, k: int) -> Settlement:
    """Bills at unit price 1 where k clients share a noise of variance 1 and nobody else has any."""
    uploads: FloatArray = (np.arange(n) < k).astype(np.float64)[:, np.newaxis]
    terms = Terms("example", np.full(n, 1.0 / n), np.ones(n))
    return settle(compare(uploads, terms.active).deviation, terms)


def _attacks(scene: Scene, found: Sequence[Attack]) -> str:
    """In per cent of an average client's cost at the optimum."""
    best = optimum(Game(scene.setting, scene.alpha)).social_cost
    unit = best / scene.setting.n / 100.0
    return _table(MEASURED, [_attack(attack, unit) for attack in found])


def _attack(attack: Attack, unit: float) -> list[str]:
    return [
        attack.name,
        str(attack.clients),
        f"{attack.bill / unit:,.1f}",
        f"{attack.honest_bill / unit:,.1f}",
        f"{attack.gain / unit:,.0f} ± {attack.gain_error / unit:,.0f}",
        f"{attack.harm / unit:,.0f} ± {attack.harm_error / unit:,.0f}",
        f"{100 * attack.caught:.1f}",
        f"{100 * attack.others_flagged:.1f}",
        f"{100 * attack.accuracy:.1f}",
        f"{100 * attack.honest_accuracy:.1f}",
    ]


def _copycats() -> str:
    kinds = [(n, rule) for n in SIZES for rule in ("refunded", "barred")]
    columns = ["progress over σ² + v", *(f"{rule}, N = {n}" for n, rule in kinds)]
    bills = [[bill for n in SIZES for bill in copycat_bills(n, share)] for share in PROGRESS]
    pairs = zip(PROGRESS, bills, strict=True)
    return _table(columns, [[f"{p:g}", *(f"{bill:.1f}" for bill in row)] for p, row in pairs])


def _rings() -> str:
    n = SIZES[0]
    slopes = [float(ring_bills(n, k).net[0]) / MICRO for k in RINGS]
    row = ["slope", *(f"{slope:.3f}" for slope in slopes)]
    return _table([f"members of {n}", *map(str, RINGS)], [row])


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in (columns, *rows)]
    return "\n".join([lines[0], "|---" * len(columns) + "|", *lines[1:]])
