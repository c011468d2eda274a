"""Runs of every kind that a report must be able to show, each a fraction of a second long."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

from tests.small_runs import ready_small, small

from pigou.federation.attacks import measured
from pigou.runs import Ready, RunRecord, attack_scene, prepare, run
from pigou.runs.record import AttacksRecord
from pigou.scenario import load, parse, to_toml

HOSPITALS = Path(__file__).parents[1] / "examples" / "three_hospitals.toml"
NASTY = "</script><script>console.error('broken')</script><b>&amp; \"'"


def hospitals() -> RunRecord:
    return run(prepare(load(HOSPITALS)))


def crowd(n: int, rounds: int, more: str = "", privacy: str = "") -> RunRecord:
    """Drawn clients instead of the four."""
    return run(ready_crowd(n, rounds, more, privacy))


def ready_crowd(n: int, rounds: int, more: str = "", privacy: str = "") -> Ready:
    text = to_toml(small(("train = 60", "train = 12"), ("test = 40", "test = 5")))
    text = text[: text.index("[[client]]")].replace("rounds = 4", f"rounds = {rounds}")
    text = text.replace("clip = 0.2", f"clip = 0.2\n{privacy}")
    drawn = f'[population]\nn = {n}\nkind = "uniform"\nlow = 0.2\nhigh = 0.8\n'
    return prepare(parse(text + drawn + more))


def conduct(client: str, name: str, options: str = "{}") -> tuple[str, str]:
    line = f'name = "{client}"\n'
    return line, f'{line}conduct = "{name}"\noptions = {options}\n'


def capped() -> RunRecord:
    """A hundred clients, of whom some reach their epsilon cap and stay away."""
    return crowd(100, 3, privacy="epsilon_cap = 1.0")


def refused() -> RunRecord:
    """One client uploads infinities, another comes and goes."""
    loud = conduct("East, far", "lying", "{ noise_factor = 1e39 }")
    return run(ready_small(loud, conduct("West", "dropout", "{ rate = 0.5 }")))


def stopped() -> RunRecord:
    """No round is ever closed where there is noise."""
    away = conduct("West", "dropout", "{ rate = 1.0 }")
    return run(ready_small(away, ("max_attempts = 2", "min_clients = 4\nmax_attempts = 2")))


def unpriced() -> RunRecord:
    return run(ready_small(("money = 100.0", 'money = 100.0\nname = "unpriced"')))


def attacked() -> RunRecord:
    """Six clients, one of which copies, and what cheating brings there."""
    ready = ready_crowd(6, 2, '[[group]]\ncount = 1\nconduct = "copycat"\n')
    scene = attack_scene(ready, None)
    assert scene is not None
    return replace(run(ready), attacks=AttacksRecord(seeds=2, found=measured(scene, 2)))


def calibrated() -> RunRecord:
    loss = "linear = 0.0\nquadratic = 30.0"
    return run(ready_small((loss, "calibrate = true"), ("spread = 0.0", 'spread = "measured"')))


def groves() -> RunRecord:
    return run(ready_small(("money = 100.0", 'money = 100.0\nname = "groves"')))


def nasty() -> RunRecord:
    """Names that would break a page which does not escape them."""
    record = run(ready_small())
    names = (NASTY, *(f"{k} {NASTY}" for k in range(3)))
    scenario = {**record.scenario, "name": NASTY}
    return replace(record, clients=names, scenario=scenario, currency="<i>€</i>")


KINDS: dict[str, Callable[[], RunRecord]] = {
    "hospitals": hospitals,
    "capped": capped,
    "attacked": attacked,
    "one round": lambda: crowd(100, 1),
    "groups": lambda: crowd(320, 2),
    "refused": refused,
    "stopped": stopped,
    "unpriced": unpriced,
    "without noise": lambda: run(ready_small(), only=["no noise"]),
    "priced alone": lambda: run(ready_small(), only=["priced"]),
    "calibrated": calibrated,
    "groves": groves,
    "nasty": nasty,
}


@cache
def record_of(kind: str) -> RunRecord:
    """The run of that kind."""
    return KINDS[kind]()
