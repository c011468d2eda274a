"""What a run leaves behind, as frozen values that reports, tables and tests read.

Arrays run over rounds (T of them, fewer where a run stopped early) and clients (N). Money is in
units of currency. NaN stands where there is nothing: no upload, no bill, no estimate.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from pigou.checks import BoolArray, FloatArray
from pigou.errors import InvalidArgument, require
from pigou.federation.attacks import Attack
from pigou.terms import MICRO

TreatmentName = Literal["no noise", "unpriced", "priced"]
TREATMENTS: Final[tuple[TreatmentName, ...]] = ("no noise", "unpriced", "priced")
Words = NDArray[np.str_]


@dataclass(frozen=True, kw_only=True, eq=False)
class CalibrationRecord:
    """The accuracy loss, measured and fitted (section 10); losses are training losses."""

    rounds: int
    levels: FloatArray  # Delta, per coordinate
    excess: FloatArray  # measured: loss after the run with this noise, minus without
    excess_error: FloatArray  # its standard error
    fitted: FloatArray  # linear * Delta + quadratic * Delta^2
    bounded: FloatArray  # the paper's bound
    linear: float
    quadratic: float
    linear_error: float  # standard errors
    quadratic_error: float
    smoothness: float  # L_F
    distance: float  # |w0 - w*|


@dataclass(frozen=True, kw_only=True, eq=False)
class HeterogeneityRecord:
    """How honest updates differ, per client: measured (section 10)."""

    spread: FloatArray  # (N,) v_i
    divergence: FloatArray  # (N,) u_i


@dataclass(frozen=True, kw_only=True)
class CertificateRecord:
    """The verdict on the terms of round 1 (section 7)."""

    ok: bool
    max_gain: float  # as a share of the client's own cost
    worst_client: str
    ratio_to_optimum: float
    ratio_to_best_weights: float
    budget_residual: float  # expected, in units of cost
    better_off: float  # share of clients better off than without prices
    text: str  # the certificate in sentences


@dataclass(frozen=True, kw_only=True)
class AttacksRecord:
    """What cheating would bring on the run's own task (section 9)."""

    seeds: int  # runs behind each mean
    found: tuple[Attack, ...]


@dataclass(frozen=True, kw_only=True)
class RefusalRecord:
    """One refused message; round 0 is the time of reports."""

    round: int
    client: str
    reason: str
    detail: str


