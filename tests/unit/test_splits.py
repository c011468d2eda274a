"""Splits: disjoint where the data suffice, said so where they do not, tests kept apart."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2
from tests.strategies import rngs

from pigou.errors import InvalidArgument
from pigou.federation.datasets import Dataset, digits, with_bias
from pigou.federation.splits import Split, by_size, dirichlet, iid, row_weights


def labelled(y: Any, test_from: int | None = None) -> Dataset:
    labels = np.asarray(y, dtype=np.int64)
    x = with_bias(np.zeros((labels.size, 1)))
    return Dataset(x, labels, "made", tuple(range(int(labels.max()) + 1)), test_from)


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    n, kinds = draw(st.integers(8, 120)), draw(st.integers(2, 5))
    labels = draw(rngs()).integers(0, kinds, n)
    labels[:kinds] = np.arange(kinds)
    return labelled(labels, draw(st.none() | st.integers(kinds, n - 1)))


@st.composite
def splits(draw: st.DrawFn) -> tuple[Dataset, Split, list[int], int]:
    """A data set, a split of it, the sizes asked for, and the test samples asked for."""
    data, rng = draw(datasets()), draw(rngs())
    clients, train, test = (
        draw(st.integers(1, 8)),
        draw(st.integers(1, 40)),
        draw(st.integers(1, 9)),
    )
    kind = draw(st.sampled_from(["iid", "dirichlet", "by_size"]))
    if kind == "by_size":
        sizes = rng.integers(1, 40, clients).tolist()
        return data, by_size(data, sizes, rng, test), sizes, test
    if kind == "iid":
        return data, iid(data, clients, rng, train, test), [train] * clients, test
    concentration = 10.0 ** draw(st.floats(-3, 3))
    split = dirichlet(data, clients, concentration, rng, train, test)
    return data, split, [train] * clients, test


@settings(deadline=None, max_examples=200)
@given(splits())
def test_every_split_keeps_its_word(case: tuple[Dataset, Split, list[int], int]) -> None:
    data, split, sizes, test = case
    assert split.sizes.tolist() == sizes
    assert [rows.size for rows in split.test] == [test] * len(sizes)
    train, tests = np.concatenate(split.train), np.concatenate(split.test)
    assert not set(train) & set(tests)
    assert min(train.min(), tests.min()) >= 0
    assert max(train.max(), tests.max()) < len(data.y)
    if data.test_from is not None:
        assert train.max() < data.test_from <= tests.min()
    held = np.bincount(train).max()
    assert split.overlapping == (held > 1)
    distinct = f"{train.size:,} training samples, no two the same" in split.message
    assert distinct == (not split.overlapping)
    assert f"{len(sizes)} clients:" in split.message


@settings(deadline=None, max_examples=100)
@given(datasets(), rngs(), st.integers(1, 8), st.integers(1, 40))
def test_clients_share_rows_only_where_there_are_too_few(
    data: Dataset, rng: np.random.Generator, clients: int, train: int
) -> None:
    split = iid(data, clients, rng, train, 1)
    available = (
        data.test_from if data.test_from is not None else len(data.y) - round(0.2 * len(data.y))
    )
    assert split.overlapping == (clients * train > available)
    for rows in split.train:
        assert (np.unique(rows).size == rows.size) == (train <= available)


def test_the_message_tells_sharing_from_repeating() -> None:
    data, rng = labelled(np.arange(50) % 2, 40), np.random.default_rng(0)
    assert iid(data, 4, rng, 10, 2).message == (
        "4 clients: 40 training samples, no two the same; 8 test samples, no two the same"
    )
    shared = iid(data, 4, rng, 20, 2).message
    assert "80 training samples from" in shared
    assert "clients share samples" in shared
    assert "more than once" not in shared
    alone = iid(data, 1, rng, 60, 2).message
    assert "1 of the clients hold some sample more than once" in alone
    assert "share" not in alone


def test_the_papers_setting_on_digits_overlaps_and_says_so() -> None:
    split = iid(digits(), 100, np.random.default_rng(0))
    assert split.overlapping
    # 1,000 of 1,438 rows each: a row is missed by all 100 with probability (438/1438)^100
    assert "100,000 training samples from 1,438 rows, clients share samples" in split.message


def test_the_same_generator_gives_the_same_split() -> None:
    data = digits()
    once, again, other = (
        dirichlet(data, 5, 0.5, np.random.default_rng(s), 50, 9) for s in (1, 1, 2)
    )
    for left, right in zip(once.train + once.test, again.train + again.test, strict=True):
        np.testing.assert_array_equal(left, right)
    assert any((a != b).any() for a, b in zip(once.train, other.train, strict=True))


def shares(data: Dataset, split: Split) -> Any:
    kinds = len(data.classes)
    return np.array(
        [np.bincount(data.y[rows], minlength=kinds) / rows.size for rows in split.train]
    )


def test_dirichlet_mixes_have_the_moments_of_the_distribution() -> None:
    """Var p_k = m_k (1 - m_k) / (c K + 1), plus the multinomial's (1 - that) / train."""
    data = labelled(np.repeat(np.arange(4), [4000, 2000, 1000, 1000]), None)
    rng, clients, train = np.random.default_rng(6), 400, 50
    for concentration in (0.1, 1.0, 10.0):
        split = dirichlet(data, clients, concentration, rng, train, 1)
        mix = shares(data, split)
        mean = np.array([0.5, 0.25, 0.125, 0.125])
        between = mean * (1 - mean) / (4 * concentration + 1)
        variance = between + (mean * (1 - mean) - between) / train
        # six standard errors; the held-out fifth moves the mean by less than one of them
        np.testing.assert_array_less(
            np.abs(mix.mean(axis=0) - mean), 6 * np.sqrt(variance / clients)
        )
        np.testing.assert_allclose(mix.var(axis=0), variance, rtol=0.5)


