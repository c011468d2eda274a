"""One byte string for one value: what digests and signatures are taken over.

JSON with sorted keys and no spaces. A float is its exact hexadecimal form, so that no decimal
rounding can change a digest; an array is its type, its shape and the sha256 of its
little-endian bytes. Minus zero counts as zero. A float and its hexadecimal form as a string are
not told apart: what is digested has fixed fields of fixed types.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 16  # numbers digested at a time
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


def array_form(
    dtype: np.dtype[Any], shape: Sequence[int], blocks: Iterable[NDArray[Any]]
) -> dict[str, object]:
    """The canonical form of an array that is given block by block, in the order of its rows."""
    if dtype.kind not in "biuf" or dtype.itemsize > WIDEST:
        raise TypeError(f"no canonical form for arrays of {dtype}")
    little, content = dtype.newbyteorder("<"), hashlib.sha256()
    for block in blocks:
        positive_zero = block + dtype.type(0) if dtype.kind == "f" else block
        content.update(np.ascontiguousarray(positive_zero.astype(little, copy=False)).data)
    return {"dtype": little.str, "shape": list(shape), "sha256": content.hexdigest()}


def _array(array: NDArray[Any]) -> dict[str, object]:
    rows = array.reshape(-1) if array.flags.c_contiguous else array.flat  # no copy of the whole
    starts = range(0, array.size, BLOCK)
    return array_form(array.dtype, array.shape, (rows[i : i + BLOCK] for i in starts))
