"""A class that has been run in; the plain defaults of its constructor or its forward() out."""

from __future__ import annotations

import inspect
import math
import sys

from pydantic import JsonValue


def plain_defaults(full_class_name: str, method: str) -> dict[str, JsonValue]:
    """Each parameter of `__init__` or `forward` whose default is a plain value, with that value.

    Plain are numbers, booleans, None, texts and lists of these; a tuple is told as a list. Nothing is told
    of a class whose module nobody imported: reading it must not run it.
    """
    module, _, name = full_class_name.rpartition(".")
    owner = getattr(sys.modules.get(module), name, None)
    try:
        parameters = inspect.signature(getattr(owner, method)).parameters
    except (AttributeError, TypeError, ValueError):
        return {}
    given = {n: p.default for n, p in parameters.items() if p.default is not p.empty and _is_plain(p.default)}
    return {name: _as_json(value) for name, value in given.items()}


def _is_plain(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    kinds: tuple[type, ...] = (bool, int, float, str, type(None))
    return type(value) in kinds and not (isinstance(value, float) and not math.isfinite(value))


def _as_json(value: object) -> JsonValue:
    return [_as_json(item) for item in value] if isinstance(value, list | tuple) else value  # type: ignore[return-value]
