"""The task of all trained figures: a hundred clients, the paper's squared SVM, even against odd.

On MNIST it is the scenario of examples/mnist_hundred.toml; the quick form is the same on
scikit-learn's digits. Nothing in it was chosen after a run with noise: the clip is the largest norm
of an honest update in round 1, rounded up, the privacy scale is the paper's c S for that clip, the
loss is calibrated, and all else is the default of any scenario.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from pigou.federation.mnist import mnist
from pigou.report.words import number
from pigou.reproduce.part import Parameter, Request
from pigou.runs import Ready, prepare
from pigou.scenario import Scenario

N: Final = 100
ROUNDS: Final = 30

Tables = Mapping[str, Any]

MNIST: Final[Tables] = MappingProxyType(
    {
        "name": "A hundred clients on MNIST",
        "training": {"data": "mnist", "train": 1000, "test": 1000},
        "loss": {"calibrate": True},
        "privacy": {"clip": 0.04, "delta": 1e-5},
        "federation": {"rounds": ROUNDS},
        "mechanism": {"name": "pigouvian"},
        "population": {
            "n": N,
            "kind": "truncated-normal",
            "mean": 0.5,
            "sd": 0.2,
            "low": 0.02,
            "high": 0.98,
        },
    }
)
DIGITS: Final[Tables] = MappingProxyType(
    {
        **MNIST,
        "name": "A hundred clients on digits",
        "training": {"data": "digits", "train": 100, "test": 100},
        "privacy": {"clip": 0.1, "delta": 1e-5},
    }
)


def scenario(request: Request, changes: Tables = MappingProxyType({})) -> Scenario:
    """The task's scenario; ``changes`` go into its tables."""
    tables = dict(DIGITS if request.quick else MNIST)
    changed = {name: tables.get(name, {}) | more for name, more in changes.items()}
    return Scenario.model_validate(tables | changed | {"seed": request.seed})


def prepared(request: Request, changes: Tables = MappingProxyType({})) -> Ready:
    """The task, ready to run, its loss calibrated."""
    return prepare(scenario(request, changes), folder=request.data)


def check(request: Request) -> None:
    """The data are there; an error says how to get them."""
    if not request.quick:
        mnist(request.data)


def said(ready: Ready) -> str:
    """On which data, in one sentence."""
    table = ready.scenario.training
    assert table is not None
    return (
        f"Squared SVM on {table.data}, even against odd, {N} clients with {table.train:,} training "
        f"and {table.test:,} test samples each, {ROUNDS} rounds."
    )


def parameters(ready: Ready, used_in: str) -> tuple[Parameter, ...]:
    """What the paper does not state about the training, and what it is here."""
    found, table, privacy = ready.calibration, ready.scenario.training, ready.scenario.privacy
    assert found is not None
    assert table is not None
    assert privacy.clip is not None
    loss, errors = found.loss, found.loss_error
    linear, quadratic = (
        f"{number(value)} ± {number(error)}"
        for value, error in zip((loss.linear, loss.quadratic), errors, strict=True)
    )
    default = "default of every scenario"
    measured = "measured on the task before any priced run"
    rows = (
        ("lambda", "strength of the regularisation", number(table.regularisation), default),
        ("L_F", "smoothness of the training loss", number(found.smoothness), measured),
        ("step", "size of a gradient step", number(ready.task.step_size), "1 / L_F"),
        ("E", "gradient steps per round and client", str(table.steps), default),
        (
            "C = S",
            "norm that updates are clipped to",
            number(privacy.clip),
            "largest norm of an honest update in round 1, rounded up",
        ),
        ("delta", "of the privacy loss", number(privacy.delta), default),
        (
            "a = cS",
            "privacy scale",
            number(ready.setting.privacy_scale),
            "the paper's c = sqrt(2 ln(1.25 / delta)), times C",
        ),
        ("psi", "accuracy loss, per error", linear, measured),
        ("psi", "accuracy loss, per error squared", quadratic, measured),
        (
            "v",
            "spread: variance of an honest update, mean over clients",
            number(float(ready.setting.spread.mean())),
            measured,
        ),
    )
    return tuple(Parameter(*row, used_in) for row in rows)
