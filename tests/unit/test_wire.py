"""Messages survive the trip to bytes and back, and nothing else can come out of bytes."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pigou import AccuracyLoss, InvalidArgument, Setting
from pigou.federation.audit import AuditRule
from pigou.federation.protocol import CODEC, Announcement, Report, Update
from pigou.mechanisms import Pigouvian
from pigou.terms import Interval

finite = st.floats(allow_nan=False)
arrays = hnp.arrays(
    dtype=st.sampled_from(["float32", "float64", "int64", "bool"]),
    shape=hnp.array_shapes(max_dims=3, max_side=4, min_side=0),
)


def announcement() -> Announcement:
    setting = Setting(3, AccuracyLoss.bound(16.0, 2.0), 0.5, spread=[0.1, 0.2, 0.3])
    return Announcement(
        consortium="c",
        run="r",
        round=2,
        attempt=1,
        rounds=5,
        clients=("a", "b", "ü"),
        mechanism="pigouvian",
        report_space=Interval(0.0, 1.0),
        loss=setting.loss,
        privacy_scale=0.5,
        spread=setting.spread,
        divergence=setting.divergence,
        currency="EUR",
        largest=1e6,
        audit=AuditRule(family_error=0.05, bar_refund=True),
        terms=Pigouvian(rounds=5).terms(setting, [0.2, 0.5, 0.8]),
        error=math.inf,
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(arrays, max_size=3), st.text(), st.integers(-5, 5))
def test_updates_round_trip_to_the_bit(parts: list[np.ndarray], note: str, round_: int) -> None:
    sent = Update("run", round_, 1, "client", tuple(parts), note)
    got = CODEC.decode(CODEC.encode(sent))
    assert (got.run, got.round, got.client, got.note) == ("run", round_, "client", note)
    for mine, theirs in zip(parts, got.arrays, strict=True):
        assert theirs.dtype == mine.dtype
        assert theirs.shape == mine.shape
        assert theirs.tobytes() == mine.tobytes()


def test_an_announcement_keeps_its_terms() -> None:
    sent = announcement()
    got = CODEC.decode(CODEC.encode(sent))
    assert got.terms == sent.terms
    assert got.terms.digest == sent.terms.digest
    assert got.report_space == Interval(0.0, 1.0)
    assert got.error == math.inf
    assert got.audit == sent.audit
    assert CODEC.encode(got) == CODEC.encode(sent)


@given(st.one_of(finite, st.tuples(finite, finite)))
def test_reports_round_trip(value: float | tuple[float, float]) -> None:
    sent = Report("run", "client", value)
    assert CODEC.decode(CODEC.encode(sent)) == sent


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b'{"#":"os.system","fields":{}}',
        b'{"#":"Report","fields":{"run":"r"}}',
        b'{"#":"Report","fields":{"run":"r","client":"c","value":1,"more":2}}',
        b'{"#":"array","dtype":"O","shape":[1],"data":""}',
        b'{"#":"array","dtype":"<f8","shape":[2],"data":"AAAA"}',
        b'{"#":"array","dtype":"<f8","shape":[-1],"data":"!"}',
        b'{"#":"array","dtype":"f8,(","shape":[1],"data":""}',
        b'{"#":"array","dtype":"<f16","shape":[1],"data":"AAAAAAAAAAAAAAAAAAAAAA=="}',
        b'{"#":"array","dtype":"<f8","shape":[1e999],"data":""}',
        b'{"#":"array","dtype":"<f8","shape":[-1],"data":"AAAAAAAAAAA="}',
        b'{"#":"Update","fields":{"run":"r","round":1,"attempt":1,"client":"c","arrays":NaN}}',
        b'{"#":"tuple"}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_bytes_that_were_never_encoded_are_a_typed_error(data: bytes) -> None:
    with pytest.raises(InvalidArgument, match="message"):
        CODEC.decode(data)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=40), st.integers(0, 10**6))
def test_damaged_bytes_never_raise_anything_else(junk: bytes, at: int) -> None:
    whole = CODEC.encode(announcement())
    cut = at % len(whole)
    try:
        CODEC.decode(whole[:cut] + junk + whole[cut + len(junk) :])
    except ValueError as error:
        assert type(error).__module__.startswith("pigou")


@pytest.mark.parametrize("value", [json, np.array([1.0], np.longdouble), np.array([1j]), {1: "a"}])
def test_nothing_is_encoded_that_could_not_be_decoded(value: object) -> None:
    with pytest.raises(TypeError, match="no wire form"):
        CODEC.encode(value)
