"""What is announced and what is owed: Terms, Settlement, Statement and Round.

Frozen values that cross rooms. They check themselves and hold no other logic; their identity
is the sha256 of their canonical bytes. Amounts of money are integers, in micro-units.
"""

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pigou.canonical import digest
from pigou.checks import (
    BoolArray,
    FloatArray,
    count,
    is_number,
    noise_levels,
    non_negative,
    number,
    simplex,
    vector,
)
from pigou.errors import Shown, TooFewClients, require

IntArray = NDArray[np.int64]
RefundRule = Literal["zero-sum", "constant"]


@dataclass(frozen=True)
class Interval:
    """All numbers from low to high: a report space, where a tuple of numbers is a menu."""

    low: float
    high: float

    def __post_init__(self) -> None:
        ends = (self.low, self.high)
        ordered = is_number(self.low) and is_number(self.high) and self.low <= self.high
        require(ordered, "low, high", "must be finite numbers, low <= high", ends)


Reports = Interval | tuple[float, ...] | tuple[Interval, Interval]  # the last: (alpha, spread)

MICRO = 1_000_000  # micro-units in one unit of currency


@dataclass(frozen=True, eq=False)
class Terms:
    """The contract of one run for one set of clients, as announced before uploads.

    ``unit_price`` is b, per unit of noise variance and for the whole run; ``charge`` is b-hat,
    the coefficient on the squared deviation that makes the net slope b once refunds are counted.
    """

    mechanism: str
    weights: FloatArray  # rho; 0: inactive, neither charged nor refunded
    unit_price: FloatArray
    sigma: FloatArray | None = None  # announced target noise; None where there is none
    transfers: FloatArray = field(default_factory=lambda: np.zeros(0))  # charged, once
    rounds: int = 1
    money: float = 1.0  # units of currency per unit of cost
    refund: RefundRule = "zero-sum"
    constant_refund: float = 0.0  # q of section 3, per client and run; for refund="constant"
    error: float | None = None  # the error of the aggregate that the prices were made for
    charge: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        require(isinstance(self.mechanism, str), "mechanism", "must be a name", self.mechanism)
        n = len(vector("weights", self.weights))
        put(self, "weights", simplex("weights", self.weights, n))
        put(self, "unit_price", non_negative("unit_price", self.unit_price, n))
        none = isinstance(self.transfers, np.ndarray) and self.transfers.size == 0
        put(self, "transfers", vector("transfers", np.zeros(n) if none else self.transfers))
        held = self.transfers.size
        require(held == n, "transfers", f"must hold {n} values, one per client", held)
        put(self, "rounds", count("rounds", self.rounds))
        put(self, "money", number("money", self.money, above_zero=True))
        known = self.refund in ("zero-sum", "constant")
        require(known, "refund", 'must be "zero-sum" or "constant"', self.refund)
        put(self, "constant_refund", number("constant_refund", self.constant_refund))
        if self.error is not None:
            put(self, "error", number("error", self.error))
        if self.sigma is not None:
            put(self, "sigma", _targets(self.sigma, self.active))
        priced_idle = self.unit_price[(self.weights == 0) & (self.unit_price > 0)]
        require(priced_idle.size == 0, "unit_price", "must be 0 where weight is 0", priced_idle)
        charge = _charge(self.unit_price, self.weights > 0, self.refund)
        charge.flags.writeable = False
        put(self, "charge", charge)

    @property
    def active(self) -> BoolArray:
        """Clients of weight > 0, which are the ones compared and billed."""
        return self.weights > 0

    @property
    def coefficient(self) -> FloatArray:
        """What one unit of deviation costs in one round, in currency: b-hat money / T."""
        return np.asarray(self.charge * self.money / self.rounds)

    @cached_property
    def digest(self) -> str:
        """sha256 of the canonical bytes: the identity of these terms."""
        return digest({f.name: getattr(self, f.name) for f in fields(self)})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Terms) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[type["Terms"], tuple[object, ...]]:
        """Copies and pickles are made anew: checked, and their arrays read-only."""
        return type(self), tuple(getattr(self, f.name) for f in fields(self) if f.init)


