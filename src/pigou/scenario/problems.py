"""What is wrong with a scenario: every problem at once, each with its place and what is allowed."""

from collections.abc import Iterator, Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from pigou.errors import InvalidArgument, PigouError

Place = tuple[int | str, ...]

CONSTRAINTS = {
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "string_type": "must be a string",
    "string_too_short": "must not be empty",
    "tuple_type": "must be a list",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table",
}


class InvalidScenario(PigouError):  # noqa: N818
    """A scenario that cannot be used; ``problems`` lists all that was found."""

    def __init__(self, source: str, problems: Sequence[str]) -> None:
        self.source, self.problems = source, tuple(problems)
        super().__init__(f"{source}: " + "; ".join(self.problems))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.source, self.problems)


def problems_of(error: ValidationError, root: type[BaseModel]) -> list[str]:
    """One sentence per problem: key path, what is allowed, what was received."""
    return [_sentence(detail, root) for detail in error.errors(include_url=False)]


def _sentence(detail: ErrorDetails, root: type[BaseModel]) -> str:
    place, received = detail["loc"], detail["input"]
    path, tables = _follow(root, place)
    match detail["type"]:
        case "missing":
            return f"{path} must be given"
        case "extra_forbidden":
            return f"{path} is not a known key; allowed here: {', '.join(_keys(root, place))}"
        case "union_tag_invalid" | "union_tag_not_found":
            kinds = ", ".join(kind for table in tables for kind in _kinds(table))
            given = received.get("kind") if isinstance(received, dict) else received
            return str(InvalidArgument(f"{path}.kind", f"must be one of {kinds}", given))
        case "value_error":
            return _own(path, detail["ctx"]["error"], received)
    constraint = CONSTRAINTS.get(detail["type"])
    text = constraint or detail["msg"].replace("Input should be", "must be", 1)
    return str(InvalidArgument(path, text, received))


def _own(path: str, error: ValueError, received: object) -> str:
    """A problem found by a check of ours: about a value at ``path``, or about a part of it."""
    if isinstance(error, InvalidArgument):
        inner = f"{path}.{error.argument}" if path else error.argument
        return str(InvalidArgument(inner, error.constraint, error.received))
    return str(InvalidArgument(path, str(error), received))


def _follow(root: type[BaseModel], place: Place) -> tuple[str, list[type[BaseModel]]]:
    """The key path in the file, and the tables that may stand at its end.

    Where a table's kind decides its keys, pydantic puts the kind into the place; the file has no
    such key.
    """
    path, tables = "", [root]
    for part in place:
        if isinstance(part, int):
            path += f"[{part}]"
        elif len(tables) > 1:
            tables = [table for table in tables if part in _kinds(table)]
        else:
            path += f".{part}" if path else part
            known = tables[0].model_fields.get(part) if tables else None
            tables = list(_tables(known.annotation)) if known else []
    return path, tables


def _keys(root: type[BaseModel], place: Place) -> list[str]:
    _, tables = _follow(root, place[:-1])
    return [key for table in tables for key in table.model_fields]


def _kinds(table: type[BaseModel]) -> tuple[str, ...]:
    return get_args(table.model_fields["kind"].annotation)


def _tables(annotation: object) -> Iterator[type[BaseModel]]:
    """The models named in a type, in order."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _tables(part)
