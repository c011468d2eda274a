"""Populations of types as people type them: a kind, a colon, and its numbers."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from pigou.errors import InvalidArgument, require
from pigou.population import (
    Beta,
    Finite,
    Population,
    TruncatedNormal,
    Uniform,
    listed,
    two_point,
)


class Form(NamedTuple):
    """How one kind is written."""

    numbers: str
    counts: tuple[int, ...]  # of numbers, that it takes; none: any
    make: Callable[..., Population]


FORMS: Mapping[str, Form] = MappingProxyType(
    {
        "two-point": Form("LOW,HIGH,SHARE_OF_LOW", (3,), two_point),
        "uniform": Form("LOW,HIGH", (2,), Uniform),
        "beta": Form("A,B", (2,), Beta),
        "truncated-normal": Form("MEAN,SD[,LOW,HIGH]", (2, 4), TruncatedNormal),
        "listed": Form("TYPE,TYPE,…", (), lambda *types: listed(types)),
        "finite": Form("TYPE,SHARE,TYPE,SHARE,…", (), lambda *both: _finite(both)),
    }
)
SYNTAX = "; ".join(f"{kind}:{form.numbers}" for kind, form in FORMS.items())


def population(option: str, text: str) -> Population:
    """The population that a text like ``two-point:0.25,0.75,0.5`` names."""
    kind, _, rest = text.partition(":")
    if kind not in FORMS:
        raise InvalidArgument(option, f"must be one of {SYNTAX}", text)
    form = FORMS[kind]
    try:
        numbers = [float(part) for part in rest.split(",")]
    except ValueError as error:
        raise InvalidArgument(option, f"must be {kind}:{form.numbers}", text) from error
    fits = not form.counts or len(numbers) in form.counts
    require(fits, option, f"must be {kind}:{form.numbers}", text)
    try:
        return form.make(*numbers)
    except InvalidArgument as error:
        where = f"{option}: {error.argument}"
        raise InvalidArgument(where, error.constraint, error.received) from error


def _finite(both: tuple[float, ...]) -> Finite:
    require(len(both) % 2 == 0, "types", "must each be followed by a share", list(both))
    return Finite(both[::2], both[1::2])
