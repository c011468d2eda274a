"""MNIST: the four raw idx files, known by their sha256 and by nothing else."""

import hashlib
import os
import struct
import sys
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pigou.errors import InvalidArgument, PigouError
from pigou.federation.datasets import Dataset, with_bias

SHA256: Final = {
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}
BRIGHTEST: Final = 255.0
UNSIGNED_BYTES: Final = 0x08  # idx: two zero bytes, the type, the number of axes, their lengths


class CorruptFile(InvalidArgument):
    """A file whose bytes are not the pinned ones; they are never used."""


class DataMissing(PigouError):  # noqa: N818
    """Data that has to be fetched first, or could not be."""


def data_folder(folder: Path | None = None) -> Path:
    """Where data sets live: the argument, else PIGOU_DATA, else the user's cache folder."""
    if folder is not None:
        return folder
    named = os.environ.get("PIGOU_DATA")
    if named:
        return Path(named)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "pigou"
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME"
    base = os.environ.get(variable)
    return (Path(base) if base else Path.home() / ".cache") / "pigou"


def mnist(folder: Path | None = None) -> Dataset:
    """70,000 samples of 28 x 28 pixels: the training set, then the test set from row 60,000 on."""
    place = data_folder(folder)
    arrays = {name: _read(place, name) for name in SHA256}
    images = [arrays["train-images-idx3-ubyte"], arrays["t10k-images-idx3-ubyte"]]
    labels = [arrays["train-labels-idx1-ubyte"], arrays["t10k-labels-idx1-ubyte"]]
    pixels = np.concatenate([image.reshape(len(image), -1) for image in images])
    y = np.concatenate(labels).astype(np.int64)
    return Dataset(with_bias(pixels, BRIGHTEST), y, "mnist", tuple(range(10)), len(images[0]))


def verified(name: str, content: bytes) -> bytes:
    """The content, if it has the pinned sha256 of the file so named."""
    received = hashlib.sha256(content).hexdigest()
    if received != SHA256[name]:
        raise CorruptFile(name, f"must have the sha256 {SHA256[name]}", received)
    return content


def to_idx(array: NDArray[np.uint8]) -> bytes:
    """The array as an idx file of unsigned bytes."""
    header = struct.pack(f">HBB{array.ndim}I", 0, UNSIGNED_BYTES, array.ndim, *array.shape)
    return header + np.ascontiguousarray(array).tobytes()


def from_idx(content: bytes) -> NDArray[np.uint8]:
    """The array in an idx file of unsigned bytes whose content has been verified."""
    axes = content[3]
    shape = struct.unpack_from(f">{axes}I", content, 4)
    return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * axes).reshape(shape)


def _read(folder: Path, name: str) -> NDArray[np.uint8]:
    try:
        content = (folder / name).read_bytes()
    except OSError as error:
        found = f"not found in {folder} ({error.strerror}): run `pigou data fetch mnist`"
        raise DataMissing(f"{name} {found}") from error
    return from_idx(verified(name, content))
