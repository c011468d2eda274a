"""What cheating would bring on a run's own task: measured for the report (section 9)."""

from typing import Final

from pigou.errors import NotApplicable
from pigou.federation.attacks import Scene, measured
from pigou.mechanisms import Mechanism, Unpriced
from pigou.runs.preparing import Ready
from pigou.runs.record import AttacksRecord
from pigou.terms import Interval

SEEDS: Final = 4  # runs of each attack, and of the same without it
FEWEST: Final = 5  # clients that Scene takes
LARGEST: Final = 1_000_000  # numbers in all uploads of a round, beyond which it takes minutes
CHEATS: Final = ("copycat", "ring")  # the conducts whose outcome is worth the time


def attack_scene(ready: Ready, asked: bool | None) -> Scene | None:
    """What attacks are measured on, or None where they are not.

    Unasked, they are measured where the run has clients that cheat in these ways, the rules allow
    it and it does not take long. Asked, what does not fit is an error.
    """
    scenario = ready.scenario
    mechanism = scenario.build_mechanism()
    unfit = _unfit(mechanism)
    cheats = any(conduct.name in CHEATS for conduct, _ in scenario.conducts())
    fits = not unfit and scenario.n >= FEWEST and scenario.n * ready.task.dim <= LARGEST
    if not (asked or (asked is None and cheats and fits)):
        return None
    if unfit:
        raise NotApplicable("mechanism", f"{unfit} for attacks to be measured", mechanism.name)
    return Scene(
        task=ready.task,
        setting=ready.setting,
        alpha=ready.game.alpha,
        mechanism=mechanism,
        family_error=scenario.audit.family_error,
    )


def _unfit(mechanism: Mechanism) -> str:
    """What the mechanism would have to do; empty if nothing is in the way."""
    if mechanism.name == Unpriced.name:
        return "must price something"
    space = mechanism.report_space
    if space is not None and not isinstance(space, Interval):
        return "must take any type as a report, and nothing else,"
    return ""


def measure_attacks(scene: Scene) -> AttacksRecord:
    """Run them."""
    return AttacksRecord(seeds=SEEDS, found=measured(scene, SEEDS))
