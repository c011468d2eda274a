"""Mechanisms by the names that people write in scenarios and on the command line."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from pigou.errors import InvalidArgument
from pigou.mechanisms import Mechanism, Pigouvian, Unpriced
from pigou.terms import RefundRule

MECHANISMS: Mapping[str, Callable[..., Mechanism]] = MappingProxyType(
    {mechanism.name: mechanism for mechanism in (Unpriced, Pigouvian)}
)


def mechanism_named(
    name: str, *, rounds: int = 1, money: float = 1.0, refund: RefundRule = "zero-sum"
) -> Mechanism:
    """The mechanism of that name, for so many rounds, billed in that money, refunded by that rule.

    ``money`` is units of currency per unit of cost.
    """
    if name not in MECHANISMS:
        raise InvalidArgument("mechanism", f"must be one of {', '.join(MECHANISMS)}", name)
    return MECHANISMS[name](rounds=rounds, money=money, refund=refund)
