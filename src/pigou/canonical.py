"""One byte string for one value: what digests and signatures are taken over.

JSON with sorted keys and no spaces. A float is its exact hexadecimal form, so that no decimal
rounding can change a digest; an array is its type, its shape and the sha256 of its
little-endian bytes. Minus zero counts as zero. A float and its hexadecimal form as a string are
not told apart: what is digested has fixed fields of fixed types.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDEST = 8  # bytes of an array's element; wider floats hold bytes that mean nothing


def canonical_bytes(value: object) -> bytes:
    """The canonical bytes of numbers, strings, arrays, and lists and mappings of them."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":")).encode("ascii")


def digest(value: object) -> str:
    """sha256 of the canonical bytes, in hexadecimal."""
    return hashlib.sha256(canonical_bytes(value)).hexdigest()


def _plain(value: object) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return (value + 0.0).hex()
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_plain(item) for item in value]
    raise TypeError(f"no canonical form for {type(value).__name__}")


def _array(array: NDArray[Any]) -> dict[str, object]:
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > WIDEST:
        raise TypeError(f"no canonical form for arrays of {array.dtype}")
    positive_zero = array + array.dtype.type(0) if array.dtype.kind == "f" else array
    little = np.ascontiguousarray(positive_zero.astype(array.dtype.newbyteorder("<"), copy=False))
    content = hashlib.sha256(little.data).hexdigest()
    return {"dtype": little.dtype.str, "shape": list(array.shape), "sha256": content}
