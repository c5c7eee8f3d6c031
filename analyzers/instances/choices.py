"""A class and what its constructor or forward() is given in; out the plain values that are no sizes."""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Collection, Iterator, Mapping

from pydantic import JsonValue

from forwardbook.analyzers.instances.parameter_kinds import CONFIGS, annotations_of

GIVEN = "given"
"""The value of a parameter that has a default and is given a tensor."""
_OTHERS = {"builtins", "torch", "transformers"}
_FORMATS = {"device", "dtype"}  # where it runs is no cost, and widths have names in every formula


def parameters_of(cls: type, method: str) -> dict[str, inspect.Parameter]:
    """The named parameters of a method; where it hands on what it does not name, those of its base too."""
    found: dict[str, inspect.Parameter] = {}
    for owner in cls.__mro__:
        if (function := owner.__dict__.get(method)) is None:
            continue
        try:
            every = list(inspect.signature(function).parameters.values())[1:]  # without self
        except (TypeError, ValueError):
            break
        for one in every:
            if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD) and not one.name.startswith("_"):
                found.setdefault(one.name, one)
        if not any(one.kind is one.VAR_KEYWORD for one in every):
            break
    return found


def settled(
    cls: type, method: str, given: Mapping[str, object], sized: Collection[str]
) -> dict[str, JsonValue]:
    """Each parameter that is no size, with the plain value it is given, else with its plain default."""
    parameters = parameters_of(cls, method).items()
    values = {name: given.get(name, one.default) for name, one in parameters if name not in sized}
    told = {name: value for name, value in values.items() if name not in _FORMATS and is_plain(value)}
    return {name: as_json(value) for name, value in told.items()}


def defaults_of(cls: type, method: str) -> dict[str, JsonValue]:
    """Each parameter whose default is a plain value, with that value."""
    parameters = parameters_of(cls, method).items()
    return {name: as_json(one.default) for name, one in parameters if is_plain(one.default)}


def config_defaults_of(cls: type) -> dict[str, JsonValue]:
    """The whole numbers that fields of its constructor's configs have where a caller gives none.

    A config is a dataclass, or of the class that annotates a parameter with such a name, with the parts it
    makes by itself; configs of transformers are left out: their files give every field.
    """
    kinds = annotations_of(cls.__init__).items()  # type: ignore[misc]
    configs = [kind for name, kind in kinds if isinstance(kind, type) and _is_config(name, kind)]
    return {name: value for kind in configs for name, value in _fields(kind) if type(value) is int}


def _is_config(name: str, kind: type) -> bool:
    own = kind.__module__.partition(".")[0] not in _OTHERS
    return own and (dataclasses.is_dataclass(kind) or CONFIGS.fullmatch(name.lower()) is not None)


def _fields(kind: type) -> Iterator[tuple[str, JsonValue]]:
    if not dataclasses.is_dataclass(kind):
        yield from defaults_of(kind, "__init__").items()
        return
    for one in dataclasses.fields(kind):
        if isinstance(one.default_factory, type):
            yield from _fields(one.default_factory)
        elif is_plain(one.default):
            yield one.name, as_json(one.default)


def is_plain(value: object) -> bool:
    """Whether a value is a number, a boolean, None, a text or a list of these."""
    if isinstance(value, list | tuple):
        return all(map(is_plain, value))
    kinds: tuple[type, ...] = (bool, int, float, str, type(None))
    return type(value) in kinds and not (isinstance(value, float) and not math.isfinite(value))


def as_json(value: object) -> JsonValue:
    """A plain value as JSON has it: a tuple is a list."""
    return [as_json(item) for item in value] if isinstance(value, list | tuple) else value  # type: ignore[return-value]
