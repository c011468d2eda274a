"""Where random numbers come from: counter-based streams in simulations, the system outside them.

A simulation's numbers depend on (seed, purpose, client, round) alone, so that engines which visit
clients in any order, or only some of them, draw the same. Each such key is its own range of the
counters, and no two overlap. A real client's noise comes from the operating system: whoever
knew a seed could subtract the noise. The streams are those of one NumPy version, not of all.
"""

import os
from collections.abc import Iterable
from hashlib import blake2b
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from pigou.checks import count
from pigou.errors import require
from pigou.privacy.release import Normals

NOISE: Final = "noise"
WORD: Final = 1 << 64  # seeds, clients and rounds are words of Philox's key and counter
DRAWN: Final = 1 << 17  # numbers per read of the operating system's entropy
MAGNITUDE: Final = np.uint64((1 << 63) - 1)


def stream(seed: int, purpose: str, client: int = 0, round: int = 0) -> np.random.Generator:  # noqa: A002
    """The simulation's generator for one purpose, client and round."""
    key, counter = _key(seed, purpose), _counter(client, round)
    return np.random.Generator(np.random.Philox(key=key, counter=counter))


def simulated_noise(seed: int, client: int, round: int) -> Normals:  # noqa: A002
    """A simulated client's noise: one sequence per round, however it is cut into layers."""
    generator = stream(seed, NOISE, client, round)
    return lambda size: generator.standard_normal(size, dtype=np.float32)


def fill_with_noise(
    out: NDArray[np.float32],
    seed: int,
    clients: Iterable[int],
    round: int,  # noqa: A002
) -> None:
    """Row k becomes the noise of clients[k]: the numbers that ``simulated_noise`` gives it."""
    rows = list(clients)
    held = len(out) == len(rows) and out.dtype == np.float32
    wanted = f"must hold {len(rows)} rows of float32, one per client"
    require(held, "out", wanted, f"shape {out.shape}, dtype {out.dtype}")
    philox = np.random.Philox(key=_key(seed, NOISE), counter=_counter(0, round))
    generator = np.random.Generator(philox)
    start = philox.state
    for row, client in zip(out, rows, strict=True):
        start["state"]["counter"] = _counter(client, round)
        philox.state = start  # a third of the time that a new generator takes
        generator.standard_normal(dtype=np.float32, out=row)


class SecretNoise:
    """Standard normal numbers made of the operating system's entropy; nothing is kept.

    Every number takes 64 fresh random bits: a sign and a quantile. As with any noise in floating
    point, the lowest bits of what is uploaded are not those of an ideal Gaussian.
    """

    def __call__(self, size: int) -> NDArray[np.float32]:
        normals = np.empty(count("size", size, least=0), dtype=np.float32)
        for start in range(0, normals.size, DRAWN):
            part = normals[start : start + DRAWN]
            bits = np.frombuffer(os.urandom(8 * part.size), dtype=np.uint64)
            share = ((bits & MAGNITUDE).astype(np.float64) + 0.5) / WORD  # in (0, 1/2)
            below = ndtri(share)
            part[:] = np.where(bits > MAGNITUDE, -below, below)
        return normals


def _key(seed: int, purpose: str) -> NDArray[np.uint64]:
    require(_is_word(seed), "seed", "must be a whole number in [0, 2^64)", seed)
    named = blake2b(purpose.encode(), digest_size=8).digest()
    return np.array([seed, int.from_bytes(named, "little")], dtype=np.uint64)


def _counter(client: int, round_: int) -> NDArray[np.uint64]:
    """The first word counts blocks: 2^64 of them before the next key's range begins."""
    require(_is_word(client), "client", "must be a whole number in [0, 2^64)", client)
    require(_is_word(round_), "round", "must be a whole number in [0, 2^64)", round_)
    return np.array([0, round_, client, 0], dtype=np.uint64)


def _is_word(value: object) -> bool:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and 0 <= int(value) < WORD  # type: ignore[call-overload]  # whole has checked it
