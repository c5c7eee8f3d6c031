"""A value in, what calling it gives out: instances of classes, declared or returned values of functions."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Final

from forwardbook.analyzers.calls.values import (
    ClassValue,
    ContainerValue,
    FunctionValue,
    InstanceValue,
    OutsideValue,
    Place,
    Value,
    Values,
    one,
    union,
    unknown,
)
from forwardbook.analyzers.index.facts import Definition

if TYPE_CHECKING:
    from forwardbook.analyzers.calls.resolver import Resolver

_CONTEXT: Final = frozenset({"contextmanager", "asynccontextmanager"})
_LOWERCASE: Final = (
    "deque",
    "defaultdict",
    "date",
    "datetime",
    "time",
    "timedelta",
    "array",
    "chain",
    "product",
)
_CLASSES: Final = {*_LOWERCASE, *(name for name, kind in vars(builtins).items() if isinstance(kind, type))}
_MAPPING_CLASSES: Final = frozenset({"dict", "defaultdict", "OrderedDict"})
_SEQUENCE_CLASSES: Final = frozenset({"list", "set", "frozenset", "tuple", "deque"})


def of(resolver: Resolver, value: Value) -> Values:
    """What calling a value gives."""
    if isinstance(value, ClassValue):
        return one(InstanceValue(value.place, value.exact))
    if isinstance(value, FunctionValue):
        definition = resolver.definition(value.place)
        return of_function(resolver, value, definition) if definition else unknown("no such function")
    if isinstance(value, InstanceValue):
        called = resolver.found_member(value, "__call__")
        if not called.alternatives or isinstance(called.alternatives[0], OutsideValue):
            called = resolver.found_member(value, "forward")
        functions = [one_ for one_ in called.alternatives if isinstance(one_, FunctionValue)]
        if functions:
            return union(resolver.result(one_) for one_ in functions).labelled(called.how)
        return unknown(f"what calling a `{value.place.qualname}` gives is not known")
    if isinstance(value, OutsideValue):
        return of_outside(value)
    return unknown("what is called is no function")


def of_outside(value: OutsideValue) -> Values:
    """An instance where the name is that of a class by convention, and else nothing that is known."""
    name = value.dotted.rpartition(".")[2]
    if value.role == "name":
        empty = unknown("the items of a container that is filled later")
        if name in _MAPPING_CLASSES:
            return one(ContainerValue("mapping", value.dotted, (empty, empty)))
        if name in _SEQUENCE_CLASSES:
            return one(ContainerValue("sequence", value.dotted, (empty,)))
        if name in _CLASSES or (name[:1].isupper() and not name.isupper()):
            return one(OutsideValue(value.dotted, "instance"))
    return unknown(f"what `{value.dotted}` gives lies outside the repository")


def of_function(resolver: Resolver, value: FunctionValue, definition: Definition) -> Values:
    """What a function is declared to return, or else what its `return` statements give."""
    found = _declared_or_returned(resolver, value, definition)
    if any(mark.rpartition(".")[2] in _CONTEXT for mark in definition.decorators):
        items = [
            one_.items[0] if isinstance(one_, ContainerValue) else unknown("what it yields")
            for one_ in found.alternatives
        ]
        return one(ContainerValue("context", "contextlib.AbstractContextManager", (union(items),)))
    if definition.is_async and not definition.is_generator:
        return one(ContainerValue("awaitable", "typing.Coroutine", (found,)))
    return found


def _declared_or_returned(resolver: Resolver, value: FunctionValue, definition: Definition) -> Values:
    scope = Place(value.place.path, definition.parent)
    declared = None
    if definition.returns:
        if definition.returns.strip("\"'").rpartition(".")[2] == "Self" and value.receiver is not None:
            return one(InstanceValue(value.receiver.place, value.receiver.exact))
        declared = resolver.annotation(scope, definition.returns)
        if declared.alternatives or declared.known:
            return declared
    if definition.is_generator:
        return unknown(f"what `{definition.qualname}` yields is not known")
    if definition.kind == "property" or definition.returned:
        found = union(resolver.text(value.place, text) for text in definition.returned)
        if found.alternatives or declared is None:
            return _of_receiver(found, value, definition)
    return declared or unknown(f"`{definition.qualname}` returns nothing that is known")


def _of_receiver(found: Values, value: FunctionValue, definition: Definition) -> Values:
    """`return self` gives the receiver itself, not any instance of the class that defines the method."""
    if value.receiver is None or definition.returned not in (("self",), ("cls()",), ("cls",)):
        return found
    if definition.returned == ("self",):
        return one(value.receiver)
    return found
