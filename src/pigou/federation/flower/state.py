"""What a run on Flower goes on from: the coordinator's state, the model, and the inner strategy's
memory (momentum and the like), which Flower itself does not keep."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from flwr.app import Array, ArrayRecord
from flwr.serverapp.strategy import Strategy
from numpy.typing import NDArray

from pigou.errors import PigouError
from pigou.federation.flower.records import view
from pigou.federation.state import STATE_CLASSES, CoordinatorState
from pigou.federation.wire import Codec

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Saved:
    """A run between two rounds."""

    coordinator: CoordinatorState
    model: Arrays
    memory: Mapping[str, Arrays | tuple[NDArray[Any], ...]]


CODEC: Final = Codec([Saved, *STATE_CLASSES])


def save(coordinator: CoordinatorState, model: ArrayRecord, inner: Strategy) -> bytes:
    """The state as bytes."""
    arrays = {name: view(array) for name, array in model.items()}
    return CODEC.encode(Saved(coordinator, arrays, _memory(inner)))


def load(content: bytes) -> Saved:
    """The state again."""
    saved = CODEC.decode(content)
    if not isinstance(saved, Saved):
        raise PigouError("the ledger's state of this run is not one of Flower's engine")
    return saved


def model_of(saved: Saved) -> ArrayRecord:
    """The model as Flower has it."""
    return ArrayRecord({name: Array(part) for name, part in saved.model.items()})


def restore(inner: Strategy, saved: Saved) -> None:
    """Give the inner strategy its memory back."""
    for name, kept in saved.memory.items():
        setattr(inner, name, dict(kept) if isinstance(kept, Mapping) else list(kept))


def _memory(inner: Strategy) -> dict[str, Any]:
    """The attributes that are arrays by name, or lists of arrays."""
    kept: dict[str, Any] = {}
    for name, value in vars(inner).items():
        if isinstance(value, dict) and value and all(map(_is_array, value.values())):
            kept[name] = {key: np.asarray(part) for key, part in value.items()}
        elif isinstance(value, list) and value and all(map(_is_array, value)):
            kept[name] = tuple(np.asarray(part) for part in value)
    return kept


def _is_array(value: object) -> bool:
    return isinstance(value, np.ndarray | np.generic)  # of no dimensions: NumPy's scalars
