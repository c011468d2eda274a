"""Models and pigou's own messages as Flower's records.

A model travels in the one ArrayRecord of a message, in the app's own way. Beside it stands one
ConfigRecord named "pigou", which the app's functions never see. Only floating-point arrays are
trained, noised and billed; all others go back as they came, so that they reveal nothing.
"""

import io
import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, RecordDict
from numpy.lib import format as npy
from numpy.typing import NDArray

from pigou.canonical import digest
from pigou.errors import InvalidArgument, Shown, require
from pigou.federation.audit import AuditRule
from pigou.federation.protocol import Announcement, Report
from pigou.federation.wire import Codec
from pigou.game import AccuracyLoss
from pigou.terms import Interval, SignedHead, SignedStatement, Statement, Terms

PIGOU: Final = "pigou"
QUERY: Final = "query.pigou"  # the type of pigou's own messages
NUMPY: Final = "numpy.ndarray"  # Flower's name for the bytes that numpy.save writes
WIDEST: Final = 8  # bytes of one number, as the intake takes them
UNREADABLE: Final = (  # what NumPy and Python's parser raise for a header that is not one
    *(ValueError, TypeError, OverflowError),
    *(LookupError, RecursionError, MemoryError),
)
MESSAGE_CLASSES: Final = (
    *(Announcement, AuditRule, Report, Terms, AccuracyLoss, Interval),
    *(Statement, SignedStatement, SignedHead),
)
CODEC: Final = Codec(MESSAGE_CLASSES)

Numbers = NDArray[Any]
Model = tuple[Numbers, ...]


def view(array: Array) -> Numbers:
    """The numbers of a Flower array, read-only and where they are; Flower's own reader copies."""
    require(array.stype == NUMPY, "array", f"must be serialised as {NUMPY}", array.stype)
    stream = io.BytesIO(array.data)
    try:
        version = npy.read_magic(stream)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = read(stream)
        plain = not dtype.hasobject and all(type(n) is int and n >= 0 for n in shape)
        require(plain, "array", "must hold numbers", Shown(f"{dtype} of shape {shape}"))
        size, start = math.prod(shape), stream.tell()
        flat = np.frombuffer(array.data, dtype, count=size, offset=start) if size else None
        numbers = np.empty(0, dtype) if flat is None else flat
        return numbers.reshape(shape, order="F" if fortran else "C")
    except UNREADABLE as error:
        raise InvalidArgument("array", "must be readable", str(error)) from error


def trained_names(record: ArrayRecord) -> tuple[str, ...]:
    """The arrays that are trained and billed: those of floating-point numbers."""
    return tuple(name for name, array in record.items() if view(array).dtype.kind == "f")


def views(record: ArrayRecord, names: Iterable[str]) -> Model:
    """The arrays of these names, in this order."""
    return tuple(view(record[name]) for name in names)


def with_arrays(record: ArrayRecord, replaced: Mapping[str, Array]) -> ArrayRecord:
    """The record with some of its arrays replaced."""
    return ArrayRecord({name: replaced.get(name, array) for name, array in record.items()})


def upload_digest(model: Model) -> str:
    """What uploads are signed and billed under, as in a statement."""
    return digest(list(model))


def only_arrays(content: RecordDict) -> tuple[str, ArrayRecord]:
    """The one ArrayRecord of a message, and its name."""
    found = list(content.array_records.items())
    require(len(found) == 1, "message", "must hold exactly one ArrayRecord", len(found))
    name, record = found[0]
    return name, record


def note_in(content: RecordDict) -> ConfigRecord:
    """pigou's record in a message."""
    found = content.config_records.get(PIGOU)
    if found is None:
        raise InvalidArgument("message", f'must hold a ConfigRecord "{PIGOU}"', list(content))
    return found


def field(note: ConfigRecord, name: str, kind: type) -> Any:
    """One field of pigou's record, of the type that it must have."""
    value = note.get(name)
    fine = type(value) is kind
    require(fine, name, f"must be {kind.__name__} in pigou's record", type(value).__name__)
    return value


def without_note(content: RecordDict) -> RecordDict:
    """The same records without pigou's: what the app's functions and the inner strategy see."""
    return RecordDict({name: record for name, record in content.items() if name != PIGOU})
