"""Scenario files: what they mean, and that whatever is wrong with them is told, all at once."""

import pickle
import random
import re
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from pigou import PigouError
from pigou.mechanisms import Pigouvian, Unpriced
from pigou.population import Beta, Finite, Population, TruncatedNormal, Uniform, listed, two_point
from pigou.scenario import InvalidScenario, Scenario, load, parse

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "three_hospitals.toml"
TEXT = EXAMPLE.read_text()

HEAD = """
name = "Test"
[loss]
kappa = 16
smoothness = 2
[privacy]
scale = 0.5
"""
CLIENTS = """
[[client]]
name = "A"
alpha = 0.2
samples = 100
[[client]]
name = "B"
alpha = 1
samples = 300
[[client]]
name = "C"
alpha = 0
samples = 600
"""


def federation(**entries: str) -> str:
    return table("federation", entries)


def table(name: str, entries: dict[str, str]) -> str:
    return "\n".join([f"[{name}]", *(f"{key} = {value}" for key, value in entries.items()), ""])


def test_the_example() -> None:
    scenario = load(EXAMPLE)
    game = scenario.game()
    assert scenario.clients == ("Riverside", "St. Anna", "Children's")
    np.testing.assert_array_equal(game.alpha, [0.2, 0.5, 0.8])
    np.testing.assert_array_equal(game.setting.weights, [1 / 3] * 3)
    assert (game.setting.loss.linear, game.setting.loss.quadratic) == (16.0, 4.0)
    assert game.setting.privacy_scale == 0.5
    assert scenario.build_mechanism() == Pigouvian(rounds=10, money=1.0, refund="zero-sum")


def test_whole_numbers_are_numbers_and_defaults_hold() -> None:
    scenario = parse(HEAD + CLIENTS)
    assert scenario.seed == 0
    np.testing.assert_array_equal(scenario.game().alpha, [0.2, 1.0, 0.0])
    assert (scenario.setting().spread == 0).all()
    assert (scenario.setting().divergence == 0).all()
    assert scenario.mechanism.currency == "EUR"


def test_the_loss_by_its_coefficients() -> None:
    text = HEAD.replace("kappa = 16", "linear = 3").replace("smoothness = 2", "quadratic = 0")
    loss = parse(text + CLIENTS).setting().loss
    assert (loss.linear, loss.quadratic) == (3.0, 0.0)


@pytest.mark.parametrize(
    ("weights", "wanted"),
    [
        ('"mean"', [1 / 3] * 3),
        ('"data_size"', [0.1, 0.3, 0.6]),
        ("[0.25, 0.75, 0]", [0.25, 0.75, 0.0]),
    ],
)
def test_weights(weights: str, wanted: list[float]) -> None:
    setting = parse(HEAD + federation(weights=weights) + CLIENTS).setting()
    np.testing.assert_allclose(setting.weights, wanted, rtol=1e-15)


def test_what_honest_updates_differ_by() -> None:
    text = HEAD + federation(spread="0.5", divergence="[1, 0, 0.5]") + CLIENTS
    setting = parse(text).setting()
    np.testing.assert_array_equal(setting.spread, [0.5, 0.5, 0.5])
    np.testing.assert_array_equal(setting.divergence, [1.0, 0.0, 0.5])


def test_the_contract() -> None:
    terms = {"name": '"unpriced"', "money": "2.5", "refund": '"constant"', "currency": '"CHF"'}
    scenario = parse(HEAD + federation(rounds="30") + table("mechanism", terms) + CLIENTS)
    assert scenario.build_mechanism() == Unpriced(rounds=30, money=2.5, refund="constant")
    wanted = Pigouvian(rounds=30, money=2.5, refund="constant")
    assert scenario.build_mechanism("pigouvian") == wanted
    assert scenario.mechanism.currency == "CHF"


