"""A value and the name of an attribute in, what the attribute stands for out."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from forwardbook.analyzers.calls.classes import Base, Outside, has_members
from forwardbook.analyzers.calls.names import module_member, of_value
from forwardbook.analyzers.calls.values import (
    ClassValue,
    ContainerValue,
    FunctionValue,
    InstanceValue,
    ModuleValue,
    OutsideValue,
    Place,
    SuperValue,
    Value,
    Values,
    one,
    union,
    unknown,
)
from forwardbook.analyzers.index.facts import Attribute, Definition

if TYPE_CHECKING:
    from forwardbook.analyzers.calls.resolver import Resolver

_OF_OBJECT: Final = frozenset(dir(object))
_PREFIX: Final = re.compile(r"(?:\[\d+\] of |for |with )*")
_NAME: Final = re.compile(r"[^\W\d]\w*")


def member(resolver: Resolver, value: Value, name: str) -> Values:
    """What an attribute of a value stands for; a property read of an instance is its result."""
    values = resolver.found_member(value, name)
    parts = [
        resolver.result(one_) if is_property(resolver, one_) else one(one_) for one_ in values.alternatives
    ]
    if not values.known:
        parts.append(unknown(values.reason))
    return union(parts).labelled(values.how)


def is_property(resolver: Resolver, value: Value) -> bool:
    """Whether reading this attribute runs a function."""
    if not isinstance(value, FunctionValue) or not isinstance(value.receiver, InstanceValue):
        return False
    definition = resolver.definition(value.place)
    return definition is not None and definition.kind == "property"


def found(resolver: Resolver, value: Value, name: str) -> Values:
    """The attribute of a value; functions are bound to it, properties stay functions."""
    if isinstance(value, ModuleValue):
        return module_member(resolver, value, name)
    if isinstance(value, ClassValue | InstanceValue):
        line = resolver.hierarchy.line(value.place)
        values = _along(resolver, line.classes, line.sure, value, name)
        if not values.alternatives and not value.exact:
            return _below(resolver, value, name) or values
        return values
    if isinstance(value, SuperValue):
        line = resolver.hierarchy.line(value.place)
        values = _along(resolver, line.classes[1:], line.sure, value.receiver, name)
        fixed = [
            replace(one_, fixed=True) if isinstance(one_, FunctionValue) else one_
            for one_ in values.alternatives
        ]
        return replace(values, alternatives=tuple(fixed))
    if isinstance(value, OutsideValue):
        if value.role == "name":
            return one(OutsideValue(f"{value.dotted}.{name}"))
        if value.role == "instance":
            return one(OutsideValue(f"{value.dotted}.{name}", "member"))
        return unknown(f"what `{value.dotted}` is lies outside the repository")
    if isinstance(value, ContainerValue):
        return one(OutsideValue(f"{value.dotted}.{name}", "member"))
    return unknown(f"`{name}` is an attribute of a function")


def _along(
    resolver: Resolver,
    classes: tuple[Base, ...],
    sure: bool,
    receiver: ClassValue | InstanceValue,
    name: str,
) -> Values:
    """The first class in the order that has the name; what may come before it makes it only possible."""
    outside = ""
    opaque = ""
    for base in classes:
        if isinstance(base, Outside):
            if not base.dotted:
                opaque = opaque or base.text
            elif has_members(base):
                outside = outside or base.dotted
            continue
        values = own(resolver, base, receiver, name)
        if values is not None:
            if sure and not opaque and not outside:
                return values
            before = opaque or outside
            why = f"base `{before}` may have it" if before else "the order of its bases is not known"
            return replace(values.labelled("possible"), reason=values.reason or why)
    if opaque:
        return unknown(f"base `{opaque}` is not followed")
    if outside:
        return one(OutsideValue(f"{outside}.{name}", "member"))
    if name in _OF_OBJECT:
        return one(OutsideValue(f"builtins.object.{name}", "member"))
    return unknown(f"`{receiver.place.qualname}` has no `{name}` that is found")


def _below(resolver: Resolver, receiver: ClassValue | InstanceValue, name: str) -> Values | None:
    """What subclasses have by a name that the class itself lacks, as a mixin expects of them."""
    below = resolver.hierarchy.descendants(receiver.place)
    parts = [own(resolver, place, receiver, name) for place in below]
    known = union([part for part in parts if part is not None])
    return replace(known, how="possible", reason="a subclass has it") if known.alternatives else None


def own(resolver: Resolver, owner: Place, receiver: ClassValue | InstanceValue, name: str) -> Values | None:
    """What a class itself has by a name, None where it has none."""
    definition = resolver.file(owner.path).definition(f"{owner.qualname}.{name}")
    method = None
    if definition is not None:
        place = Place(owner.path, definition.qualname)
        if definition.kind == "class":
            return one(ClassValue(place))
        method = one(FunctionValue(place, receiver))
        if definition.kind == "property":
            return method
    owning = resolver.definition(owner)
    attributes = [one_ for one_ in owning.attributes if one_.name == name] if owning else []
    if not attributes:
        return method
    values = resolver.attribute_of_class(owner, name)
    if method is None:
        return values
    if not values.alternatives:
        return method
    both = union((method, values))
    return (
        replace(both, how="possible", reason="it is also assigned") if len(both.alternatives) > 1 else method
    )


def bound(resolver: Resolver, owner: Place, name: str) -> Values:
    """What the body and the methods of a class bind an attribute to."""
    definition = resolver.definition(owner)
    if definition is None:
        return unknown(f"`{owner.qualname}` is not found")
    attribute = next((one_ for one_ in definition.attributes if one_.name == name), None)
    if attribute is None:
        return unknown(f"`{owner.qualname}` has no `{name}`")
    more = resolver.registries.items(owner, name)
    first = _scope_at(resolver, owner, definition, attribute.line)
    if attribute.annotation:
        declared = resolver.annotation(first, attribute.annotation)
        if declared.alternatives:
            return _registered(declared, more)
    parts = (
        [of_value(resolver, first, attribute.value, name)]
        if attribute.value or not attribute.annotation
        else []
    )
    parts += [_later(resolver, owner, definition, first, text, attribute) for text in attribute.also]
    return _registered(union(parts), more)


def _registered(declared: Values, more: Values) -> Values:
    """A container with what registrations put into it."""
    if not more.alternatives:
        return declared
    kinds = [value for value in declared.alternatives if isinstance(value, ContainerValue)]
    if kinds and kinds[0].kind == "sequence":
        return one(ContainerValue("sequence", kinds[0].dotted, (more,)))
    dotted = kinds[0].dotted if kinds else "builtins.dict"
    key = kinds[0].items[0] if kinds else unknown("a key of a registry")
    return one(ContainerValue("mapping", dotted, (key, more)))


def _scope_at(resolver: Resolver, owner: Place, definition: Definition, line: int) -> Place:
    """The method (or the class body) that holds a line of a class."""
    if line not in definition.decorated:
        return owner
    return Place(owner.path, resolver.file(owner.path).scope_at(line) or owner.qualname)


def _method(resolver: Resolver, owner: Place, root: str) -> Place | None:
    """A method of a class whose first parameter has this name."""
    for method in resolver.file(owner.path).facts.definitions:
        if method.parent == owner.qualname and method.parameters and method.parameters[0].name == root:
            return Place(owner.path, method.qualname)
    return None


def _root(text: str) -> str:
    """The name that a value as the facts write it begins with."""
    text = _PREFIX.sub("", text)
    found = _NAME.match(text)
    return found[0] if found else ""


def _later(
    resolver: Resolver, owner: Place, definition: Definition, first: Place, text: str, attribute: Attribute
) -> Values:
    """What a later assignment binds, in the one method that can hold it; unknown where several could."""
    file = resolver.file(owner.path)
    root = _root(text)
    if not root.isidentifier():
        return (
            of_value(resolver, first, text, attribute.name)
            if text
            else unknown(f"how `{attribute.name}` is bound is not followed")
        )
    holders = [
        method.qualname
        for method in file.facts.definitions
        if method.parent == owner.qualname
        and any(one_.name == root for group in (method.parameters, method.locals) for one_ in group)
    ]
    if root in ("self", "cls"):
        return of_value(resolver, _method(resolver, owner, root) or first, text, attribute.name)
    if not holders:
        return of_value(resolver, owner, text, attribute.name)
    if len(holders) == 1:
        return of_value(resolver, Place(owner.path, holders[0]), text, attribute.name)
    kinds = {of_value(resolver, Place(owner.path, holder), text, attribute.name) for holder in holders}
    return kinds.pop() if len(kinds) == 1 else unknown(f"several methods bind `{attribute.name}`")
