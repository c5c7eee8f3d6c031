"""A constructor or forward() and what it is given in; out its plain values that are no sizes."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Iterator, Mapping

from pydantic import JsonValue

GIVEN = "given"
"""The value of a parameter that has a default and is given a tensor."""
_FORMATS = {"device", "dtype"}  # where it runs is no cost, and widths have names in every formula


def settled(
    function: Callable[..., object], given: Mapping[str, object], sized: Collection[str]
) -> dict[str, JsonValue]:
    """Each parameter that is no size, with the plain value it is given, else with its plain default."""
    try:
        parameters = list(inspect.signature(function).parameters.values())[1:]  # without self
    except (TypeError, ValueError):
        return {}
    values = {p.name: given.get(p.name, p.default) for p in parameters if p.name not in sized}
    told = {name: value for name, value in values.items() if name not in _FORMATS and is_plain(value)}
    return {name: as_json(value) for name, value in told.items()}


def defaults_of(function: Callable[..., object]) -> Iterator[tuple[str, JsonValue]]:
    """Each parameter whose default is a plain value, with that value."""
    for name, parameter in inspect.signature(function).parameters.items():
        if is_plain(parameter.default):
            yield name, as_json(parameter.default)


def is_plain(value: object) -> bool:
    """Whether a value is a number, a boolean, None, a text or a list of these."""
    if isinstance(value, list | tuple):
        return all(map(is_plain, value))
    kinds: tuple[type, ...] = (bool, int, float, str, type(None))
    return type(value) in kinds and not (isinstance(value, float) and not math.isfinite(value))


def as_json(value: object) -> JsonValue:
    """A plain value as JSON has it: a tuple is a list."""
    return [as_json(item) for item in value] if isinstance(value, list | tuple) else value  # type: ignore[return-value]
