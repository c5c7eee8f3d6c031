"""Assignment targets and values in; names, attributes and items changed."""

from __future__ import annotations

from typing import Any

import libcst as cst

from forwardbook.analyzers.static.access import delete_attribute, get_attribute, set_attribute
from forwardbook.analyzers.static.expressions import _unmangled, get_item, index_of
from forwardbook.analyzers.static.interpreter import Interpreter, executes
from forwardbook.analyzers.static.opaque import NoOp, Opaque, is_a
from forwardbook.analyzers.static.operators import IN_PLACE, apply
from forwardbook.analyzers.static.scope import Scope
from forwardbook.analyzers.static.unresolved import Unresolved


def assign(run: Interpreter, target: cst.CSTNode, value: Any, scope: Scope) -> None:
    """`target = value` for names, attributes, items and their nestings."""
    match target:
        case cst.Name():
            scope.bind(target.value, value)
        case cst.Attribute():
            owner = run.evaluate(target.value, scope)
            run.at(target)
            set_attribute(owner, _unmangled(target.attr.value, scope), value)
        case cst.Subscript():
            owner = run.evaluate(target.value, scope)
            index = index_of(run, target, scope)
            run.at(target)
            set_item(owner, index, value)
        case cst.Tuple() | cst.List():
            _unpack(run, target, value, scope)
        case _:
            raise Unresolved(f"assigning to a {type(target).__name__}")


def set_item(owner: Any, index: Any, value: Any) -> None:
    """`owner[index] = value`."""
    if is_a(owner, NoOp):
        return
    if is_a(owner, Opaque):
        raise owner.refuse()
    owner[index] = value


def _unpack(run: Interpreter, target: cst.Tuple | cst.List, value: Any, scope: Scope) -> None:
    items = list(run.iterate(value))
    elements = target.elements
    stars = [index for index, item in enumerate(elements) if isinstance(item, cst.StarredElement)]
    if not stars:
        if len(items) != len(elements):
            raise ValueError(f"{len(items)} values to unpack into {len(elements)}")
        pairs = zip(elements, items, strict=True)
    else:
        star = stars[0]
        after = len(elements) - star - 1
        if len(items) < star + after:
            raise ValueError(
                f"not enough values to unpack (expected at least {star + after}, got {len(items)})"
            )
        middle = items[star : len(items) - after]
        values = [*items[:star], middle, *items[len(items) - after :]]
        pairs = zip(elements, values, strict=True)
    for element, item in pairs:
        assign(run, element.value, item, scope)


@executes(cst.Assign)
def plain(run: Interpreter, node: cst.Assign, scope: Scope) -> Any:
    """`a = b = value`; a `yield` on the right suspends."""
    if isinstance(node.value, cst.Yield):
        return _yielded(run, node, scope)
    value = run.evaluate(node.value, scope)
    for target in node.targets:
        assign(run, target.target, value, scope)
    return None


def _yielded(run: Interpreter, node: cst.Assign, scope: Scope) -> Any:
    from forwardbook.analyzers.static.statements import suspended

    assert isinstance(node.value, cst.Yield)
    value = yield from suspended(run, node.value, scope)
    for target in node.targets:
        assign(run, target.target, value, scope)


@executes(cst.AnnAssign)
def annotated(run: Interpreter, node: cst.AnnAssign, scope: Scope) -> None:
    """`name: type = value`; in a class the annotation makes a field, elsewhere it says nothing."""
    if node.value is not None:
        assign(run, node.target, run.evaluate(node.value, scope), scope)
    if scope.is_class and isinstance(node.target, cst.Name):
        from forwardbook.analyzers.static.classes import annotation

        fields = scope.names.setdefault("__annotations__", {})
        fields[node.target.value] = annotation(run.source.code(node.annotation.annotation))
        scope.names["__interpreted__"].annotations[node.target.value] = node.annotation.annotation


@executes(cst.AugAssign)
def augmented(run: Interpreter, node: cst.AugAssign, scope: Scope) -> None:
    """`target += value`, in place where the value can."""
    function, kind, target = IN_PLACE[type(node.operator)], type(node.operator), node.target
    if isinstance(target, cst.Name):
        old = scope.lookup(target.value)
        value = run.evaluate(node.value, scope)
        run.at(node)
        scope.bind(target.value, apply(function, kind, old, value))
    elif isinstance(target, cst.Attribute):
        owner = run.evaluate(target.value, scope)
        name = _unmangled(target.attr.value, scope)
        old = get_attribute(owner, name)
        value = run.evaluate(node.value, scope)
        run.at(node)
        set_attribute(owner, name, apply(function, kind, old, value))
    elif isinstance(target, cst.Subscript):
        owner = run.evaluate(target.value, scope)
        index = index_of(run, target, scope)
        run.at(target)
        old = get_item(owner, index)
        value = run.evaluate(node.value, scope)
        run.at(node)
        new = apply(function, kind, old, value)
        run.at(target)
        set_item(owner, index, new)


@executes(cst.Del)
def delete(run: Interpreter, node: cst.Del, scope: Scope) -> None:
    """`del a, b.c, d[e]`."""
    targets = (
        [item.value for item in node.target.elements] if isinstance(node.target, cst.Tuple) else [node.target]
    )
    for target in targets:
        if isinstance(target, cst.Name):
            scope.unbind(target.value)
        elif isinstance(target, cst.Attribute):
            delete_attribute(run.evaluate(target.value, scope), target.attr.value)
        elif isinstance(target, cst.Subscript):
            owner = run.evaluate(target.value, scope)
            del owner[index_of(run, target, scope)]