@dataclass(frozen=True, kw_only=True, eq=False)
class TreatmentRecord:
    """One treatment of one run."""

    name: TreatmentName
    mechanism: str
    loss: FloatArray  # (T + 1,) training loss before round 1 and after each round
    accuracy: FloatArray  # (T + 1,) share of test samples that the model gets right
    sigma: FloatArray  # (T, N) noise played; NaN where a client uploaded nothing
    target: FloatArray | None  # (T, N) announced noise; None where the mechanism announces none
    charge: FloatArray  # (T, N) NaN where unbilled
    refund: FloatArray  # (T, N)
    transfers: FloatArray  # (N,) charged once, when reports close
    error_true: FloatArray  # (T,) Delta of the noise played
    error_estimate: FloatArray  # (T,) as the deviations show it; NaN where they show nothing
    social_cost: FloatArray  # (T,) at the noise played, before money
    optimum: float  # the least social cost for the committed weights
    flags: Words  # (T, N) of the noise audit, in the words of federation.audit.Flag
    notes: tuple[str, ...]  # (T,) what the round has to say; mostly empty
    refusals: tuple[RefusalRecord, ...]
    epsilon: FloatArray  # (N,) exact epsilon at the run's delta, after all rounds
    paper_epsilon: FloatArray  # (N,) c S / sigma of the least noisy release
    paper_condition: BoolArray  # (N,) whether it is below 1, as its proof needs
    conducts: tuple[str, ...]  # (N,) how each client behaves in this treatment
    certificate: CertificateRecord | None  # of the priced treatment
    stopped: str  # why the run ended early; empty if it did not

    def __post_init__(self) -> None:
        rounds, n = self.sigma.shape
        shapes = {
            "loss": (rounds + 1,),
            "accuracy": (rounds + 1,),
            "charge": (rounds, n),
            "refund": (rounds, n),
            "transfers": (n,),
            "error_true": (rounds,),
            "error_estimate": (rounds,),
            "social_cost": (rounds,),
            "flags": (rounds, n),
            "epsilon": (n,),
            "paper_epsilon": (n,),
            "paper_condition": (n,),
        }
        for name, shape in shapes.items():
            given = getattr(self, name).shape
            require(given == shape, name, f"must have the shape {shape}", given)
        if self.target is not None:
            given = self.target.shape
            require(given == (rounds, n), "target", f"must have the shape {(rounds, n)}", given)
        require(len(self.notes) == rounds, "notes", f"must hold {rounds}", len(self.notes))
        require(len(self.conducts) == n, "conducts", f"must hold {n}", len(self.conducts))

    @property
    def rounds(self) -> int:
        """How many rounds were closed."""
        return len(self.sigma)

    @cached_property
    def net(self) -> FloatArray:
        """(T, N) charge minus refund: positive where the client owes; NaN where unbilled."""
        return exact_sum(np.stack([self.charge, -self.refund]), axis=0)

    @cached_property
    def total(self) -> FloatArray:
        """(N,) what each client owes after the run, transfers included."""
        return exact_sum(np.concatenate([np.nan_to_num(self.net), self.transfers[None]]), axis=0)

    @cached_property
    def reserve(self) -> FloatArray:
        """(T,) what the reserve has received after each round, transfers included."""
        received = exact_sum(np.nan_to_num(self.net), axis=1)
        before = exact_sum(self.transfers, axis=0)
        return exact_sum(np.stack([np.cumsum(received), np.full(self.rounds, before)]), axis=0)

    @property
    def ratio(self) -> FloatArray:
        """(T,) social cost over the optimum."""
        return self.social_cost / self.optimum


def exact_sum(amounts: FloatArray, axis: int) -> FloatArray:
    """A sum of money as it is booked: to the micro-unit, without the rounding of floats."""
    return np.asarray(np.rint(np.rint(amounts * MICRO).sum(axis=axis)) / MICRO)


@dataclass(frozen=True, kw_only=True, eq=False)
class RunRecord:
    """One run: its treatments side by side, and what they share."""

    scenario: Mapping[str, Any]  # as resolved: every key, with measured values filled in
    run: str  # its name in statements and ledgers
    currency: str
    money: float  # units of currency per unit of cost
    rounds: int  # as planned
    clients: tuple[str, ...]
    alpha: FloatArray  # (N,) types, which only a simulation knows
    dim: int  # numbers in a model
    clip: float
    delta: float
    adjacency: str
    linear: float  # of the accuracy loss that prices were made with
    quadratic: float
    bound: tuple[float, float] | None  # the paper's linear and quadratic, where calibrated
    calibration: CalibrationRecord | None  # None where the scenario states the loss
    heterogeneity: HeterogeneityRecord | None  # None where the scenario states both
    split: str  # who holds which data, in one line
    family_error: float  # of the noise audit
    treatments: tuple[TreatmentRecord, ...] = field(default=())
    attacks: AttacksRecord | None = None  # None where they were not measured

    def __post_init__(self) -> None:
        n = len(self.clients)
        require(self.alpha.shape == (n,), "alpha", f"must hold {n} values", self.alpha.shape)
        for each in self.treatments:
            held = each.sigma.shape[1]
            require(held == n, f"treatments[{each.name}]", f"must be of {n} clients", held)

    def treatment(self, name: TreatmentName) -> TreatmentRecord:
        """The treatment of that name; an error if it was left out of the run."""
        for each in self.treatments:
            if each.name == name:
                return each
        there = ", ".join(each.name for each in self.treatments)
        raise InvalidArgument("name", f"must be one of {there}", name)
