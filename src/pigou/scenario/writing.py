"""A scenario as TOML: every key that has a value, defaults included; it reads back the same."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from pigou.scenario.schema import Scenario

LISTED = ("client", "group")  # written as [[tables]]


def to_plain(scenario: Scenario) -> dict[str, Any]:
    """Tables, lists and values, as a TOML reader gives them; nothing that is not there."""
    plain = _plain(scenario)
    assert isinstance(plain, dict)
    return plain


def to_toml(scenario: Scenario) -> str:
    """The text of a scenario file."""
    plain = to_plain(scenario)
    values = {key: value for key, value in plain.items() if not _is_table(value)}
    parts = [lines(values)]
    for key, value in plain.items():
        if isinstance(value, dict):
            parts.append(f"[{key}]\n{lines(value)}")
        elif key in LISTED:
            parts.extend(f"[[{key}]]\n{lines(each)}" for each in value)
    return "\n".join(parts)


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        given = {name: _plain(getattr(value, name)) for name in type(value).model_fields}
        return {name: part for name, part in given.items() if part not in (None, {}, [])}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return dict(value) if isinstance(value, Mapping) else value


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and isinstance(value[0], dict))


def lines(values: Mapping[str, Any]) -> str:
    """Keys and values, one to a line."""
    return "".join(f"{key} = {_value(value)}\n" for key, value in values.items())


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False)  # TOML's strings and booleans are JSON's
    return repr(value)
