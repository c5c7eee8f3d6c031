"""The calls and reads of one definition in, its edges out: to what, on which line, and how sure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from forwardbook.analyzers.calls.attributes import is_property
from forwardbook.analyzers.calls.containers import method_result, subscript
from forwardbook.analyzers.calls.expressions import super_of
from forwardbook.analyzers.calls.steps import called, with_rest
from forwardbook.analyzers.calls.targets import Site, of_function, siblings, targets
from forwardbook.analyzers.calls.values import (
    ClassValue,
    ContainerValue,
    FunctionValue,
    InstanceValue,
    OutsideValue,
    Place,
    Values,
    union,
    unknown,
    weaker,
)
from forwardbook.analyzers.index.facts import Call, Edge, How

if TYPE_CHECKING:
    from forwardbook.analyzers.calls.resolver import Resolver

_STEP: Final = re.compile(r"\w+|\(\)|\[\]")


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
            site = Site(self._scope, call.line)
            yield from self._properties(site, call)
            yield from self._of_call(site, call)
        for read in self._reads:
            name = read.target.rpartition(".")[2]
            if name != "__setitem__":
                yield from self._properties(Site(self._scope, read.line), read)

    def _of_call(self, site: Site, call: Call) -> Iterator[Edge]:
        steps = _STEP.findall(call.target)
        if call.target == "super":
            return
        if len(steps) > 1 and steps[-1] not in ("()", "[]"):
            receiver = self._chain(call, steps[:-1])
            yield from siblings(self._resolver, site, receiver, steps[-1])
            values = self._members(call, steps, receiver)
        else:
            values = self._chain(call, steps)
        yield from targets(self._resolver, site, call.target, values)

    def _members(self, call: Call, steps: list[str], receiver: Values) -> Values:
        """The attribute that is called on each alternative; of a property, its result."""
        name = steps[-1]
        found = with_rest(receiver, [self._resolver.member(value, name) for value in receiver.alternatives])
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

    def _properties(self, site: Site, call: Call) -> Iterator[Edge]:
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
        self, site: Site, found: FunctionValue, receiver: Values, held: Values
    ) -> Iterator[Edge]:
        how: How = weaker(receiver.how, held.how)
        reason = receiver.reason or held.reason
        if how == "exact" and (len(receiver.alternatives) > 1 or not receiver.known):
            how = "possible"
            reason = reason or f"one of {len(receiver.alternatives)} that it may be"
        yield from of_function(self._resolver, site, found, how, "read", reason)

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
        return with_rest(before, [self._resolver.member(value, steps[-1]) for value in before.alternatives])

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
                return with_rest(receiver, [method_result(value, steps[-1]) for value in kinds])
        return called(self._resolver, self._chain(call, steps))


def _joined(steps: list[str]) -> str:
    return "".join(
        step if step in ("()", "[]") or not number else f".{step}" for number, step in enumerate(steps)
    )


def _holds(resolver: Resolver, value: InstanceValue, name: str) -> bool:
    """Whether the repository itself defines an attribute of a class, and not only a base from outside."""
    found = resolver.found_member(value, name).alternatives
    return any(not isinstance(one, OutsideValue) for one in found)
