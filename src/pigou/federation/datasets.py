"""Data sets: features in [0, 1] with a bias column, labels as class numbers, frozen.

``load`` knows "digits" (it ships with scikit-learn), "mnist" (fetched once) and any .npz file.
"""

import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pigou.errors import InvalidArgument, require
from pigou.terms import IntArray

Features = NDArray[np.float32]
ARRAYS: Final = ("x", "y")


@dataclass(frozen=True, eq=False)
class Dataset:
    """n samples of d features, the last of them the constant 1 that carries the bias.

    ``y`` numbers the classes from 0; ``classes`` are the labels that the source gave them. Rows
    from ``test_from`` on are the source's own test set; without one, splits hold out their own.
    """

    x: Features
    y: IntArray
    name: str
    classes: tuple[int, ...]
    test_from: int | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        n = len(self.x)
        shaped = self.x.ndim == 2 and self.x.dtype == np.float32 and n > 0 and self.x.shape[1] > 1
        received = f"shape {self.x.shape}, dtype {self.x.dtype}"
        require(shaped, "x", "must be float32 of shape (samples, features and bias)", received)
        sound = bool(np.isfinite(self.x.sum(dtype=np.float64)))
        require(sound, "x", "must be finite", "NaN or infinity")
        ones = self.x[:, -1]
        require(bool((ones == 1).all()), "x", "must end in a column of ones", ones)
        labelled = self.y.shape == (n,) and self.y.dtype == np.int64
        received = f"shape {self.y.shape}, dtype {self.y.dtype}"
        require(labelled, "y", f"must hold {n} int64 class numbers", received)
        require(len(self.classes) >= 2, "classes", "must be 2 or more", self.classes)
        known = int(self.y.min()) >= 0 and int(self.y.max()) < len(self.classes)
        require(known, "y", f"must lie in [0, {len(self.classes) - 1}]", self.y)
        cut = self.test_from
        inside = cut is None or 0 < cut < n
        require(inside, "test_from", f"must lie strictly between 0 and {n}", cut)
        for name in ("x", "y"):
            view = getattr(self, name).view()
            view.flags.writeable = False
            put(self, name, view)

    @property
    def dim(self) -> int:
        """Features, bias included."""
        return int(self.x.shape[1])


def load(source: str, folder: Path | None = None) -> Dataset:
    """ "digits", "mnist" (from the data folder), or the path of an .npz file."""
    if source == "digits":
        return digits()
    if source == "mnist":
        from pigou.federation.mnist import mnist  # it builds a Dataset

        return mnist(folder)
    known = source.endswith(".npz")
    require(known, "data", 'must be "digits", "mnist" or the path of an .npz file', source)
    return from_npz(Path(source))


def digits() -> Dataset:
    """scikit-learn's handwritten digits: 1,797 samples of 8 x 8 pixels."""
    from sklearn.datasets import load_digits  # a second to import

    pixels, labels = load_digits(return_X_y=True)
    return Dataset(with_bias(pixels, 16.0), labels.astype(np.int64), "digits", tuple(range(10)))


def from_npz(path: Path) -> Dataset:
    """Your own arrays: x (samples, features) of real numbers and y (samples) of whole numbers.

    Columns that leave [0, 1] anywhere in x are scaled to it, each by its own range.
    """
    features, labels = _read(path)
    shaped = features.ndim == 2 and features.size > 0 and features.dtype.kind in "fiub"
    received = f"shape {features.shape}, dtype {features.dtype}"
    require(shaped, "x", "must be a two-dimensional array of real numbers", received)
    numbers = features.astype(np.float64)
    finite = np.isfinite(numbers)
    require(bool(finite.all()), "x", "must be finite", numbers[~finite][:3].tolist())
    classes, y = _classes(labels, len(numbers))
    return Dataset(with_bias(_scaled(numbers)), y, path.stem, classes)


def with_bias(features: NDArray[Any], largest: float = 1.0) -> Features:
    """The features divided by ``largest``, as float32, with a last column of ones."""
    n, columns = features.shape
    x = np.ones((n, columns + 1), dtype=np.float32)
    np.divide(features, np.float32(largest), out=x[:, :-1], casting="same_kind")
    return x


def _read(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    try:
        with path.open("rb") as file:  # np.load leaves a broken file open
            archive = np.load(file, allow_pickle=False)
            named = isinstance(archive, np.lib.npyio.NpzFile)
            require(named, str(path), "must be an .npz file", "a single array")
            names = tuple(sorted(archive.files))
            require(names == ARRAYS, str(path), "must hold exactly the arrays x and y", names)
            return archive["x"], archive["y"]
    except (OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise InvalidArgument(str(path), "must be a readable .npz file", str(error)) from error
    except InvalidArgument:
        raise
    except ValueError as error:  # pickled objects, or not NumPy's format
        raise InvalidArgument(str(path), "must hold plain numeric arrays", str(error)) from error


def _classes(labels: NDArray[Any], n: int) -> tuple[tuple[int, ...], IntArray]:
    require(labels.shape == (n,), "y", f"must hold {n} labels, one per sample", labels.shape)
    whole = labels.dtype.kind in "iub"
    if labels.dtype.kind == "f":  # exact up to 2^53
        whole = bool((np.abs(labels) < 2**53).all() and (labels % 1 == 0).all())
    require(whole, "y", "must hold whole numbers", labels)
    values, y = np.unique(labels.astype(np.int64), return_inverse=True)
    require(values.size >= 2, "y", "must name 2 classes or more", values.tolist())
    return tuple(values.tolist()), y.astype(np.int64)


def _scaled(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = numbers.min(axis=0), numbers.max(axis=0)
    outside = (low < 0) | (high > 1)
    if not outside.any():
        return numbers
    width = np.where(high > low, high / 2 - low / 2, 1.0)  # halves: a difference may overflow
    return np.where(outside, (numbers / 2 - low / 2) / width, numbers)
