"""`match` statements in, the first case that fits run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import libcst as cst

from forwardbook.analyzers.static.access import builtin_getattr, builtin_hasattr
from forwardbook.analyzers.static.expressions import truth
from forwardbook.analyzers.static.interpreter import Block, Interpreter, runs
from forwardbook.analyzers.static.numbers import instance_of
from forwardbook.analyzers.static.scope import Scope
from forwardbook.analyzers.static.unresolved import Unresolved


@runs(cst.Match)
def match(run: Interpreter, node: cst.Match, scope: Scope) -> Block:
    """The first case whose pattern and guard hold."""
    subject = run.evaluate(node.subject, scope)
    for case in node.cases:
        if fits(run, case.pattern, subject, scope) and (case.guard is None or truth(run, case.guard, scope)):
            return (yield from run.block(case.body, scope))
    return None


def fits(run: Interpreter, pattern: cst.MatchPattern, value: Any, scope: Scope) -> bool:
    """True when a value has the shape of a pattern; binds its names."""
    match pattern:
        case cst.MatchValue():
            return bool(run.evaluate(pattern.value, scope) == value)
        case cst.MatchSingleton():
            return run.evaluate(pattern.value, scope) is value
        case cst.MatchAs():
            if pattern.pattern is not None and not fits(run, pattern.pattern, value, scope):
                return False
            if pattern.name is not None:
                scope.bind(pattern.name.value, value)
            return True
        case cst.MatchOr():
            return any(fits(run, item.pattern, value, scope) for item in pattern.patterns)
        case cst.MatchSequence():
            return _sequence(run, pattern, value, scope)
        case cst.MatchMapping():
            return _mapping(run, pattern, value, scope)
        case cst.MatchClass():
            return _class(run, pattern, value, scope)
    raise Unresolved(f"the pattern {type(pattern).__name__} is not interpreted")


def _sequence(run: Interpreter, pattern: cst.MatchSequence, value: Any, scope: Scope) -> bool:
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        return False
    items = list(pattern.patterns)
    stars = [index for index, item in enumerate(items) if isinstance(item, cst.MatchStar)]
    if not stars:
        pairs = zip(items, value, strict=False)
        return len(items) == len(value) and all(
            fits(run, item.value, part, scope)
            for item, part in pairs
            if isinstance(item, cst.MatchSequenceElement)
        )
    after = len(items) - stars[0] - 1
    if len(value) < len(items) - 1:
        return False
    star = items[stars[0]]
    if isinstance(star, cst.MatchStar) and star.name is not None:
        scope.bind(star.name.value, list(value[stars[0] : len(value) - after]))
    ends = [*zip(items[: stars[0]], value, strict=False)]
    ends += zip(items[stars[0] + 1 :], value[len(value) - after :], strict=True)
    return all(
        fits(run, item.value, part, scope)
        for item, part in ends
        if isinstance(item, cst.MatchSequenceElement)
    )


def _mapping(run: Interpreter, pattern: cst.MatchMapping, value: Any, scope: Scope) -> bool:
    if not isinstance(value, Mapping):
        return False
    keys = []
    for element in pattern.elements:
        key = run.evaluate(element.key, scope)
        keys.append(key)
        if key not in value or not fits(run, element.pattern, value[key], scope):
            return False
    if pattern.rest is not None:
        scope.bind(pattern.rest.value, {key: item for key, item in value.items() if key not in keys})
    return True


def _class(run: Interpreter, pattern: cst.MatchClass, value: Any, scope: Scope) -> bool:
    kind = run.evaluate(pattern.cls, scope)
    if not instance_of(value, kind):
        return False
    if pattern.patterns:
        if kind in (int, str, float, bool, bytes, list, tuple, dict, set) and len(pattern.patterns) == 1:
            return fits(run, pattern.patterns[0].value, value, scope)
        raise Unresolved("a class pattern with positions is not interpreted")
    return all(
        builtin_hasattr(value, item.key.value)
        and fits(run, item.pattern, builtin_getattr(value, item.key.value), scope)
        for item in pattern.kwds
    )