POPULATIONS: list[tuple[dict[str, str], Population]] = [
    (
        {"kind": '"two-point"', "alpha_low": "0.2", "alpha_high": "0.7", "eta": "0.3"},
        two_point(0.2, 0.7, 0.3),
    ),
    (
        {"kind": '"finite"', "types": "[0.1, 0.5, 1]", "probabilities": "[0.2, 0.5, 0.3]"},
        Finite([0.1, 0.5, 1.0], [0.2, 0.5, 0.3]),
    ),
    ({"kind": '"listed"', "values": "[0.1, 0.1, 0.6]"}, listed([0.1, 0.1, 0.6])),
    (
        {"kind": '"truncated-normal"', "mean": "0.5", "sd": "0.2", "low": "0.02", "high": "0.98"},
        TruncatedNormal(0.5, 0.2, 0.02, 0.98),
    ),
    ({"kind": '"uniform"', "low": "0.1", "high": "0.9"}, Uniform(0.1, 0.9)),
    ({"kind": '"uniform"'}, Uniform(0.0, 1.0)),
    ({"kind": '"beta"', "a": "2", "b": "3.5"}, Beta(2.0, 3.5)),
]


@pytest.mark.parametrize(("entries", "wanted"), POPULATIONS)
def test_populations(entries: dict[str, str], wanted: Population) -> None:
    text = "seed = 7\n" + HEAD + table("population", {**entries, "n": "50"})
    scenario = parse(text)
    game = scenario.game()
    np.testing.assert_array_equal(game.alpha, wanted.sample(50, np.random.default_rng([7, 0])))
    np.testing.assert_array_equal(game.alpha, parse(text).game().alpha)
    assert not np.array_equal(game.alpha, parse(text.replace("= 7", "= 8")).game().alpha)
    assert game.setting.n == 50
    assert scenario.clients[:3] == ("0", "1", "2")


def test_a_scenario_does_not_change() -> None:
    scenario = parse(TEXT)
    with pytest.raises(ValidationError):
        scenario.seed = 3


def edited(old: str, new: str) -> str:
    assert old in TEXT
    return TEXT.replace(old, new)


def drawn(**entries: str) -> str:
    return HEAD + table("population", entries)


