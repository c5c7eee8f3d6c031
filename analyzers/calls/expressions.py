"""The tree of an expression in, the values that it can stand for out."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from forwardbook.analyzers.calls import declared
from forwardbook.analyzers.calls.containers import awaited, item, method_result, subscript
from forwardbook.analyzers.calls.special import special
from forwardbook.analyzers.calls.steps import attribute, called, with_rest
from forwardbook.analyzers.calls.values import (
    NOTHING,
    ClassValue,
    ContainerValue,
    InstanceValue,
    OutsideValue,
    Place,
    SuperValue,
    Values,
    one,
    union,
    unknown,
)

if TYPE_CHECKING:
    from forwardbook.analyzers.calls.resolver import Resolver


def of(resolver: Resolver, scope: Place, node: ast.expr) -> Values:
    """What an expression can stand for in a scope."""
    rule = _RULES.get(type(node))
    if rule is None:
        return unknown(f"a {type(node).__name__} expression is not followed")
    return rule(resolver, scope, node)


def _name(resolver: Resolver, scope: Place, node: ast.Name) -> Values:
    return resolver.name(scope, node.id)


def _attribute(resolver: Resolver, scope: Place, node: ast.Attribute) -> Values:
    return attribute(resolver, of(resolver, scope, node.value), node.attr)


def _call(resolver: Resolver, scope: Place, node: ast.Call) -> Values:
    function = node.func
    if isinstance(function, ast.Name) and function.id == "super":
        return super_of(resolver, scope, node)
    if isinstance(function, ast.Attribute):
        receiver = of(resolver, scope, function.value)
        containers = [value for value in receiver.alternatives if isinstance(value, ContainerValue)]
        if containers and len(containers) == len(receiver.alternatives):
            return with_rest(receiver, [method_result(value, function.attr) for value in containers])
        values = attribute(resolver, receiver, function.attr)
    else:
        values = of(resolver, scope, function)
    if len(values.alternatives) == 1 and isinstance(values.alternatives[0], OutsideValue):
        found = special(resolver, scope, node, values.alternatives[0].dotted)
        if found is not None:
            return found.labelled(values.how)
    return called(resolver, values)


def super_of(resolver: Resolver, scope: Place, node: ast.Call | None = None) -> Values:
    """What `super()` gives in a method."""
    file = resolver.file(scope.path)
    qualname = next((one_ for one_ in file.around(scope.qualname) if one_ and file.is_class(one_)), "")
    if node is not None and len(node.args) == 2:
        first = of(resolver, scope, node.args[0]).alternatives
        if len(first) != 1 or not isinstance(first[0], ClassValue):
            return unknown("the class that `super` is given is not known")
        place = first[0].place
    elif qualname:
        place = Place(scope.path, qualname)
    else:
        return unknown("`super` outside a class")
    return one(SuperValue(place, InstanceValue(place, exact=False)))


def _subscript(resolver: Resolver, scope: Place, node: ast.Subscript) -> Values:
    base = of(resolver, scope, node.value)
    if len(base.alternatives) == 1:
        value = base.alternatives[0]
        if isinstance(value, OutsideValue) and value.role == "name" and declared.takes_types(value):
            return resolver.annotation_tree(scope, node)
    index = node.slice
    number = index.value if isinstance(index, ast.Constant) and isinstance(index.value, int) else None
    if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub):
        operand = index.operand
        if isinstance(operand, ast.Constant) and isinstance(operand.value, int):
            number = -operand.value
    return subscript(resolver, base, number, sliced=isinstance(index, ast.Slice))


def _constant(_resolver: Resolver, _scope: Place, node: ast.Constant) -> Values:
    if node.value is None:
        return NOTHING
    return one(OutsideValue(f"builtins.{type(node.value).__name__}", "instance"))


def _either(resolver: Resolver, scope: Place, node: ast.BoolOp) -> Values:
    return union([of(resolver, scope, part) for part in node.values if not _is_empty(part)])


def _if(resolver: Resolver, scope: Place, node: ast.IfExp) -> Values:
    return union(of(resolver, scope, part) for part in (node.body, node.orelse) if not _is_empty(part))


def _is_empty(node: ast.expr) -> bool:
    """Whether an alternative is an empty container (`x or []`, `{}.items()`), which holds nothing to call."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
        node = node.func.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("list", "dict", "set", "tuple") and not node.args and not node.keywords
    return isinstance(node, ast.List | ast.Tuple | ast.Dict) and not any(
        getattr(node, name, ()) for name in ("elts", "values")
    )