@dataclass(frozen=True, eq=False)
class Settlement:
    """One round's bills, per client; zeros for clients that are not billed."""

    billed: BoolArray
    deviation: FloatArray  # D_i, per coordinate
    charge: IntArray  # micro-units
    refund: IntArray  # micro-units
    noise: FloatArray  # unbiased estimate of sigma_i^2 + v_i + divergence; may be negative

    @property
    def net(self) -> IntArray:
        """Charge minus refund: positive where the client owes."""
        return self.charge - self.refund

    @property
    def reserve(self) -> int:
        """What the reserve receives; 0 with zero-sum refunds."""
        return sum(self.net.tolist())


@dataclass(frozen=True)
class Statement:
    """One client's bill for one round, with all it takes to recompute it (amounts: micro-units)."""

    consortium: str
    run: str
    round: int
    client: str
    billed: int  # N: how many clients were compared
    deviation: float
    coefficient: float  # units of currency per unit of deviation, this round
    charge: int
    refund: int
    total_charge: int  # over all clients
    refundable: bool  # False: barred from refunds this round
    barred: int  # how many of the billed clients were barred
    barred_charge: int  # their share of total_charge
    terms: str  # digest of the Terms
    upload: str  # digest of the upload that was billed
    mean: str  # digest of the mean of all billed uploads
    currency: str
    constant_refund: int | None = None  # the same for everyone entitled; None: charges are shared

    @property
    def net(self) -> int:
        """Charge minus refund: positive where the client owes."""
        return self.charge - self.refund


@dataclass(frozen=True)
class Round:
    """One settled round, ready to be posted: statements and what the reserve receives."""

    consortium: str
    run: str
    round: int  # 0: the report transfers, charged once when reports close
    kind: Literal["round", "transfers"]
    currency: str
    terms: str
    statements: tuple[Statement, ...]
    reserve: int = 0

    def __post_init__(self) -> None:
        owed = sum(statement.net for statement in self.statements)
        require(
            owed == self.reserve, "reserve", f"must equal the clients' sum, {owed}", self.reserve
        )


@dataclass(frozen=True)
class SignedHead:
    """Where a ledger stood after one entry, signed with the ledger's key."""

    ledger: str  # the ledger's identity
    entry: int  # the number of the entry, from 1
    hash: str  # of the entry and of all before it
    statements: str  # root of the hash tree over the entry's statements
    signature: str


@dataclass(frozen=True)
class SignedStatement:
    """A statement, and its way through the hash tree to a signed head: one signature signs all."""

    statement: Statement
    path: tuple[str, ...]  # the tree's other half at each level, from the leaf up
    head: SignedHead


@dataclass(frozen=True)
class Posted:
    """What a ledger answers when a round is in it: what to release to the clients."""

    head: SignedHead
    statements: tuple[SignedStatement, ...]
    new: bool  # False: the same round was there already, and nothing was written


def _charge(price: FloatArray, active: BoolArray, refund: RefundRule) -> FloatArray:
    """b-hat of section 3: the charge whose slope, net of the refund it feeds, is b."""
    if refund == "constant" or not price.any():
        return np.array(price)
    n = int(np.count_nonzero(active))
    if n < 3:
        what = "must be positive for 3 clients or more with zero-sum refunds"
        raise TooFewClients("weights", what, n)
    back = 1.0 / (n - 1) ** 3
    with np.errstate(over="ignore"):
        total = price[active].sum() / (1.0 + back - n * back)
        charge = np.where(active, (price + back * total) / (1.0 + back), 0.0)
    require(np.isfinite(charge).all(), "unit_price", "must have a finite sum", price.max())
    return charge


def _targets(sigma: ArrayLike, active: BoolArray) -> FloatArray:
    targets = noise_levels("sigma", sigma, active.size).copy()
    unlimited = np.flatnonzero(active & np.isinf(targets))
    at = unlimited[:3].tolist()
    require(not at, "sigma", "must be finite where weight is positive", Shown(f"infinity at {at}"))
    targets.flags.writeable = False
    return targets
