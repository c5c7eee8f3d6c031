"""An annotation as written in, the values that it allows out."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from forwardbook.analyzers.calls.values import (
    NOTHING,
    ClassValue,
    ContainerValue,
    InstanceValue,
    OutsideValue,
    Place,
    Values,
    one,
    union,
    unknown,
)

if TYPE_CHECKING:
    from forwardbook.analyzers.calls.resolver import Resolver

# fmt: off
_SEQUENCES: Final = frozenset({
    "list", "set", "frozenset", "deque", "List", "Set", "FrozenSet", "Deque", "Sequence", "MutableSequence",
    "Collection", "AbstractSet", "MutableSet", "ModuleList", "KeysView", "ValuesView",
})
_MAPPINGS: Final = frozenset({
    "dict", "Dict", "defaultdict", "DefaultDict", "OrderedDict", "Mapping", "MutableMapping", "Counter",
    "ModuleDict",
})
_ITERATORS: Final = frozenset({
    "Iterator", "Iterable", "Generator", "AsyncIterator", "AsyncIterable", "AsyncGenerator", "Reversible",
})
# fmt: on
_AWAITABLES: Final = frozenset({"Awaitable", "Coroutine"})
_CONTEXTS: Final = frozenset({"ContextManager", "AbstractContextManager", "AsyncContextManager"})
_TRANSPARENT: Final = frozenset({"Final", "ClassVar", "Annotated", "Required", "NotRequired", "InitVar"})
_ANYTHING: Final = frozenset({"Any", "object", "Callable", "Literal", "TypeVar", "ParamSpec", "TypeAlias"})
_GENERICS: Final = (  # what takes types in brackets
    _SEQUENCES | _MAPPINGS | _ITERATORS | _AWAITABLES | _CONTEXTS | _TRANSPARENT
) | {"tuple", "Tuple", "type", "Type", "Optional", "Union", "Callable", "Literal"}


def takes_types(value: OutsideValue) -> bool:
    """Whether a subscript of this name is a type with its arguments."""
    return value.dotted.rpartition(".")[2] in _GENERICS


def of_text(resolver: Resolver, scope: Place, text: str) -> Values:
    """The values that an annotation as written allows."""
    tree = resolver.tree(text)
    return of(resolver, scope, tree) if tree is not None else unknown(f"annotation `{text}` is not read")


def of(resolver: Resolver, scope: Place, node: ast.expr) -> Values:
    """The values that an annotation allows."""
    if isinstance(node, ast.Constant):
        if node.value is None:
            return NOTHING
        if isinstance(node.value, str):
            return resolver.annotation(scope, node.value)
        return unknown("the annotation is no type")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return union((of(resolver, scope, node.left), of(resolver, scope, node.right)))
    if isinstance(node, ast.Subscript):
        return _generic(resolver, scope, node)
    if isinstance(node, ast.Name | ast.Attribute):
        return instances(resolver, scope, resolver.expression(scope, node), ast.unparse(node))
    return unknown("the annotation is not followed")


def instances(resolver: Resolver, scope: Place, values: Values, text: str) -> Values:
    """The instances of the classes that an expression names."""
    parts: list[Values] = []
    for value in values.alternatives:
        if isinstance(value, ClassValue):
            parts.append(one(InstanceValue(value.place, exact=False)))
        elif isinstance(value, OutsideValue) and value.role == "name":
            parts.append(_outside(resolver, scope, value, text))
        elif isinstance(value, ContainerValue | InstanceValue):
            parts.append(one(value))  # an alias made with `|` or a subscript is already the instance
        else:
            parts.append(unknown(f"annotation `{text}` is no class"))
    if not values.known:
        parts.append(unknown(values.reason))
    return union(parts)


def _outside(resolver: Resolver, scope: Place, value: OutsideValue, text: str) -> Values:
    name = value.dotted.rpartition(".")[2]
    if name in ("Self",):
        owner = _owner(resolver, scope)
        return one(InstanceValue(owner, exact=False)) if owner else unknown("`Self` outside a class")
    if name in _ANYTHING or name == "None":
        return unknown(f"its annotation `{text}` says nothing of what it has")
    if name in _SEQUENCES or name in _MAPPINGS or name in _ITERATORS or name in ("tuple", "Tuple"):
        return one(_bare(value.dotted, name))
    if name in ("type", "Type"):
        return unknown("any class")
    return one(OutsideValue(value.dotted, "instance"))


def _owner(resolver: Resolver, scope: Place) -> Place | None:
    file = resolver.file(scope.path)
    for qualname in file.around(scope.qualname):
        if qualname and file.is_class(qualname):
            return Place(scope.path, qualname)
    return None


def _bare(dotted: str, name: str) -> ContainerValue:
    """A container of which nothing but its kind is known."""
    item = unknown("the items of a container without item types")
    if name in _MAPPINGS:
        return ContainerValue("mapping", dotted, (item, item))
    return ContainerValue("iterator" if name in _ITERATORS else "sequence", dotted, (item,))


def _generic(resolver: Resolver, scope: Place, node: ast.Subscript) -> Values:
    base = resolver.expression(scope, node.value)
    arguments = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if not base.alternatives:
        return unknown(base.reason)
    value = base.alternatives[0]
    if not isinstance(value, OutsideValue):
        return instances(resolver, scope, base, ast.unparse(node.value))
    name = value.dotted.rpartition(".")[2]
    if name == "Optional":
        return of(resolver, scope, arguments[0])
    if name == "Union":
        return union([of(resolver, scope, part) for part in arguments])
    if name in ("type", "Type"):
        return as_classes(of(resolver, scope, arguments[0]))
    if name in _TRANSPARENT:
        return of(resolver, scope, arguments[0])
    return _container(resolver, scope, value.dotted, name, arguments)


def _container(resolver: Resolver, scope: Place, dotted: str, name: str, arguments: list[ast.expr]) -> Values:
    if name in ("tuple", "Tuple"):
        if len(arguments) == 2 and isinstance(arguments[1], ast.Constant) and arguments[1].value is ...:
            return one(ContainerValue("sequence", dotted, (of(resolver, scope, arguments[0]),)))
        return one(ContainerValue("tuple", dotted, tuple(of(resolver, scope, part) for part in arguments)))
    if name in _MAPPINGS and len(arguments) == 2:
        return one(ContainerValue("mapping", dotted, tuple(of(resolver, scope, part) for part in arguments)))
    if name in _SEQUENCES:
        return one(ContainerValue("sequence", dotted, (of(resolver, scope, arguments[0]),)))
    if name in _ITERATORS:
        return one(ContainerValue("iterator", dotted, (of(resolver, scope, arguments[0]),)))
    if name in _AWAITABLES:
        return one(ContainerValue("awaitable", dotted, (of(resolver, scope, arguments[-1]),)))
    if name in _CONTEXTS:
        return one(ContainerValue("context", dotted, (of(resolver, scope, arguments[0]),)))
    if name in _ANYTHING:
        return unknown(f"its annotation `{name}` says nothing of what it has")
    return one(OutsideValue(dotted, "instance"))


def as_classes(values: Values) -> Values:
    """The classes whose instances these are."""
    parts: list[Values] = []
    for value in values.alternatives:
        if isinstance(value, InstanceValue):
            parts.append(one(ClassValue(value.place, value.exact)))
        elif isinstance(value, OutsideValue) and value.role == "instance":
            parts.append(one(OutsideValue(value.dotted)))
        else:
            parts.append(unknown("a class that is not followed"))
    if not values.known:
        parts.append(unknown(values.reason))
    return union(parts).labelled(values.how)
