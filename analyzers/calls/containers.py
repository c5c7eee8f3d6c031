"""Containers in, what is in them out: items by iteration and subscript, results of their methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from forwardbook.analyzers.calls.values import (
    ClassValue,
    ContainerValue,
    InstanceValue,
    OutsideValue,
    Value,
    Values,
    one,
    union,
    unknown,
)

if TYPE_CHECKING:
    from forwardbook.analyzers.calls.resolver import Resolver

_TAKES_ITEM: Final = frozenset({"get", "pop", "setdefault", "popleft", "popitem", "__getitem__", "__next__"})


def item(resolver: Resolver, values: Values) -> Values:
    """What iterating over a value gives."""
    return _each(values, lambda value: _iterated(resolver, value))


def _each(values: Values, rule: Callable[[Value], Values]) -> Values:
    parts = [rule(value) for value in values.alternatives]
    if not values.known:
        parts.append(unknown(values.reason))
    return union(parts).labelled(values.how)


def _iterated(resolver: Resolver, value: Value) -> Values:
    if isinstance(value, ContainerValue):
        if value.kind == "pairs":
            return one(ContainerValue("tuple", "builtins.tuple", value.items))
        if value.kind == "tuple":
            return union(value.items)
        if value.kind in ("sequence", "iterator", "mapping"):
            return value.items[0]
    if isinstance(value, InstanceValue):
        found = resolver.found_member(value, "__iter__")
        if found.alternatives and not isinstance(found.alternatives[0], OutsideValue):
            made = union(resolver.result(one_) for one_ in found.alternatives)
            return _each(made, lambda inner: _next(resolver, inner))
    return unknown("the items of what is iterated are not known")


def _next(resolver: Resolver, value: Value) -> Values:
    if isinstance(value, ContainerValue):
        return _iterated(resolver, value)
    if isinstance(value, InstanceValue):
        found = resolver.found_member(value, "__next__")
        if found.alternatives:
            return union(resolver.result(one_) for one_ in found.alternatives)
    return unknown("the items of what is iterated are not known")


def subscript(resolver: Resolver, values: Values, index: int | None, sliced: bool = False) -> Values:
    """What a subscript of a value gives; `index` where it is a number in the source."""
    return _each(values, lambda value: _subscript(resolver, value, index, sliced))


def _subscript(resolver: Resolver, value: Value, index: int | None, sliced: bool) -> Values:
    if isinstance(value, ContainerValue):
        if sliced and value.kind in ("sequence", "tuple"):
            return one(ContainerValue("sequence", value.dotted, (union(value.items),)))
        if value.kind == "mapping":
            return value.items[1]
        if value.kind == "tuple" and index is not None and -len(value.items) <= index < len(value.items):
            return value.items[index]
        if value.kind in ("tuple", "sequence"):
            return union(value.items)
    if isinstance(value, InstanceValue):
        found = resolver.found_member(value, "__getitem__")
        if found.alternatives:
            return union(resolver.result(one_) for one_ in found.alternatives)
    if isinstance(value, ClassValue) or (isinstance(value, OutsideValue) and value.role == "name"):
        return one(value)  # a generic class with its arguments
    return unknown("what a subscript gives is not known")


def entered(resolver: Resolver, values: Values) -> Values:
    """What `with X as name` binds."""
    return _each(values, lambda value: _entered(resolver, value))


def _entered(resolver: Resolver, value: Value) -> Values:
    if isinstance(value, ContainerValue) and value.kind in ("context", "iterator"):
        return value.items[0]
    if isinstance(value, InstanceValue):
        found = resolver.found_member(value, "__enter__")
        if found.alternatives:
            return union(resolver.result(one_) for one_ in found.alternatives)
    return unknown("what `with` binds is not known")


def awaited(values: Values) -> Values:
    """What `await` gives of a value."""
    parts = [
        value.items[0] if isinstance(value, ContainerValue) and value.kind == "awaitable" else one(value)
        for value in values.alternatives
    ]
    return union([*parts, *([] if values.known else [unknown(values.reason)])]).labelled(values.how)


def method_result(value: ContainerValue, name: str) -> Values:
    """What calling a method of a built-in container gives."""
    items = value.items
    if value.kind == "mapping":
        if name == "items":
            return one(ContainerValue("pairs", "builtins.dict_items", items))
        if name == "keys":
            return one(ContainerValue("iterator", "builtins.dict_keys", items[:1]))
        if name == "values":
            return one(ContainerValue("iterator", "builtins.dict_values", items[1:]))
        if name == "copy":
            return one(value)
        if name in _TAKES_ITEM:
            return one(ContainerValue("tuple", "builtins.tuple", items)) if name == "popitem" else items[1]
    elif value.kind in ("sequence", "tuple", "iterator"):
        if name in _TAKES_ITEM:
            return union(items)
        if name in ("copy", "union", "intersection", "difference", "__iter__"):
            return one(value)
    return unknown(f"what `{name}` of a container gives is not known")
