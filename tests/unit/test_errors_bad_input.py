"""Every kind of bad input, from Python: which error, which argument, which constraint and value."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pigou import (
    AccuracyLoss,
    Degenerate,
    Game,
    InvalidArgument,
    PigouError,
    Setting,
    TooFewClients,
    equilibrium,
    optimum,
    solve,
)
from pigou.mechanisms import Pigouvian, Unpriced, billing

NAN, INF = float("nan"), float("inf")
GOOD = AccuracyLoss(1.0, 1.0)


def setting(n: Any = 3, **changes: Any) -> Setting:
    return Setting(**{"n": n, "loss": GOOD, "privacy_scale": 0.5, **changes})


def game(alpha: Any = (0.2, 0.5, 0.8), **changes: Any) -> Game:
    return Game(setting(**changes), alpha)


def bill(updates: Any, **changes: Any) -> Any:
    terms = Pigouvian().terms(setting(), [0.2, 0.5, 0.8])
    return billing.statements(updates, terms, **changes)


def case(
    call: Callable[[], Any],
    argument: str,
    constraint: str,
    received: str,
    error: type[PigouError] = InvalidArgument,
) -> Any:
    message = f"{argument} {constraint}; received {received}"
    return pytest.param(call, error, message, id=message)


NUMBER = "must be a finite number >= 0"
POSITIVE = "must be a finite number > 0"
COUNT = "must be a whole number >= 1"
THREE = "must hold 3 values, one per client"
FINITE = "must be finite"
NOT_NEGATIVE = "must not be negative"
NOT_EMPTY = "must not be empty"
IN_RANGE = "must lie in [0, 1]"
NOISE = "must be >= 0, and not NaN"
INDICES = "must hold indices in [0, 2]"
REAL = "must hold real numbers"
SILENT = "must not be 0 for every client when spread is 0"

CASES = [
    # the loss
    case(lambda: AccuracyLoss(-1, 1), "linear", NUMBER, "-1"),
    case(lambda: AccuracyLoss(1, NAN), "quadratic", NUMBER, "nan"),
    case(lambda: AccuracyLoss(INF, 1), "linear", NUMBER, "inf"),
    case(lambda: AccuracyLoss(0, 0), "linear, quadratic", "must not both be 0", "(0.0, 0.0)"),
    case(lambda: AccuracyLoss("1", 1), "linear", NUMBER, "'1'"),  # type: ignore[arg-type] # wrong on purpose
    case(lambda: AccuracyLoss.bound(0, 2), "kappa", POSITIVE, "0"),
    case(lambda: AccuracyLoss.bound(1, -2), "smoothness", POSITIVE, "-2"),
    case(lambda: AccuracyLoss.bound(1, 1e-320), "quadratic", NUMBER, "inf"),
    # the setting
    case(lambda: setting(n=0), "n", COUNT, "0"),
    case(lambda: setting(n=2.5), "n", COUNT, "2.5"),
    case(lambda: setting(loss=1.0), "loss", "must be an AccuracyLoss", "1.0"),
    case(lambda: setting(privacy_scale=0), "privacy_scale", POSITIVE, "0"),
    case(lambda: setting(privacy_scale=-1), "privacy_scale", POSITIVE, "-1"),
    case(lambda: setting(privacy_scale=INF), "privacy_scale", POSITIVE, "inf"),
    case(lambda: setting(weights="size"), "weights", 'must be "mean" or an array', "'size'"),
    case(lambda: setting(weights=[0.5, 0.5]), "weights", THREE, "2"),
    case(lambda: setting(weights=[0.5, 0.6, -0.1]), "weights", NOT_NEGATIVE, "-0.1"),
    case(
        lambda: setting(weights=[0.5, 0.25, 0.5]),
        "weights",
        "must sum to 1 within 1e-09",
        "sum 1.25",
    ),
    case(lambda: setting(weights=[0.5, NAN, 0.5]), "weights", FINITE, "[nan]"),
    case(lambda: setting(weights=[]), "weights", NOT_EMPTY, "array([], dtype=float64)"),
    case(lambda: setting(spread=-1), "spread", NUMBER, "-1"),
    case(lambda: setting(spread=[0, 1, -2]), "spread", NOT_NEGATIVE, "-2.0"),
    case(lambda: setting(spread=[0, 1]), "spread", THREE, "2"),
    case(lambda: setting(spread=NAN), "spread", NUMBER, "nan"),
    case(lambda: setting(divergence=-1), "divergence", NUMBER, "-1"),
    case(lambda: setting(divergence=[INF, 1, 1]), "divergence", FINITE, "[inf]"),
    case(lambda: Setting.data_size([1, -1], GOOD, 1), "sizes", NOT_NEGATIVE, "-1.0"),
    case(lambda: Setting.data_size([0, 0], GOOD, 1), "sizes", "must not all be 0", "[0, 0]"),
    case(lambda: setting().restricted([3]), "present", INDICES, "[3]"),
    case(lambda: setting().restricted([True]), "present", "must hold 3 booleans", "shape (1,)"),
    case(
        lambda: setting().restricted([]), "present", "must leave a client of positive weight", "[]"
    ),
    # the game
    case(lambda: Game(None, [0.5]), "setting", "must be a Setting", "None"),  # type: ignore[arg-type] # wrong on purpose
    case(lambda: game([]), "alpha", NOT_EMPTY, "array([], dtype=float64)"),
    case(lambda: game([0.1, 0.2]), "alpha", THREE, "2"),
    case(lambda: game([[0.1, 0.2, 0.3]]), "alpha", "must be one-dimensional", "shape (1, 3)"),
    case(lambda: game([0.1, 0.2, 1.3]), "alpha", IN_RANGE, "1.3"),
    case(lambda: game([0.1, -0.2, 0.3]), "alpha", IN_RANGE, "-0.2"),
    case(lambda: game([0.1, NAN, 0.3]), "alpha", FINITE, "[nan]"),
    case(lambda: game([0.1, INF, 0.3]), "alpha", FINITE, "[inf]"),
    case(lambda: game(["a", "b", "c"]), "alpha", REAL, "['a', 'b', 'c']"),
    case(lambda: game().costs([1, 2]), "sigma", THREE, "shape (2,)"),
    case(lambda: game().error([1, 2, -3]), "sigma", NOISE, "-3.0"),
    case(lambda: game().social_cost([1, 2, NAN]), "sigma", NOISE, "nan"),
    # solutions
    case(lambda: equilibrium(game(), [1, 2]), "unit_price", THREE, "2"),
    case(lambda: equilibrium(game(), [1, -2, 1]), "unit_price", NOT_NEGATIVE, "-2.0"),
    case(lambda: equilibrium(game(), [1, NAN, 1]), "unit_price", FINITE, "[nan]"),
    case(lambda: equilibrium(game(), -1), "unit_price", NUMBER, "-1"),
    case(
        lambda: optimum(game([1, 1, 1])),
        "alpha",
        "must not be 1 for every client: no finite optimum",
        "array([1., 1., 1.])",
        Degenerate,
    ),
    case(lambda: optimum(game([0, 0, 0])), "alpha", SILENT, "array([0., 0., 0.])", Degenerate),
    case(lambda: equilibrium(game([0, 0, 0])), "alpha", SILENT, "array([0., 0., 0.])", Degenerate),
    # mechanisms
    case(
        lambda: Pigouvian().terms(setting(1), [0.5]),
        "weights",
        "must be positive for 3 clients or more with zero-sum refunds",
        "1",
        TooFewClients,
    ),
    case(
        lambda: Pigouvian().terms(setting(2), [0.5, 0.6]),
        "weights",
        "must be positive for 3 clients or more with zero-sum refunds",
        "2",
        TooFewClients,
    ),
    case(
        lambda: Pigouvian(refund="constant").terms(setting(1), [0.5]),
        "weights",
        "must be positive for 2 clients or more with constant refunds",
        "1",
        TooFewClients,
    ),
    case(lambda: Pigouvian().terms(setting()), "reports", "must hold one type per client", "None"),
    case(lambda: Pigouvian().terms(setting(), [0.1, 0.2, 2]), "reports", IN_RANGE, "2.0"),
    case(lambda: Unpriced().terms(setting(), present=[7]), "present", INDICES, "[7]"),
    case(lambda: Unpriced(rounds=0), "rounds", COUNT, "0"),
    case(lambda: Pigouvian(money=-1), "money", POSITIVE, "-1"),
    case(lambda: Pigouvian(refund="x"), "refund", 'must be "zero-sum" or "constant"', "'x'"),  # type: ignore[arg-type] # wrong on purpose
    # uploads
    case(
        lambda: bill([[1, 2], [1, 2], [1]]),
        "updates[2]",
        "must have the shapes of client 0's, [(), ()]",
        "[()]",
    ),
    case(
        lambda: bill([np.ones(2), np.ones(3), np.ones(2)]),
        "updates[1]",
        "must have the shapes of client 0's, [(2,)]",
        "[(3,)]",
    ),
    case(lambda: bill(np.ones((2, 4))), "updates", "must hold 3 rows, one per client", "2"),
    case(
        lambda: bill(np.array([[1, 2], [NAN, 2], [1, 2]])), "updates[1]", FINITE, "NaN or infinity"
    ),
    case(lambda: bill(np.ones((3, 2), complex)), "updates", REAL, "dtype complex128"),
    case(lambda: bill(np.ones((3, 0))), "updates", "must hold at least one number", "0"),
    case(lambda: bill(np.ones((3, 2)), barred=[5]), "barred", INDICES, "[5]"),
    case(
        lambda: bill(np.ones((3, 2)), barred=[0, 1]),
        "barred",
        "must leave 2 clients or more entitled to refunds",
        "1",
        TooFewClients,
    ),
    case(
        lambda: billing.statements(np.ones((1, 2)), Unpriced().terms(setting(1))),
        "updates",
        "must come from 2 active clients or more",
        "1",
        TooFewClients,
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), CASES)
def test_bad_input(call: Callable[[], Any], error: type[PigouError], message: str) -> None:
    with pytest.raises(PigouError) as caught:
        call()
    assert type(caught.value) is error
    assert isinstance(caught.value, ValueError)
    assert str(caught.value) == message
    assert str(pickle.loads(pickle.dumps(caught.value))) == message


@pytest.mark.parametrize("solver", [optimum, equilibrium])
@pytest.mark.parametrize("alpha", [[0.0] * 3, [1.0] * 3])
def test_degenerate_games_are_refused_before_any_iteration(
    solver: Callable[[Game], Any], alpha: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    for step in ("unpriced", "closed_form"):
        monkeypatch.setattr(solve, step, None)
    if solver is equilibrium and alpha[0] == 1.0:
        assert equilibrium(game(alpha)).status.clients == (0, 1, 2)  # no error: they all hide
    else:
        with pytest.raises(Degenerate):
            solver(game(alpha))


def test_a_price_is_checked_before_the_game_is_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    for step in ("_priced", "_unpriced"):
        monkeypatch.setattr(solve, step, None)
    with pytest.raises(InvalidArgument, match="unit_price must hold 3 values"):
        equilibrium(game(), [1.0])
