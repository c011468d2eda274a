"""The four messages of the two-stage game: Announcement, Report, Update and Statement.

Stage I: the server announces rounds, weights, mechanism and prices, before reports and again
before each round. Stage II: clients report, upload, and receive their statements.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pigou.errors import require
from pigou.federation.audit import AuditRule
from pigou.federation.wire import Codec
from pigou.game import AccuracyLoss
from pigou.terms import Interval, Reports, Statement, Terms

Array = NDArray[np.floating[Any] | np.integer[Any]]
ReportValue = float | tuple[float, float]


@dataclass(frozen=True, eq=False)
class Announcement:
    """What the server says before reports (``round`` 0) and before each round.

    ``terms`` are None while they wait for reports. ``error`` is the last estimate of the
    aggregate's error that the deviations gave: public, as the bills are. The model travels beside
    the announcement, in the engine's own way.
    """

    consortium: str
    run: str
    round: int
    attempt: int  # of this round: above 1 where earlier ones were void
    rounds: int
    clients: tuple[str, ...]
    mechanism: str
    report_space: Reports | None
    loss: AccuracyLoss
    privacy_scale: float
    spread: NDArray[np.float64]
    divergence: NDArray[np.float64]
    currency: str
    largest: float  # absolute value of any uploaded number; beyond it the upload is refused
    audit: AuditRule
    terms: Terms | None = None
    error: float | None = None


@dataclass(frozen=True)
class Report:
    """What a client says of itself: alpha, or alpha and the spread of its updates."""

    run: str
    client: str
    value: ReportValue


@dataclass(frozen=True, eq=False)
class Update:
    """A client's upload for one round: its model after training and noise, layer by layer.

    ``arrays`` None is a withdrawal: the client says that it will not upload, and why.
    """

    run: str
    round: int
    attempt: int
    client: str
    arrays: tuple[Array, ...] | None
    note: str = field(default="")

    def __post_init__(self) -> None:
        listed = isinstance(self.arrays, tuple | list)
        real = listed and all(isinstance(part, np.ndarray) for part in self.arrays or ())
        known = real or self.arrays is None
        require(known, "arrays", "must be NumPy arrays, or None to withdraw", type(self.arrays))


CODEC = Codec([Announcement, AuditRule, Report, Update, Statement, Terms, AccuracyLoss, Interval])