BAD = [
    # what people mistype
    (edited("kappa", "kapa"), "loss.kapa is not a known key; allowed here: kappa, smoothness"),
    (edited("[privacy]", "[privat]"), "privat is not a known key; allowed here: name, seed, loss"),
    (edited("[privacy]", "[privat]"), "privacy must be given"),
    (edited("[[client]]", "[[clients]]"), "clients is not a known key"),
    (edited("alpha = 0.8", "alfa = 0.8"), "client[2].alpha must be given"),
    (edited("alpha = 0.8", "alfa = 0.8"), "client[2].alfa is not a known key; allowed here: name"),
    (drawn(kind='"uniform"', n="3", lo="0"), "population.lo is not a known key; allowed here:"),
    # wrong kinds of values
    (edited("kappa = 16.0", "kappa = true"), "loss.kappa must be a number; received True"),
    (edited("kappa = 16.0", 'kappa = "16"'), "loss.kappa must be a number; received '16'"),
    (edited("rounds = 10", "rounds = 1.0"), "federation.rounds must be a whole number"),
    (edited("rounds = 10", "rounds = true"), "federation.rounds must be a whole number"),
    (edited("alpha = 0.2", "alpha = false"), "client[0].alpha must be a number; received False"),
    (edited('name = "Riverside"', "name = 3"), "client[0].name must be a string; received 3"),
    (edited("[loss]", "loss = 3\n[foo]"), "loss must be a table; received 3"),
    ("client = 4", "client must be a list; received 4"),
    ("client = [4]", "client[0] must be a table; received 4"),
    (drawn(kind='"finite"', n="3", types="[0.1, true]", probabilities="[0.5, 0.5]"), "types[1]"),
    # values out of range
    (edited("kappa = 16.0", "kappa = -1"), "loss.kappa must be greater than 0; received -1"),
    (edited("kappa = 16.0", "kappa = nan"), "loss.kappa must be a finite number; received nan"),
    (edited("scale = 0.5", "scale = inf"), "privacy.scale must be a finite number; received inf"),
    (edited("scale = 0.5", "scale = 0"), "privacy.scale must be greater than 0; received 0"),
    (edited("scale = 0.5", f"scale = 1{'0' * 400}"), "privacy.scale must be a number"),
    (edited("alpha = 0.8", "alpha = 1.1"), "client[2].alpha must be less than or equal to 1"),
    (edited("alpha = 0.8", "alpha = -0.1"), "client[2].alpha must be greater than or equal to 0"),
    (edited("rounds = 10", "rounds = 0"), "federation.rounds must be greater than or equal to 1"),
    (edited("money = 1.0", "money = 0"), "mechanism.money must be greater than 0; received 0"),
    (edited('currency = "EUR"', 'currency = ""'), "mechanism.currency must not be empty"),
    (edited('"pigouvian"', '"pig"'), "mechanism.name must be one of unpriced, pigouvian"),
    (edited("money = 1.0", 'refund = "all"'), "mechanism.refund must be 'zero-sum' or 'constant'"),
    (drawn(kind='"uniform"', n="0"), "population.n must be greater than or equal to 1"),
    (drawn(kind='"uniform"', n="10000001"), "population.n must be less than or equal to 10000000"),
    (drawn(kind='"gamma"', n="3"), "population.kind must be one of two-point, finite, listed"),
    (drawn(n="3"), "population.kind must be one of two-point, finite, listed"),
    (drawn(kind='"uniform"', n="3", low="0.9", high="0.1"), "population.low must be below high"),
    (
        drawn(kind='"two-point"', n="3", alpha_low="0.2", alpha_high="0.7", eta="1"),
        "population.eta must lie strictly between 0 and 1; received 1.0",
    ),
    # values that do not go together
    (edited("smoothness = 2.0", ""), "loss must hold either kappa and smoothness, or linear and"),
    (edited("smoothness", "linear"), "loss must hold either kappa and smoothness, or linear and"),
    (
        edited("kappa = 16.0", "linear = 0").replace("smoothness = 2.0", "quadratic = 0"),
        "loss.linear, quadratic must not both be 0",
    ),
    (edited("St. Anna", "Riverside"), "client must have distinct names; received ['Riverside']"),
    (HEAD, "client, population must not both be given or absent; received 'neither'"),
    (TEXT + "[population]\nkind = 'uniform'\nn = 3", "must not both be given or absent"),
    (edited('"mean"', '"median"'), 'federation.weights must be "mean", "data_size" or a list'),
    (edited('"mean"', "0.5"), 'federation.weights must be "mean", "data_size" or a list'),
    (edited('"mean"', "[]"), 'federation.weights must be "mean", "data_size" or a list'),
    (edited('"mean"', "[0.5, 0.5, true]"), 'federation.weights must be "mean", "data_size" or a'),
    (edited('"mean"', "[0.5, 0.5, 0.1]"), "federation.weights must sum to 1 within 1e-09"),
    (edited('"mean"', "[0.5, 0.6, -0.1]"), "federation.weights must not be negative"),
    (edited('"mean"', "[0.5, 0.5]"), "federation.weights must hold 3 values, one per client"),
    (edited('"mean"', '"data_size"'), "client.samples must be given for every client"),
    (edited("spread = 0.0", "spread = -1"), "federation.spread must be a finite number >= 0"),
    (edited("spread = 0.0", "spread = [0, 1]"), "federation.spread must hold 3 values"),
    (edited("spread = 0.0", "spread = true"), "federation.spread must be a finite number or a"),
    (edited("divergence = 0.0", "divergence = [0, 0, nan]"), "federation.divergence must be"),
    (
        HEAD + federation(weights='"data_size"') + re.sub(r"samples = \d+", "samples = 0", CLIENTS),
        "client.samples must not all be 0",
    ),
    (
        drawn(kind='"uniform"', n="3") + federation(weights='"data_size"'),
        "client.samples must be given for every client",
    ),
    # not TOML
    ("name = ", "is not valid TOML"),
    ("a = " + "[" * 5000, "is not valid TOML"),
    ("a = " + "9" * 5000, "is not valid TOML"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BAD)
def test_every_mistake_is_named(text: str, message: str) -> None:
    with pytest.raises(InvalidScenario) as caught:
        parse(text, "run.toml")
    assert message in str(caught.value)
    assert str(caught.value).startswith("run.toml: ")
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, PigouError)


