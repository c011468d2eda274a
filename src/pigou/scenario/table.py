"""What all tables of a scenario share, and the kinds of values that stand in them."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from pigou.checks import is_number

MEASURED: Literal["measured"] = "measured"


class Table(BaseModel):
    """A table of a scenario: no unknown keys, no conversions, no changes."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def _measurable(value: object) -> object:
    if value == MEASURED:
        return value
    if is_number(value):
        return float(value)
    return _numbers(value, 'must be a finite number or a list of them, or "measured"')


def _weights(value: object) -> object:
    if isinstance(value, str) and value in ("mean", "data_size"):
        return value
    return _numbers(value, 'must be "mean", "data_size" or a list of finite numbers')


def _numbers(value: object, constraint: str) -> tuple[float, ...]:
    if isinstance(value, list | tuple) and value and all(map(is_number, value)):
        return tuple(map(float, value))
    raise ValueError(constraint)


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must be printable text")  # it goes into statements and ledgers
    return text


Text = Annotated[str, Field(min_length=1), AfterValidator(_printable)]
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(gt=0, lt=1)]
AtLeastOne = Annotated[int, Field(ge=1)]
Numbers = Annotated[tuple[float, ...], Field(strict=False)]  # a TOML list; its items stay strict
Measurable = Annotated[
    float | tuple[float, ...] | Literal["measured"], BeforeValidator(_measurable)
]
Weights = Annotated[Literal["mean", "data_size"] | tuple[float, ...], BeforeValidator(_weights)]
