"""Random numbers keyed by (seed, purpose, client, round), and noise that nobody can repeat."""

import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest, norm

from pigou.errors import InvalidArgument
from pigou.federation.randomness import (
    DRAWN,
    SecretNoise,
    fill_with_noise,
    simulated_noise,
    stream,
)

words = st.integers(0, 2**64 - 1)
UNLIKELY = 1e-6  # for fixed seeds: the test holds or does not, for good
NEVER = 1e-12  # for the system's entropy: the chance that a sound source fails the test


def block(seed: int, clients: list[int], round_: int, size: int = 50) -> Any:
    out = np.empty((len(clients), size), dtype=np.float32)
    fill_with_noise(out, seed, clients, round_)
    return out


@settings(deadline=None, max_examples=50)
@given(words, st.lists(words, min_size=1, max_size=6, unique=True), words, st.randoms())
def test_a_clients_noise_does_not_depend_on_who_else_is_there(
    seed: int, clients: list[int], round_: int, random: Any
) -> None:
    together = dict(zip(clients, block(seed, clients, round_), strict=True))
    some = random.sample(clients, random.randint(1, len(clients)))
    for client, row in zip(some, block(seed, some, round_), strict=True):
        np.testing.assert_array_equal(row, together[client])
        np.testing.assert_array_equal(row, simulated_noise(seed, client, round_)(50))


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=6))
def test_noise_is_one_sequence_however_it_is_cut(sizes: list[int]) -> None:
    noise = simulated_noise(7, 3, 2)
    cut = np.concatenate([noise(size) for size in sizes])
    np.testing.assert_array_equal(cut, block(7, [3], 2, sum(sizes))[0])


def test_odd_sizes_leave_nothing_behind_for_the_next_client() -> None:
    odd, even = block(1, [0, 1, 2], 0, 3), block(1, [0, 1, 2], 0, 4)
    np.testing.assert_array_equal(odd, even[:, :3])


def test_every_part_of_the_key_matters() -> None:
    keys: list[tuple[int, str, int, int]] = [
        (seed, purpose, client, round_)
        for seed in (0, 1, 2**63)
        for purpose in ("noise", "types", "")
        for client in (0, 1, 2**32)
        for round_ in (0, 1, 2**32)
    ]
    first = [stream(*key).integers(2**63) for key in keys]
    assert len(set(first)) == len(keys)  # a chance coincidence has probability 1e-15


def test_streams_are_independent_normals() -> None:
    rows = np.concatenate(
        [block(seed, list(range(20)), round_, 1000) for seed in (0, 1) for round_ in range(5)]
    ).astype(np.float64)
    assert kstest(rows.ravel(), "norm").pvalue > UNLIKELY
    products = (rows @ rows.T)[np.triu_indices(len(rows), 1)] / np.sqrt(rows.shape[1])
    bound = norm.isf(UNLIKELY / 2 / products.size)  # Bonferroni over all pairs of streams
    assert np.abs(products).max() < bound


def test_nothing_global_is_read_or_moved() -> None:
    np.random.seed(5)  # noqa: NPY002  # the global state is what is being tested
    before = block(3, [4], 5)
    state = np.random.get_state()[1].copy()  # type: ignore[index]  # noqa: NPY002
    np.testing.assert_array_equal(block(3, [4], 5), before)
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # type: ignore[index]  # noqa: NPY002


@pytest.mark.parametrize("bad", [-1, 2**64, 1.5, "1", None, True])
def test_keys_that_are_no_words_are_refused(bad: Any) -> None:
    constraint = r"must be a whole number in \[0, 2\^64\)"
    with pytest.raises(InvalidArgument, match=f"seed {constraint}"):
        stream(bad, "noise")
    with pytest.raises(InvalidArgument, match=f"client {constraint}"):
        stream(0, "noise", client=bad)
    with pytest.raises(InvalidArgument, match=f"round {constraint}"):
        simulated_noise(0, 0, bad)


def test_a_block_of_the_wrong_kind_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="out must hold 2 rows"):
        fill_with_noise(np.empty((3, 5), dtype=np.float32), 0, [1, 2], 0)
    wide: Any = np.empty((2, 5))
    with pytest.raises(InvalidArgument, match="out must hold 2 rows of float32"):
        fill_with_noise(wide, 0, [1, 2], 0)


def test_secret_noise_is_standard_normal() -> None:
    noise = SecretNoise()(DRAWN + 1000).astype(np.float64)
    assert kstest(noise, "norm").pvalue > NEVER
    assert kstest(noise[1:] + noise[:-1], norm(scale=2**0.5).cdf).statistic < 0.02


def test_secret_noise_never_repeats_whatever_is_seeded() -> None:
    source = SecretNoise()
    drawn = []
    for _ in range(4):
        np.random.seed(0)  # noqa: NPY002  # that it changes nothing is the point
        drawn.append(source(100))
    drawn.append(SecretNoise()(100))
    assert len({row.tobytes() for row in drawn}) == len(drawn)
    assert not vars(source)


def test_secret_noise_is_the_quantile_of_the_systems_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    bits = np.array([0, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 3 << 62], dtype=np.uint64)
    monkeypatch.setattr(os, "urandom", lambda size: bits.tobytes()[:size])
    far = norm.isf(2.0**-65)
    expected = [-far, norm.ppf(0.25), 0.0, far, 0.0, -norm.ppf(0.25)]
    np.testing.assert_allclose(SecretNoise()(6), expected, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("size", [0, 1, DRAWN, DRAWN + 1])
def test_secret_noise_has_the_size_asked_for(size: int) -> None:
    noise = SecretNoise()(size)
    assert noise.shape == (size,)
    assert noise.dtype == np.float32
    assert np.isfinite(noise).all()


def test_a_negative_size_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="size must be a whole number >= 0"):
        SecretNoise()(-1)