def test_all_mistakes_are_told_at_once() -> None:
    text = edited("kappa = 16.0", "kappa = 0").replace("alpha = 0.5", "alpha = 2\nage = 3")
    with pytest.raises(InvalidScenario) as caught:
        parse(text)
    assert caught.value.problems == (
        "loss.kappa must be greater than 0; received 0",
        "client[1].alpha must be less than or equal to 1; received 2",
        "client[1].age is not a known key; allowed here: name, alpha, samples, conduct, options",
    )


def test_errors_travel_between_processes() -> None:
    error = InvalidScenario("run.toml", ["loss must be given", "privacy must be given"])
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.problems) == (str(error), error.problems)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("absent.toml", None, "absent.toml: cannot be read: No such file or directory"),
        (".", None, "cannot be read: Is a directory"),
        ("bytes.toml", b"\xff\xfe", "cannot be read: 'utf-8' codec can't decode"),
        ("zero\0.toml", None, "cannot be read: embedded null byte"),
    ],
)
def test_unreadable_files(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidScenario) as caught:
        load(tmp_path / name)
    assert message in str(caught.value)


VALUES = [
    "1", "-1", "0", "0.5", "1e400", "nan", "-inf", "true", '"x"', '""', "[]", "[1, 2]", "[[1]]",
    "{}", "{a = 1}", "1979-05-27", "07:32:00", '"mean"', '"uniform"', "99999999999999999999",
]  # fmt: skip


def damaged(text: str, rng: random.Random) -> str:
    """The text with a few lines dropped, doubled, moved or given another value."""
    lines = text.splitlines()
    for _ in range(rng.randint(1, 4)):
        k = rng.randrange(len(lines))
        match rng.randrange(4):
            case 0 if len(lines) > 1:
                del lines[k]
            case 1:
                lines.insert(rng.randrange(len(lines)), lines[k])
            case 2:
                lines[k] = lines[k].split("=")[0] + "= " + rng.choice(VALUES)
            case _:
                cut = rng.randrange(len(lines[k]) + 1)
                lines[k] = lines[k][:cut] + rng.choice(["", "#", '"', "]", "\x00", "=", "é"])
    return "\n".join(lines)


@given(st.randoms(use_true_random=False), st.sampled_from([TEXT, HEAD + CLIENTS, drawn(n="3")]))
@settings(deadline=None, max_examples=400)
def test_damage_never_ends_in_anything_but_a_refusal(rng: random.Random, text: str) -> None:
    try:
        scenario = parse(damaged(text, rng))
    except InvalidScenario as error:
        assert error.problems
        return
    assert scenario.types().size == scenario.weights.size == len(scenario.clients)


def tables_of(root: type[BaseModel]) -> dict[str, type[BaseModel]]:
    """Every table of the schema, by its class name."""
    found = {root.__name__: root}
    for field in root.model_fields.values():
        found |= {k: v for part in parts(field.annotation) for k, v in tables_of(part).items()}
    return found


def parts(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in get_args(annotation) for model in parts(inner)]


def test_the_reference_page_names_every_key() -> None:
    page = (ROOT / "docs" / "reference" / "scenario.md").read_text()
    keys = {key for model in tables_of(Scenario).values() for key in model.model_fields}
    assert len(keys) > 25
    assert not {key for key in keys if f"`{key}`" not in page}
