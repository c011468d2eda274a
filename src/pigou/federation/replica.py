"""A replica, one simulated run: what it is made of, and its state between rounds as bytes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pigou.errors import require
from pigou.federation.client import Cohort
from pigou.federation.conduct import CONDUCTS
from pigou.federation.coordinator import Coordinator
from pigou.federation.plan import Plan
from pigou.federation.state import STATE_CLASSES, CoordinatorState
from pigou.federation.wire import Codec

Rows = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True, eq=False)
class Replica:
    """One run to simulate: rules, clients, and the seed of all its noise."""

    plan: Plan
    cohorts: tuple[Cohort, ...]
    seed: int


@dataclass(eq=False)
class Running:
    """A replica under way, between rounds."""

    replica: Replica
    coordinator: Coordinator
    cohorts: tuple[Cohort, ...]
    model: Rows


@dataclass(frozen=True, eq=False)
class Saved:
    """All that changes from round to round: the plan and the data are the scenario's."""

    coordinator: CoordinatorState
    cohorts: tuple[Cohort, ...]
    model: Rows


def saved(running: Running) -> bytes:
    """A replica's state, to go on from to the bit."""
    kept = Saved(running.coordinator.state(), running.cohorts, running.model)
    return _codec(running.replica).encode(kept)


def resumed(replica: Replica, state: bytes) -> Running:
    """The replica, going on from a state that was saved under the same scenario."""
    kept = _codec(replica).decode(state)
    require(isinstance(kept, Saved), "state", "must be one that was saved", type(kept).__name__)
    shapes = (kept.model.shape,)
    coordinator = Coordinator.resume(replica.plan, shapes, kept.coordinator)
    return Running(replica, coordinator, kept.cohorts, kept.model)


def _codec(replica: Replica) -> Codec:
    """Conducts of one's own are known from the replica, which holds them from the start."""
    own = {type(cohort.conduct) for cohort in replica.cohorts}
    return Codec([Saved, Cohort, *CONDUCTS.values(), *own, *STATE_CLASSES])
