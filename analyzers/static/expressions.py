"""Names, literals, containers, attributes, subscripts and f-strings in, their values out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from forwardbook.analyzers.static.access import get_attribute
from forwardbook.analyzers.static.functions import parameters_of
from forwardbook.analyzers.static.interpreter import Interpreter, evaluates
from forwardbook.analyzers.static.opaque import NoOp, Opaque, is_a
from forwardbook.analyzers.static.scope import Scope
from forwardbook.analyzers.static.unresolved import Unresolved


@evaluates(cst.Name)
def name(run: Interpreter, node: cst.Name, scope: Scope) -> Any:
    """A name."""
    try:
        return scope.lookup(node.value)
    except NameError:
        run.at(node)
        raise


@evaluates(cst.Integer, cst.Float, cst.Imaginary, cst.SimpleString)
def literal(run: Interpreter, node: Any, scope: Scope) -> Any:
    """A number or a string."""
    return node.evaluated_value


@evaluates(cst.ConcatenatedString)
def concatenated(run: Interpreter, node: cst.ConcatenatedString, scope: Scope) -> Any:
    """Strings written side by side."""
    return run.evaluate(node.left, scope) + run.evaluate(node.right, scope)


@evaluates(cst.FormattedString)
def formatted(run: Interpreter, node: cst.FormattedString, scope: Scope) -> str:
    """An f-string."""
    return "".join(_piece(run, part, scope) for part in node.parts)


def _piece(run: Interpreter, part: cst.BaseFormattedStringContent, scope: Scope) -> str:
    if isinstance(part, cst.FormattedStringText):
        text = part.value.replace("{{", "{").replace("}}", "}")
        return text.encode("latin-1", "backslashreplace").decode("unicode_escape") if "\\" in text else text
    assert isinstance(part, cst.FormattedStringExpression)
    value = run.evaluate(part.expression, scope)
    converters: dict[str, Callable[[object], str]] = {"r": repr, "s": str, "a": ascii}
    convert = converters.get(part.conversion or "")
    if convert is not None:
        value = convert(value)
    spec = "".join(_piece(run, item, scope) for item in part.format_spec or ())
    text = format(value, spec) if spec else str(value)
    return f"{run.source.code(part.expression)}={text}" if part.equal is not None else text


@evaluates(cst.Ellipsis)
def ellipsis(run: Interpreter, node: cst.Ellipsis, scope: Scope) -> Any:
    """`...`."""
    return ...


@evaluates(cst.Tuple, cst.List, cst.Set)
def sequence(run: Interpreter, node: cst.Tuple | cst.List | cst.Set, scope: Scope) -> Any:
    """A tuple, list or set display."""
    items: list[Any] = []
    for element in node.elements:
        value = run.evaluate(element.value, scope)
        if isinstance(element, cst.StarredElement):
            items.extend(run.iterate(value))
        else:
            items.append(value)
    if isinstance(node, cst.Tuple):
        return tuple(items)
    return items if isinstance(node, cst.List) else set(items)


@evaluates(cst.Dict)
def mapping(run: Interpreter, node: cst.Dict, scope: Scope) -> dict[Any, Any]:
    """A dict display."""
    found: dict[Any, Any] = {}
    for element in node.elements:
        if isinstance(element, cst.StarredDictElement):
            value = run.evaluate(element.value, scope)
            if is_a(value, Opaque):
                raise value.refuse()
            found.update(value)
        elif isinstance(element, cst.DictElement):
            key = run.evaluate(element.key, scope)
            found[key] = run.evaluate(element.value, scope)
    return found


@evaluates(cst.Attribute)
def attribute(run: Interpreter, node: cst.Attribute, scope: Scope) -> Any:
    """`value.name`."""
    owner = run.evaluate(node.value, scope)
    run.at(node)
    return get_attribute(owner, _unmangled(node.attr.value, scope))


def _unmangled(name: str, scope: Scope) -> str:
    """`__name` inside a class is `_Class__name`."""
    if not name.startswith("__") or name.endswith("__"):
        return name
    owner = scope.owner()
    if owner is None or owner[0].owner is None:
        return name
    return f"_{owner[0].owner.__name__.lstrip('_')}{name}"


@evaluates(cst.Subscript)
def subscript(run: Interpreter, node: cst.Subscript, scope: Scope) -> Any:
    """`value[index]`."""
    owner = run.evaluate(node.value, scope)
    index = index_of(run, node, scope)
    run.at(node)
    return get_item(owner, index)


def get_item(owner: Any, index: Any) -> Any:
    """`owner[index]`; a name that is opaque stays so, since that is how types are written."""
    if is_a(owner, Opaque, NoOp):
        return owner
    return owner[index]


def index_of(run: Interpreter, node: cst.Subscript, scope: Scope) -> Any:
    """The index of a subscript: one value, or a tuple where there are commas."""
    values: list[Any] = []
    for element in node.slice:
        item = element.slice
        if isinstance(item, cst.Slice):
            lower, upper, step = (
                None if part is None else run.evaluate(part, scope)
                for part in (item.lower, item.upper, item.step)
            )
            values.append(slice(lower, upper, step))
        elif isinstance(item, cst.Index) and item.star is not None:
            values.extend(run.iterate(run.evaluate(item.value, scope)))
        elif isinstance(item, cst.Index):
            values.append(run.evaluate(item.value, scope))
    last = node.slice[-1]
    trailing = isinstance(last.comma, cst.Comma)
    starred = any(isinstance(item.slice, cst.Index) and item.slice.star is not None for item in node.slice)
    return values[0] if len(node.slice) == 1 and not trailing and not starred else tuple(values)


@evaluates(cst.Lambda)
def make_lambda(run: Interpreter, node: cst.Lambda, scope: Scope) -> Any:
    """A lambda."""
    parameters = parameters_of(node.params, lambda default: run.evaluate(default, scope))
    return run.function(node, scope, parameters, "<lambda>")


@evaluates(cst.NamedExpr)
def walrus(run: Interpreter, node: cst.NamedExpr, scope: Scope) -> Any:
    """`name := value`; binds in the function around a comprehension."""
    value = run.evaluate(node.value, scope)
    target = scope
    while target.function is None and target.outer is not None and not target.is_class:
        target = target.outer
    if isinstance(node.target, cst.Name):
        target.bind(node.target.value, value)
    return value


@evaluates(cst.IfExp)
def conditional(run: Interpreter, node: cst.IfExp, scope: Scope) -> Any:
    """`a if test else b`."""
    return run.evaluate(node.body if truth(run, node.test, scope) else node.orelse, scope)


def truth(run: Interpreter, node: cst.BaseExpression, scope: Scope) -> bool:
    """Whether an expression is true; of a symbolic number this asks torch, which records the condition.

    As in Python each part of `a and not b` is asked once, and what the whole is nobody asks again.
    """
    if isinstance(node, cst.BooleanOperation):
        left = truth(run, node.left, scope)
        return left if left is isinstance(node.operator, cst.Or) else truth(run, node.right, scope)
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        return not truth(run, node.expression, scope)
    value = run.evaluate(node, scope)
    run.at(node)
    if is_a(value, Opaque):
        raise value.refuse()
    return bool(value)


@evaluates(cst.Await, cst.Yield)
def unsupported(run: Interpreter, node: cst.CSTNode, scope: Scope) -> Any:
    """A yield within an expression, or await."""
    run.at(node)
    raise Unresolved(f"{type(node).__name__.lower()} within an expression is not interpreted")