def test_large_concentrations_approach_an_even_draw() -> None:
    data = digits()
    split = dirichlet(data, 50, 1e6, np.random.default_rng(2), 200, 1)
    expected = np.bincount(data.y) / len(data.y) * 200
    counts = shares(data, split) * 200
    statistic = float((np.square(counts - expected) / expected).sum())
    assert statistic < chi2.isf(1e-6, 50 * 9)  # the seed is fixed


def test_small_concentrations_leave_a_client_one_class() -> None:
    data = digits()
    split = dirichlet(data, 50, 1e-3, np.random.default_rng(2), 100, 20)
    largest = shares(data, split).max(axis=1)
    assert np.median(largest) > 0.99
    for train, test in zip(split.train, split.test, strict=True):  # tests have the same mix
        if np.unique(data.y[train]).size == 1:
            assert (data.y[test] == data.y[train[0]]).mean() > 0.8


def test_a_class_without_test_rows_is_replaced() -> None:
    data = labelled([0, 1, 2] * 10 + [0, 1] * 5, 30)
    split = dirichlet(data, 20, 0.01, np.random.default_rng(0), 5, 5)
    assert [rows.size for rows in split.test] == [5] * 20


@settings(deadline=None, max_examples=50)
@given(splits(), rngs())
def test_row_weights_turn_client_means_into_one_sum(
    case: tuple[Dataset, Split, list[int], int], rng: np.random.Generator
) -> None:
    data, split, sizes, _ = case
    rho, values = rng.dirichlet(np.ones(len(sizes))), rng.standard_normal(len(data.y))
    by_client = np.array([values[rows].mean() for rows in split.train])
    pooled = row_weights(split.train, len(data.y), rho) @ values
    assert pooled == pytest.approx(rho @ by_client, abs=1e-12)
    assert row_weights(split.train, len(data.y)) @ values == pytest.approx(
        by_client.mean(), abs=1e-12
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d, r: iid(d, 0, r), "clients must be a whole number >= 1"),
        (lambda d, r: iid(d, 2, r, train=0), "train must be a whole number >= 1"),
        (lambda d, r: iid(d, 2, r, test=-1), "test must be a whole number >= 1"),
        (lambda d, r: by_size(d, [3, 0], r), "sizes must be whole numbers >= 1"),
        (lambda d, r: by_size(d, [3, 2.5], r), "sizes must be whole numbers >= 1"),
        (lambda d, r: by_size(d, [], r), "sizes must not be empty"),
        (lambda d, r: dirichlet(d, 2, 0.0, r), "concentration must be a finite number > 0"),
        (lambda d, r: dirichlet(d, 2, np.inf, r), "concentration must be a finite number > 0"),
    ],
)
def test_impossible_splits_are_refused(call: Any, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        call(labelled([0, 1] * 10), np.random.default_rng(0))