def _sequence(resolver: Resolver, scope: Place, node: ast.List | ast.Tuple | ast.Set) -> Values:
    kind = type(node).__name__.lower()
    items = [
        item(resolver, of(resolver, scope, part.value))
        if isinstance(part, ast.Starred)
        else of(resolver, scope, part)
        for part in node.elts
    ]
    if isinstance(node, ast.Tuple) and not any(isinstance(part, ast.Starred) for part in node.elts):
        return one(ContainerValue("tuple", "builtins.tuple", tuple(items)))
    filled = union(items) if items else unknown("the items of a container that is filled later")
    return one(ContainerValue("sequence", f"builtins.{kind}", (filled,)))


def _mapping(resolver: Resolver, scope: Place, node: ast.Dict) -> Values:
    if not node.values:
        empty = unknown("the items of a container that is filled later")
        return one(ContainerValue("mapping", "builtins.dict", (empty, empty)))
    keys = [of(resolver, scope, key) if key else unknown("the keys of another mapping") for key in node.keys]
    values = [
        of(resolver, scope, value) if key else unknown("the items of another mapping")
        for key, value in zip(node.keys, node.values, strict=True)
    ]
    return one(ContainerValue("mapping", "builtins.dict", (union(keys), union(values))))


def _comprehension(
    resolver: Resolver, scope: Place, node: ast.ListComp | ast.SetComp | ast.GeneratorExp
) -> Values:
    kind, dotted = {
        ast.ListComp: ("sequence", "builtins.list"),
        ast.SetComp: ("sequence", "builtins.set"),
    }.get(type(node), ("iterator", "typing.Generator"))
    items = (of(resolver, scope, node.elt),)
    return one(ContainerValue("sequence" if kind == "sequence" else "iterator", dotted, items))


def _mapping_comprehension(resolver: Resolver, scope: Place, node: ast.DictComp) -> Values:
    items = (of(resolver, scope, node.key), of(resolver, scope, node.value))
    return one(ContainerValue("mapping", "builtins.dict", items))


def _await(resolver: Resolver, scope: Place, node: ast.Await) -> Values:
    return awaited(of(resolver, scope, node.value))


def _walrus(resolver: Resolver, scope: Place, node: ast.NamedExpr) -> Values:
    return of(resolver, scope, node.value)


def _operator(resolver: Resolver, scope: Place, node: ast.BinOp) -> Values:
    left = of(resolver, scope, node.left)
    if isinstance(node.op, ast.BitOr) and any(isinstance(one_, ClassValue) for one_ in left.alternatives):
        return resolver.annotation_tree(scope, node)
    if isinstance(node.op, ast.Add) and all(isinstance(one_, ContainerValue) for one_ in left.alternatives):
        return union((left, of(resolver, scope, node.right)))
    return unknown("the result of an operator is not known")


def _truth(_resolver: Resolver, _scope: Place, _node: ast.expr) -> Values:
    return one(OutsideValue("builtins.bool", "instance"))


def _text(_resolver: Resolver, _scope: Place, _node: ast.expr) -> Values:
    return one(OutsideValue("builtins.str", "instance"))


_Rule = Callable[..., Values]
_RULES: Final[dict[type[ast.expr], _Rule]] = {
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.Subscript: _subscript,
    ast.Constant: _constant,
    ast.BoolOp: _either,
    ast.IfExp: _if,
    ast.List: _sequence,
    ast.Tuple: _sequence,
    ast.Set: _sequence,
    ast.Dict: _mapping,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _mapping_comprehension,
    ast.Await: _await,
    ast.NamedExpr: _walrus,
    ast.BinOp: _operator,
    ast.Compare: _truth,
    ast.JoinedStr: _text,
}
