"""The calls and reads of one definition in, its edges out: to what, on which line, and how sure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from forwardbook.analyzers.calls.attributes import is_property, own
from forwardbook.analyzers.calls.containers import method_result, subscript
from forwardbook.analyzers.calls.expressions import called, super_of
from forwardbook.analyzers.calls.values import (
    ClassValue,
    ContainerValue,
    FunctionValue,
    InstanceValue,
    OutsideValue,
    Place,
    SuperValue,
    Value,
    Values,
    union,
    unknown,
    weaker,
)
from forwardbook.analyzers.index.facts import Call, Edge, How

if TYPE_CHECKING:
    from forwardbook.analyzers.calls.resolver import Resolver

_STEP: Final = re.compile(r"\w+|\(\)|\[\]")
MANY: Final = 24  # a call that may reach more overrides than this names only how many


@dataclass(frozen=True, slots=True)
class _Site:
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


class Calls:
    """The calls and reads of one definition, followed step by step."""

    def __init__(
        self, resolver: Resolver, scope: Place, calls: Iterable[Call], reads: Iterable[Call]
    ) -> None:
        self._resolver = resolver
        self._scope = scope
        self._calls = tuple(calls)
        self._reads = tuple(reads)
        self._arguments = {(call.line, call.column, call.target): call.arguments for call in self._calls}
        self._prefixes: dict[str, Values] = {}
        self._checked: dict[str, list[Call]] = {}
        for call in self._calls:
            if call.target == "isinstance" and len(call.arguments) == 2:
                self._checked.setdefault(call.arguments[0], []).append(call)

    def edges(self) -> Iterator[Edge]:
        """The edges by line."""
        for call in self._calls:
            site = _Site(self._scope, call.line)
            yield from self._properties(site, call)
            yield from self._of_call(site, call)
        for read in self._reads:
            name = read.target.rpartition(".")[2]
            if name != "__setitem__":
                yield from self._properties(_Site(self._scope, read.line), read)

    def _of_call(self, site: _Site, call: Call) -> Iterator[Edge]:
        steps = _STEP.findall(call.target)
        if call.target == "super":
            return
        if len(steps) > 1 and steps[-1] not in ("()", "[]"):
            receiver = self._chain(call, steps[:-1])
            yield from _siblings(self._resolver, site, receiver, steps[-1])
            values = self._members(call, steps, receiver)
        else:
            values = self._chain(call, steps)
        yield from _targets(self._resolver, site, call.target, values)

    def _members(self, call: Call, steps: list[str], receiver: Values) -> Values:
        """The attribute that is called on each alternative; of a property, its result."""
        name = steps[-1]
        found = _through(receiver, [self._resolver.member(value, name) for value in receiver.alternatives])
        if any(not isinstance(value, OutsideValue) for value in found.alternatives):
            return found
        narrowed = self._narrowed(call, _joined(steps[:-1]))
        held = [value for value in narrowed if _holds(self._resolver, value, name)]
        if not held:
            return found
        values = union((found, *(self._resolver.member(value, name) for value in held)))
        return replace(values, how="possible", reason="`isinstance` tests for its class before")

    def _narrowed(self, call: Call, text: str) -> list[InstanceValue]:
        """The classes of the repository that an `isinstance` further up tests a receiver for."""
        found: dict[InstanceValue, None] = {}
        for check in self._checked.get(text, ()):
            if check.line > call.line:
                continue
            tested = self._resolver.text(self._scope, check.arguments[1])
            for value in tested.alternatives:
                items = value.items if isinstance(value, ContainerValue) else (Values((value,)),)
                for one in (one for part in items for one in part.alternatives):
                    if isinstance(one, ClassValue):
                        found[InstanceValue(one.place, exact=False)] = None
        return list(found)

    def _properties(self, site: _Site, call: Call) -> Iterator[Edge]:
        """The properties that a chain reads on its way."""
        steps = _STEP.findall(call.target)
        for end in range(1, len(steps)):
            if steps[end] in ("()", "[]"):
                continue
            receiver = self._chain(call, steps[:end])
            if not any(isinstance(value, InstanceValue) for value in receiver.alternatives):
                narrowed = self._narrowed(call, _joined(steps[:end]))
                if narrowed:
                    receiver = Values(tuple(narrowed), False, "`isinstance` tests for its class before")
            for value in receiver.alternatives:
                if not isinstance(value, InstanceValue):
                    continue
                found = self._resolver.found_member(value, steps[end])
                for one in found.alternatives:
                    if isinstance(one, FunctionValue) and is_property(self._resolver, one):
                        yield from self._of_property(site, one, receiver, found)

    def _of_property(
        self, site: _Site, found: FunctionValue, receiver: Values, held: Values
    ) -> Iterator[Edge]:
        how: How = weaker(receiver.how, held.how)
        reason = receiver.reason or held.reason
        if how == "exact" and (len(receiver.alternatives) > 1 or not receiver.known):
            how = "possible"
            reason = reason or f"one of {len(receiver.alternatives)} that it may be"
        yield from _of_function(self._resolver, site, found, how, "read", reason)

    def _chain(self, call: Call, steps: list[str]) -> Values:
        """What the first steps of a chain stand for."""
        text = _joined(steps)
        known = self._prefixes.get(text)
        if known is not None:
            return known
        found = self._follow(call, steps, text)
        if "()" not in text:
            self._prefixes[text] = found
        return found

    def _follow(self, call: Call, steps: list[str], text: str) -> Values:
        if len(steps) == 1:
            if steps[0] in ("()", "[]"):
                return unknown("what stands before it is an expression")
            return self._resolver.name(self._scope, steps[0])
        if steps[-1] == "()":
            return self._result(call, steps[:-1])
        before = self._chain(call, steps[:-1])
        if steps[-1] == "[]":
            return subscript(self._resolver, before, None)
        return _through(before, [self._resolver.member(value, steps[-1]) for value in before.alternatives])

    def _result(self, call: Call, steps: list[str]) -> Values:
        """What the call inside a chain gives; with its arguments where it begins where the chain does."""
        text = _joined(steps)
        arguments = self._arguments.get((call.line, call.column, text))
        if arguments is not None and "[]" not in text and "()" not in text and "…" not in "".join(arguments):
            return self._resolver.text(self._scope, f"{text}({', '.join(arguments)})")
        if steps == ["super"]:
            return super_of(self._resolver, self._scope)
        if len(steps) > 1 and steps[-1] not in ("()", "[]"):
            receiver = self._chain(call, steps[:-1])
            kinds = [value for value in receiver.alternatives if isinstance(value, ContainerValue)]
            if kinds and len(kinds) == len(receiver.alternatives):
                return _through(receiver, [method_result(value, steps[-1]) for value in kinds])
        return called(self._resolver, self._chain(call, steps))


def _joined(steps: list[str]) -> str:
    return "".join(
        step if step in ("()", "[]") or not number else f".{step}" for number, step in enumerate(steps)
    )


def _through(before: Values, parts: list[Values]) -> Values:
    if not before.known:
        parts = [*parts, unknown(before.reason)]
    return union(parts).labelled(before.how)


def _holds(resolver: Resolver, value: InstanceValue, name: str) -> bool:
    """Whether the repository itself defines an attribute of a class, and not only a base from outside."""
    found = resolver.found_member(value, name).alternatives
    return any(not isinstance(one, OutsideValue) for one in found)


def _siblings(resolver: Resolver, site: _Site, receiver: Values, name: str) -> Iterator[Edge]:
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


def _targets(resolver: Resolver, site: _Site, text: str, values: Values) -> Iterator[Edge]:
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


def _target(
    resolver: Resolver, site: _Site, text: str, value: Value, how: How, reason: str
) -> Iterator[Edge]:
    if isinstance(value, FunctionValue):
        yield from _of_function(resolver, site, value, how, "call", reason)
    elif isinstance(value, ClassValue):
        yield from _of_class(resolver, site, value, how, reason)
    elif isinstance(value, OutsideValue):
        yield from _of_outside(site, text, value, how, reason)
    elif isinstance(value, InstanceValue):
        yield from _of_instance(resolver, site, text, value, how, reason)
    else:
        yield site.edge("unresolved", text, "what is called is no function")


def _of_outside(site: _Site, text: str, value: OutsideValue, how: How, reason: str) -> Iterator[Edge]:
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


def _of_class(resolver: Resolver, site: _Site, value: ClassValue, how: How, reason: str) -> Iterator[Edge]:
    """A constructor: `__init__` where the repository defines it, and else the class itself."""
    found = resolver.found_member(value, "__init__")
    first = found.alternatives[0] if found.alternatives else None
    definition = value.place
    if isinstance(first, FunctionValue):
        definition = first.place
    yield site.edge(how, definition, reason, value.place.qualname)


def _of_instance(
    resolver: Resolver, site: _Site, text: str, value: InstanceValue, how: How, reason: str
) -> Iterator[Edge]:
    """A called instance: its `__call__`, or `forward` behind the `__call__` of a class from outside."""
    found = resolver.found_member(value, "__call__")
    first = found.alternatives[0] if found.alternatives else None
    if isinstance(first, FunctionValue):
        yield from _of_function(resolver, site, first, how, "call", reason)
        return
    outside = first.dotted if isinstance(first, OutsideValue) else ""
    forward = resolver.found_member(value, "forward")
    bodies = [one for one in forward.alternatives if isinstance(one, FunctionValue)]
    if bodies and outside:
        why = f"`{outside}` calls `forward`"
        for body in bodies:
            yield from _of_function(resolver, site, body, "registry" if how == "exact" else how, "call", why)
    elif outside:
        yield site.edge("external", outside, reason)
    else:
        yield site.edge("unresolved", text, f"`{value.place.qualname}` has no `__call__` that is found")


def _of_function(
    resolver: Resolver,
    site: _Site,
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
