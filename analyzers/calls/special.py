"""A call of a function that Python itself defines in, what it gives out: `type`, `cast`, `sorted`, ..."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from forwardbook.analyzers.calls import declared
from forwardbook.analyzers.calls.containers import item
from forwardbook.analyzers.calls.steps import attribute, called
from forwardbook.analyzers.calls.values import (
    ContainerValue,
    OutsideValue,
    Place,
    Values,
    one,
    union,
    unknown,
)

if TYPE_CHECKING:
    from forwardbook.analyzers.calls.resolver import Resolver


def special(resolver: Resolver, scope: Place, node: ast.Call, dotted: str) -> Values | None:
    """What a call of this function gives, None where it is none that is known by name."""
    rule = _RULES.get(dotted)
    return rule(resolver, scope, node) if rule is not None else None


def _type(resolver: Resolver, scope: Place, node: ast.Call) -> Values | None:
    if len(node.args) != 1:
        return None
    return declared.as_classes(resolver.expression(scope, node.args[0]))


def _cast(resolver: Resolver, scope: Place, node: ast.Call) -> Values | None:
    return resolver.annotation_tree(scope, node.args[0]) if len(node.args) == 2 else None


def _same(resolver: Resolver, scope: Place, node: ast.Call) -> Values | None:
    return resolver.expression(scope, node.args[0]) if node.args else None


def _items(resolver: Resolver, scope: Place, node: ast.Call) -> Values | None:
    if not node.args:
        return None
    found = item(resolver, resolver.expression(scope, node.args[0]))
    name = node.func.id if isinstance(node.func, ast.Name) else "list"
    return one(ContainerValue("sequence", f"builtins.{name}", (found,)))


def _enumerated(resolver: Resolver, scope: Place, node: ast.Call) -> Values | None:
    if not node.args:
        return None
    number = one(OutsideValue("builtins.int", "instance"))
    pair = (number, item(resolver, resolver.expression(scope, node.args[0])))
    return one(ContainerValue("pairs", "builtins.enumerate", pair))


def _zipped(resolver: Resolver, scope: Place, node: ast.Call) -> Values | None:
    parts = tuple(item(resolver, resolver.expression(scope, part)) for part in node.args)
    return one(ContainerValue("pairs", "builtins.zip", parts)) if parts else None


def _next(resolver: Resolver, scope: Place, node: ast.Call) -> Values | None:
    return item(resolver, resolver.expression(scope, node.args[0])) if node.args else None


def _getattr(resolver: Resolver, scope: Place, node: ast.Call) -> Values | None:
    if len(node.args) < 2 or not isinstance(node.args[1], ast.Constant):
        return unknown("`getattr` with a name that is made at run time")
    found = attribute(resolver, resolver.expression(scope, node.args[0]), str(node.args[1].value))
    return union((found, resolver.expression(scope, node.args[2]))) if len(node.args) > 2 else found


def _type_variable(resolver: Resolver, scope: Place, node: ast.Call) -> Values | None:
    for keyword in node.keywords:
        if keyword.arg == "bound":
            found = resolver.annotation_tree(scope, keyword.value)
            return declared.as_classes(found)
    return None


def _factory(resolver: Resolver, scope: Place, node: ast.Call) -> Values | None:
    for keyword in node.keywords:
        if keyword.arg == "default_factory":
            return called(resolver, resolver.expression(scope, keyword.value))
        if keyword.arg == "default":
            return resolver.expression(scope, keyword.value)
    return None


_RULES: Final[dict[str, Callable[[Resolver, Place, ast.Call], Values | None]]] = {
    "builtins.type": _type,
    "typing.cast": _cast,
    "typing_extensions.cast": _cast,
    "copy.copy": _same,
    "copy.deepcopy": _same,
    "functools.partial": _same,
    "builtins.iter": _same,
    "builtins.reversed": _same,
    "builtins.list": _items,
    "builtins.sorted": _items,
    "builtins.set": _items,
    "builtins.frozenset": _items,
    "builtins.tuple": _items,
    "collections.deque": _items,
    "builtins.enumerate": _enumerated,
    "builtins.zip": _zipped,
    "builtins.next": _next,
    "builtins.min": _next,
    "builtins.max": _next,
    "builtins.getattr": _getattr,
    "typing.TypeVar": _type_variable,
    "typing_extensions.TypeVar": _type_variable,
    "dataclasses.field": _factory,
}
