"""How clients behave: a conduct and its options, per client or per group of a population."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Annotated, Self

from pydantic import Field, model_validator

from pigou.checks import is_number
from pigou.errors import InvalidArgument
from pigou.federation.conduct import CONDUCTS, Conduct, Selfish
from pigou.scenario.table import AtLeastOne, Table

SELFISH = Selfish.name


class ConductTable(Table):
    """A conduct by its name, and the numbers that it takes."""

    conduct: str = SELFISH
    options: dict[str, float] = Field(default_factory=dict)

    def build_conduct(self) -> Conduct:
        """The conduct itself."""
        return conduct_named(self.conduct, self.options)

    @model_validator(mode="after")
    def _is_known(self) -> Self:
        self.build_conduct()
        return self


class GroupTable(ConductTable):
    """So many clients of a population, and how they behave."""

    count: AtLeastOne


Groups = Annotated[tuple[GroupTable, ...], Field(strict=False)]


def conduct_named(name: str, options: Mapping[str, float]) -> Conduct:
    """The conduct of that name with these options; the others keep their defaults."""
    if name not in CONDUCTS:
        raise InvalidArgument("conduct", f"must be one of {', '.join(CONDUCTS)}", name)
    kind: Callable[..., Conduct] = CONDUCTS[name]
    known = {f.name for f in fields(CONDUCTS[name]) if is_number(f.default)}
    for option in options:
        if option not in known:
            allowed = f"is no option of {name}; allowed: {', '.join(sorted(known)) or 'none'}"
            raise InvalidArgument(f"options.{option}", allowed, options[option])
    try:
        return kind(**options)
    except InvalidArgument as error:
        where = f"options.{error.argument}"
        raise InvalidArgument(where, error.constraint, error.received) from error
