"""What tells the ways to call a class from each other, and what a person calls each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import torch
from pydantic import JsonValue

from forwardbook.analyzers.derive.boundary import Boundary
from forwardbook.analyzers.derive.layout import TensorLayout

DEFAULT: Final = "default"
FEW: Final = 3
"""Facts in a name; what more there is stands among the choices."""
GIVEN: Final = "given"
"""What is said of an argument that is neither a tensor nor plain: a cache, a tuple of tensors."""
_DEPTH: Final = 3
_PLAIN: Final = (bool, int, float, str, type(None))

Facts = Mapping[str, JsonValue]
"""Choices by path (`bias`, `config.hidden_act`), of tensors how they are (`mask` -> `4 dimensions`)."""


def facts_of(boundary: Boundary) -> dict[str, JsonValue]:
    """What a class is told that is no size."""
    found: dict[str, JsonValue] = {}
    for name, value in (*boundary.constructor.arguments.items(), *boundary.forward.arguments.items()):
        found.update(_flat(name, value, _DEPTH))
    for name, value in boundary.forward.arguments.items():
        if not isinstance(value, (*_PLAIN, TensorLayout, torch.SymInt)):
            found[name] = GIVEN
    return found


def _flat(path: str, value: object, depth: int) -> Iterator[tuple[str, JsonValue]]:
    if isinstance(value, TensorLayout):
        yield path, _tensor(value)
    elif isinstance(value, _PLAIN):
        yield path, value
    elif depth and not isinstance(value, torch.SymInt):
        inner = value if isinstance(value, Mapping) else getattr(value, "__dict__", {})
        if isinstance(value, list | tuple):
            inner = dict(enumerate(value))
        for name, one in inner.items():
            if not str(name).startswith("_"):
                yield from _flat(f"{path}.{name}", one, depth - 1)


def _tensor(layout: TensorLayout) -> str:
    ones = [str(place) for place, size in enumerate(layout.shape) if isinstance(size, int) and size == 1]
    order = "" if layout.order == tuple(range(layout.rank)) else ", transposed"
    wide = ", expanded" if layout.expanded else ""
    one = f", 1 along {' and '.join(ones)}" if ones else ""
    return f"{layout.rank}-D{one}{order}{wide}"


def names_of_ways(facts: Sequence[Facts]) -> list[tuple[str, dict[str, JsonValue]]]:
    """For each way what it is called, and the choices in that."""
    every = {path: None for one in facts for path in one}
    differing = [path for path in every if len({repr(one.get(path, "")) for one in facts}) > 1]
    named: list[tuple[str, dict[str, JsonValue]]] = []
    taken: set[str] = set()
    for one in facts:
        other = [path for path in differing if repr(one.get(path, "")) != repr(facts[0].get(path, ""))]
        other.sort(key=lambda path: (path.count("."), len(path)))
        name = _named(one, facts[0], other, taken)
        taken.add(name)
        named.append((name, {path: one[path] for path in other[:FEW] if path in one}))
    return named


def _named(one: Facts, first: Facts, other: Sequence[str], taken: set[str]) -> str:
    said = [_said(path, one, first) for path in other]
    for count in range(1, FEW + 1):
        name = ", ".join(dict.fromkeys(said[:count])) or DEFAULT
        if name not in taken:
            return name
    number = 2
    while f"{name}, {number}" in taken:
        number += 1
    return f"{name}, {number}"


def _said(path: str, one: Facts, first: Facts) -> str:
    name = path.rpartition("config.")[2] or path
    value = one.get(path)
    if path not in one or value is None:
        return f"without {name}"
    if value == GIVEN:
        return f"with {name}"
    if isinstance(value, str) and value[:1].isdigit() and "-D" in value:
        return f"with {name}" if first.get(path) is None else f"{name} {value}"
    return f"{name}={value}"[:60]
