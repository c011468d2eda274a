"""What is wrong in the paper, number by number, with the evidence computed (section 6).

One module per group of errata, each with its functions in a mapping; ``ERRATA`` joins them in the
order of the numbers. ``python -m pigou.paper.errata`` prints docs/errata.md.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from pigou.errors import InvalidArgument
from pigou.paper.errata import complete, model, pricing, two_types, two_types_truth
from pigou.paper.errata.record import Erratum, Table

__all__ = ["ERRATA", "Erratum", "Table", "evidence"]

ERRATA: Mapping[str, Callable[[], Erratum]] = MappingProxyType(
    {
        "E1": complete.saddle,
        "E2": complete.free_riding,
        "E3": complete.mean_beats_mle,
        "E4": pricing.coefficient,
        "E5": pricing.compensation,
        "E6": two_types.two_binomials,
        "E6b": two_types.several_optima,
        "E7": two_types.one_too_many,
        "E8": two_types_truth.singular_rewards,
        "E9": two_types_truth.no_truth,
        "E10": model.epsilon,
        "E11": model.uploads,
        "E12": model.order_of_noise,
        "E13": model.rounds,
    }
)


def evidence(number: str) -> Erratum:
    """The erratum of this number, its evidence computed now."""
    compute = ERRATA.get(number)
    if compute is None:
        raise InvalidArgument("number", f"must be one of {', '.join(ERRATA)}", number)
    return compute()
