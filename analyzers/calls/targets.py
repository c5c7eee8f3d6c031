"""What a call can reach in, the edges to it out: functions and overrides, constructors, outside names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from forwardbook.analyzers.calls.attributes import own
from forwardbook.analyzers.calls.values import (
    ClassValue,
    FunctionValue,
    InstanceValue,
    OutsideValue,
    Place,
    SuperValue,
    Value,
    Values,
)
from forwardbook.analyzers.index.facts import Edge, How

if TYPE_CHECKING:
    from forwardbook.analyzers.calls.resolver import Resolver

MANY: Final = 24  # a call that may reach more overrides than this names only how many


@dataclass(frozen=True, slots=True)
class Site:
    """One place of a file where something is called or read."""

    scope: Place
    line: int

    def edge(self, how: How, callee: Place | str, reason: str = "", constructs: str = "") -> Edge:
        path, name = callee if isinstance(callee, Place) else ("", callee)
        return Edge(
            path=self.scope.path,
            caller=self.scope.qualname,
            line=self.line,
            how=how,
            callee_path=path,
            callee=name,
            reason=reason,
            constructs=constructs,
        )


def siblings(resolver: Resolver, site: Site, receiver: Values, name: str) -> Iterator[Edge]:
    """What `super()` reaches instead where a subclass puts another class behind this one."""
    for value in receiver.alternatives:
        if not isinstance(value, SuperValue):
            continue
        held = resolver.found_member(value, name).alternatives
        usual = {one.place for one in held if isinstance(one, FunctionValue)}
        for below in resolver.hierarchy.descendants(value.place):
            line = resolver.hierarchy.line(below).classes
            behind = line[line.index(value.place) + 1 :] if value.place in line else ()
            for place in behind:
                if not isinstance(place, Place):
                    break
                found = own(resolver, place, value.receiver, name)
                if found is None:
                    continue
                for one in found.alternatives:
                    if isinstance(one, FunctionValue) and one.place not in usual:
                        yield site.edge("possible", one.place, f"it comes next in `{below.qualname}`")
                break


def targets(resolver: Resolver, site: Site, text: str, values: Values) -> Iterator[Edge]:
    """The edges to what a call can reach."""
    if not values.alternatives:
        yield site.edge("unresolved", text, values.reason or "nothing but `None` is known of it")
        return
    how: How = values.how
    reason = "a registry holds it" if how == "registry" else values.reason
    if how == "exact" and (len(values.alternatives) > 1 or not values.known):
        how = "possible"
        reason = values.reason or f"one of {len(values.alternatives)} that it may be"
    for value in values.alternatives:
        yield from _target(resolver, site, text, value, how, reason)


def _target(resolver: Resolver, site: Site, text: str, value: Value, how: How, reason: str) -> Iterator[Edge]:
    if isinstance(value, FunctionValue):
        yield from of_function(resolver, site, value, how, "call", reason)
    elif isinstance(value, ClassValue):
        yield from _of_class(resolver, site, value, how, reason)
    elif isinstance(value, OutsideValue):
        yield from _of_outside(site, text, value, how, reason)
    elif isinstance(value, InstanceValue):
        yield from _of_instance(resolver, site, text, value, how, reason)
    else:
        yield site.edge("unresolved", text, "what is called is no function")


def _of_outside(site: Site, text: str, value: OutsideValue, how: How, reason: str) -> Iterator[Edge]:
    if value.role == "instance":
        if value.dotted.startswith("builtins."):
            yield site.edge("unresolved", text, f"an instance of `{value.dotted}` is called")
        else:
            yield site.edge("external", f"{value.dotted}.__call__", reason if how != "exact" else "")
        return
    name = value.dotted.rpartition(".")[2]
    is_class = value.role == "name" and name[:1].isupper() and not name.isupper()
    why = reason if how != "exact" else ""
    yield site.edge("external", value.dotted, why, value.dotted if is_class else "")


def _of_class(resolver: Resolver, site: Site, value: ClassValue, how: How, reason: str) -> Iterator[Edge]:
    """A constructor: `__init__` where the repository defines it, and else the class itself."""
    found = resolver.found_member(value, "__init__")
    first = found.alternatives[0] if found.alternatives else None
    definition = value.place
    if isinstance(first, FunctionValue):
        definition = first.place
    yield site.edge(how, definition, reason, value.place.qualname)


def _of_instance(
    resolver: Resolver, site: Site, text: str, value: InstanceValue, how: How, reason: str
) -> Iterator[Edge]:
    """A called instance: its `__call__`, or `forward` behind the `__call__` of a class from outside."""
    found = resolver.found_member(value, "__call__")
    first = found.alternatives[0] if found.alternatives else None
    if isinstance(first, FunctionValue):
        yield from of_function(resolver, site, first, how, "call", reason)
        return
    outside = first.dotted if isinstance(first, OutsideValue) else ""
    forward = resolver.found_member(value, "forward")
    bodies = [one for one in forward.alternatives if isinstance(one, FunctionValue)]
    if bodies and outside:
        why = f"`{outside}` calls `forward`"
        for body in bodies:
            yield from of_function(resolver, site, body, "registry" if how == "exact" else how, "call", why)
    elif outside:
        yield site.edge("external", outside, reason)
    else:
        yield site.edge("unresolved", text, f"`{value.place.qualname}` has no `__call__` that is found")


def of_function(
    resolver: Resolver,
    site: Site,
    value: FunctionValue,
    how: How,
    form: Literal["call", "read"],
    reason: str = "",
) -> Iterator[Edge]:
    """A function, and as possible the overrides that a subclass's instance would run instead."""
    yield _formed(site.edge(how, value.place, reason), form)
    receiver = value.receiver
    if receiver is None or receiver.exact or value.fixed:
        return
    overrides = overriding(resolver, receiver.place, value.place)
    if len(overrides) > MANY:
        why = f"`{value.place.qualname}` has {len(overrides)} overrides"
        yield _formed(site.edge("unresolved", value.place.name, why), form)
        return
    for place in overrides:
        yield _formed(site.edge("possible", place, f"overrides `{value.place.qualname}`"), form)


def _formed(edge: Edge, form: Literal["call", "read"]) -> Edge:
    return edge if form == "call" else replace(edge, form=form)


def overriding(resolver: Resolver, receiver: Place, method: Place) -> tuple[Place, ...]:
    """The methods of the same name that subclasses of the receiver's class define."""
    found: dict[Place, None] = {}
    for below in resolver.hierarchy.descendants(receiver):
        qualname = f"{below.qualname}.{method.name}"
        place = Place(below.path, qualname)
        if place != method and resolver.file(below.path).definition(qualname) is not None:
            found[place] = None
    return tuple(found)
