"""Trainings that take a fraction of a second: what tests of runs start from."""

from functools import cache

from pigou.runs import Ready, prepare
from pigou.scenario import Scenario, parse

TEXT = """
name = "Small"
seed = 3
[loss]
linear = 0.0
quadratic = 30.0
[privacy]
clip = 0.2
[federation]
rounds = 4
spread = 0.0
divergence = 0.0
[mechanism]
money = 100.0
currency = "CHF"
[training]
train = 60
test = 40
[limits]
max_attempts = 2
[[client]]
name = "North"
alpha = 0.2
[[client]]
name = "East, far"
alpha = 0.4
[[client]]
name = "South"
alpha = 0.6
[[client]]
name = "West"
alpha = 0.8
"""


def small(*changes: tuple[str, str]) -> Scenario:
    """The small scenario with pieces of its text replaced."""
    return parse(changed(*changes))


def changed(*changes: tuple[str, str]) -> str:
    text = TEXT
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


@cache
def ready_small(*changes: tuple[str, str]) -> Ready:
    """The same, prepared."""
    return prepare(small(*changes))
