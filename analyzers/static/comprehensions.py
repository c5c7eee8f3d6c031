"""Comprehensions in, the containers or generators they make out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from forwardbook.analyzers.static.assignments import assign
from forwardbook.analyzers.static.expressions import truth
from forwardbook.analyzers.static.interpreter import Interpreter, evaluates
from forwardbook.analyzers.static.scope import Scope


@evaluates(cst.ListComp)
def list_comprehension(run: Interpreter, node: cst.ListComp, scope: Scope) -> list[Any]:
    """`[x for ...]`."""
    return [run.evaluate(node.elt, inner) for inner in _rounds(run, node.for_in, scope)]


@evaluates(cst.SetComp)
def set_comprehension(run: Interpreter, node: cst.SetComp, scope: Scope) -> set[Any]:
    """`{x for ...}`."""
    return {run.evaluate(node.elt, inner) for inner in _rounds(run, node.for_in, scope)}


@evaluates(cst.DictComp)
def dict_comprehension(run: Interpreter, node: cst.DictComp, scope: Scope) -> dict[Any, Any]:
    """`{k: v for ...}`."""
    found = {}
    for inner in _rounds(run, node.for_in, scope):
        key = run.evaluate(node.key, inner)
        found[key] = run.evaluate(node.value, inner)
    return found


@evaluates(cst.GeneratorExp)
def generator(run: Interpreter, node: cst.GeneratorExp, scope: Scope) -> Iterator[Any]:
    """`(x for ...)`: its first iterable is evaluated now, the rest as it is consumed."""
    first = run.evaluate(node.for_in.iter, scope)
    return _lazily(run, node, scope, first)


def _lazily(run: Interpreter, node: cst.GeneratorExp, scope: Scope, first: Any) -> Iterator[Any]:
    for inner in _rounds(run, node.for_in, scope, first):
        yield run.evaluate(node.elt, inner)


_UNSET = object()


def _rounds(run: Interpreter, clause: cst.CompFor, scope: Scope, first: Any = _UNSET) -> Iterator[Scope]:
    """One scope for each round of the clauses that passes their conditions."""
    iterable = run.evaluate(clause.iter, scope) if first is _UNSET else first
    run.at(clause.iter)
    for item in run.iterate(iterable):
        inner = Scope(scope.module, scope)
        assign(run, clause.target, item, inner)
        if not all(truth(run, condition.test, inner) for condition in clause.ifs):
            continue
        if clause.inner_for_in is None:
            yield inner
        else:
            yield from _rounds(run, clause.inner_for_in, inner)
