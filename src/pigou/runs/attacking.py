"""What cheating would bring on a run's own task: measured for the report (section 9)."""

from typing import Final

from pigou.errors import NotApplicable
from pigou.federation.attacks import Scene, measured
from pigou.mechanisms import Unpriced
from pigou.runs.preparing import Ready
from pigou.runs.record import AttacksRecord

SEEDS: Final = 4  # runs of each attack, and of the same without it
FEWEST: Final = 5  # clients that Scene takes
CHEATS: Final = ("copycat", "ring")  # the conducts whose outcome is worth the time


def attack_scene(ready: Ready, asked: bool | None) -> Scene | None:
    """What attacks are measured on, or None where they are not.

    Unasked, they are measured where the run has clients that cheat in these ways and the rules
    allow it. Asked, what does not fit is an error.
    """
    scenario = ready.scenario
    cheats = any(conduct.name in CHEATS for conduct, _ in scenario.conducts())
    priced = scenario.mechanism.name != Unpriced.name
    if asked is False or (asked is None and not (cheats and priced and scenario.n >= FEWEST)):
        return None
    if not priced:
        what = "must price something for attacks to be measured"
        raise NotApplicable("mechanism", what, scenario.mechanism.name)
    return Scene(
        task=ready.task,
        setting=ready.setting,
        alpha=ready.game.alpha,
        mechanism=scenario.build_mechanism(),
        family_error=scenario.audit.family_error,
    )


def measure_attacks(scene: Scene) -> AttacksRecord:
    """Run them."""
    return AttacksRecord(seeds=SEEDS, found=measured(scene, SEEDS))
