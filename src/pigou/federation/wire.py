"""Messages as bytes and back: JSON in which arrays, tuples and our own dataclasses are tagged.

Reading never executes anything: only the classes passed in can come out, by name, and each checks
itself as it is made. Floats survive to the bit, infinities and NaN included.
"""

import base64
import binascii
import json
import math
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pigou.errors import InvalidArgument, PigouError

PLAIN_KINDS = "fiub"  # dtype kinds that may travel: floats, integers, booleans
WIDEST = 8  # bytes of one number; wider floats differ from machine to machine
UNREADABLE = (  # what Python and NumPy raise for text that is not what it should be
    *(ValueError, TypeError, LookupError, AttributeError),
    *(ArithmeticError, SyntaxError, RecursionError),
)


class Codec:
    """Bytes for values of the given classes (frozen dataclasses and enums)."""

    def __init__(self, classes: Iterable[type]) -> None:
        self._classes = {each.__name__: each for each in classes}

    def encode(self, value: object) -> bytes:
        """The bytes of a value; equal values give equal bytes."""
        return json.dumps(self._plain(value), separators=(",", ":"), sort_keys=True).encode("ascii")

    def decode(self, data: bytes) -> Any:
        """The value of the bytes; a typed error for anything that ``encode`` cannot have made."""
        try:
            return self._value(json.loads(data, parse_constant=_refuse_constant))
        except PigouError:
            raise
        except UNREADABLE as error:
            raise InvalidArgument("message", f"must be readable: {error}", data[:60]) from error

    def _plain(self, value: object) -> Any:
        if isinstance(value, Enum):
            return {"#": type(value).__name__, "value": value.value}
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"#": "float", "value": repr(value)}
        if isinstance(value, np.ndarray):
            return _array_to_plain(value)
        if isinstance(value, tuple | list):
            return {"#": "tuple", "items": [self._plain(item) for item in value]}
        if isinstance(value, dict):
            return self._dict_to_plain(value)
        return self._object_to_plain(value)

    def _dict_to_plain(self, value: dict[Any, Any]) -> Any:
        if not all(isinstance(key, str) for key in value):
            raise TypeError("no wire form for keys that are not strings")
        return {"#": "dict", "items": [[key, self._plain(item)] for key, item in value.items()]}

    def _object_to_plain(self, value: object) -> Any:
        name = type(value).__name__
        if name not in self._classes or not is_dataclass(value):
            raise TypeError(f"no wire form for {name}")
        parts = {f.name: self._plain(getattr(value, f.name)) for f in fields(value) if f.init}
        return {"#": name, "fields": parts}

    def _value(self, plain: Any) -> Any:
        if not isinstance(plain, dict):
            if plain is None or isinstance(plain, bool | int | str | float):
                return plain
            raise TypeError("lists travel tagged")
        tag = plain["#"]
        if tag == "tuple":
            return tuple(self._value(item) for item in plain["items"])
        if tag == "dict":
            return {str(key): self._value(item) for key, item in plain["items"]}
        if tag == "array":
            return _array_from_plain(plain)
        if tag == "float":
            return float(plain["value"])
        known = self._classes[tag]
        if issubclass(known, Enum):
            return known(plain["value"])
        return known(**{str(name): self._value(item) for name, item in plain["fields"].items()})


def _array_to_plain(array: NDArray[Any]) -> dict[str, Any]:
    _require_plain(array.dtype)
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    content = base64.b64encode(np.ascontiguousarray(little).tobytes()).decode("ascii")
    return {"#": "array", "dtype": little.dtype.str, "shape": list(array.shape), "data": content}


def _array_from_plain(plain: dict[str, Any]) -> NDArray[Any]:
    dtype = np.dtype(str(plain["dtype"]))
    _require_plain(dtype)
    try:
        content = base64.b64decode(plain["data"], validate=True)
    except binascii.Error as error:
        raise ValueError(f"array data: {error}") from error
    shape = tuple(int(size) for size in plain["shape"])
    if any(size < 0 for size in shape):
        raise ValueError(f"shape {shape}")
    array = np.frombuffer(content, dtype=dtype).reshape(shape)
    return array.astype(dtype.newbyteorder("="), copy=False)


def _require_plain(dtype: np.dtype[Any]) -> None:
    if dtype.kind not in PLAIN_KINDS or dtype.itemsize > WIDEST:
        raise TypeError(f"no wire form for dtype {dtype}")


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} travels tagged")
