"""What one class or function body is found to contain while it is read, and the definition it amounts to."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace

from forwardbook.analyzers.index.facts import Attribute, Call, Definition, Kind, Raised
from forwardbook.analyzers.index.header import (
    Function,
    decorated_span,
    docstring,
    parameters,
    signature,
    words,
)
from forwardbook.analyzers.index.source_text import SourceText

_PROPERTIES = frozenset({"property", "cached_property", "abstractproperty"})
_ACCESSORS = frozenset({"setter", "getter", "deleter"})


@dataclass(slots=True)
class Scope:
    """The open definition (or the module: `node` None) that statements are read in."""

    node: Function | ast.ClassDef | None = None
    qualname: str = ""
    around: Scope | None = None
    owner: Scope | None = None  # the class whose attributes `this.x = ...` binds
    this: str = ""  # the name of that class's instance here
    public: bool = True
    calls: list[tuple[int, int, int, int, Call]] = field(default_factory=list)
    raised: list[Raised] = field(default_factory=list)
    bound: dict[str, Attribute] = field(default_factory=dict)  # a class's attributes, a function's locals
    inner: list[tuple[int, int, str, str]] = field(
        default_factory=list
    )  # by comprehensions, lambdas, patterns
    reads: list[Call] = field(default_factory=list)
    returned: list[str] = field(default_factory=list)
    outer_names: set[str] = field(default_factory=set)  # declared `global` or `nonlocal`
    generator: bool = False

    @property
    def is_class(self) -> bool:
        """Whether this is the body of a class."""
        return isinstance(self.node, ast.ClassDef)

    def bind(self, name: str, line: int, annotation: str, value: str) -> None:
        """Note that a name is bound; what it is bound to later goes with the first time."""
        _bind(self.bound, name, line, annotation, value)

    def bind_inner(self, name: str, node: ast.expr | ast.arg | ast.pattern, value: str) -> None:
        """Note that a comprehension, a lambda or a pattern binds a name within itself."""
        self.inner.append((node.lineno, node.col_offset, name, value))

    def ordered_inner(self) -> tuple[Attribute, ...]:
        """The names bound within expressions, by where that first happens."""
        bound: dict[str, Attribute] = {}
        for line, _, name, value in sorted(self.inner):
            _bind(bound, name, line, "", value)
        return tuple(bound.values())

    def ordered_calls(self) -> tuple[Call, ...]:
        """The calls by where they begin; of a chain the inner one first."""
        self.calls.sort(key=_place)
        return tuple(call for *_, call in self.calls)


def _bind(bound: dict[str, Attribute], name: str, line: int, annotation: str, value: str) -> None:
    known = bound.get(name)
    if known is None:
        bound[name] = Attribute(name, line, annotation, value)
    elif value != known.value and value not in known.also and (value or not annotation):
        bound[name] = replace(known, also=(*known.also, value))


def _place(found: tuple[int, int, int, int, Call]) -> tuple[int, int, int, int]:
    return found[:4]


def opened(node: Function | ast.ClassDef, around: Scope) -> Scope:
    """The scope of a definition that stands in another one."""
    scope = Scope(node, f"{around.qualname}.{node.name}" if around.qualname else node.name, around)
    private = node.name.startswith("_") and not (node.name.startswith("__") and node.name.endswith("__"))
    scope.public = around.public and not private and (around.node is None or around.is_class)
    if isinstance(node, ast.ClassDef):
        return scope
    names = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args)]
    if around.is_class:
        static = any(isinstance(mark, ast.Name) and mark.id == "staticmethod" for mark in node.decorator_list)
        if names and not static:
            scope.owner, scope.this = around, names[0]
    elif around.owner is not None and around.this not in names:  # a function inside a method sees its `self`
        scope.owner, scope.this = around.owner, around.this
    return scope


def closed(scope: Scope, source: SourceText) -> Definition:
    """The definition that a scope, read to its end, amounts to."""
    node = scope.node
    assert node is not None and scope.around is not None
    function = None if isinstance(node, ast.ClassDef) else node
    decorators = tuple(words(source, mark) for mark in node.decorator_list)
    first = decorated_span(source, node)
    return Definition(
        name=node.name,
        qualname=scope.qualname,
        kind=_kind(scope, decorators),
        span=type(first)(node.lineno, first.end),
        decorated=first,
        signature=signature(source, node),
        parameters=parameters(source, function.args) if function else (),
        returns=words(source, function.returns) if function and function.returns else "",
        decorators=decorators,
        bases=() if function else tuple(words(source, base) for base in node.bases),  # type: ignore[union-attr]
        docstring=docstring(node.body),
        is_async=isinstance(node, ast.AsyncFunctionDef),
        is_generator=scope.generator,
        is_public=scope.public,
        parent=scope.around.qualname,
        calls=scope.ordered_calls(),
        raised=tuple(scope.raised),
        attributes=() if function else tuple(scope.bound.values()),
        locals=tuple(scope.bound.values()) if function else (),
        returned=tuple(dict.fromkeys(scope.returned)),
        inner=scope.ordered_inner(),
        reads=tuple(sorted(scope.reads, key=lambda read: (read.line, read.column, len(read.target)))),
    )


def _kind(scope: Scope, decorators: tuple[str, ...]) -> Kind:
    if scope.is_class:
        return "class"
    if scope.around is None or not scope.around.is_class:
        return "function"
    for mark in decorators:
        last = mark.partition("(")[0].rpartition(".")[2]
        if last in _PROPERTIES or (
            last in _ACCESSORS and mark.startswith(f"{scope.qualname.rpartition('.')[2]}.")
        ):
            return "property"
    return "method"
