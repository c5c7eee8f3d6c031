"""`class` statements in, Python types out whose methods are interpreted functions."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable
from typing import Any

import libcst as cst

from forwardbook.analyzers.static.functions import Function
from forwardbook.analyzers.static.interpreter import Interpreter, runs
from forwardbook.analyzers.static.opaque import NoOp, Opaque
from forwardbook.analyzers.static.scope import Scope
from forwardbook.analyzers.static.trusted import class_allowed
from forwardbook.analyzers.static.unresolved import Unresolved


class Ownership:
    """Marks a class as interpreted, and tells its functions which class `super()` starts from."""

    def __init__(self, evaluate: Callable[[cst.BaseExpression], Any]) -> None:
        self.functions: list[Function] = []
        self.annotations: dict[str, cst.BaseExpression] = {}
        self.evaluate = evaluate

    def __set_name__(self, owner: type, name: str) -> None:
        for function in self.functions:
            function.owner = owner


@runs(cst.ClassDef)
def define_class(run: Interpreter, node: cst.ClassDef, scope: Scope) -> Any:
    """A class statement: its body in a scope of its own, then its decorators."""
    bases, keywords = _bases(run, node, scope)
    run.at(node)
    resolved = types.resolve_bases(bases)
    metaclass, namespace, extra = types.prepare_class(node.name.value, resolved, keywords)
    if not class_allowed(metaclass):
        raise Unresolved(f"the metaclass {metaclass.__qualname__} is not trusted")
    for base in resolved:
        if not isinstance(base, type) or not class_allowed(base):
            raise Unresolved(f"the base class {base!r} is not trusted")
    marker = Ownership(lambda written: run.evaluate(written, scope))
    names: Any = namespace
    names["__interpreted__"] = marker
    names["__module__"] = run.source.module
    prefix = f"{scope.names['__qualname__']}." if scope.is_class else ""
    names["__qualname__"] = prefix + node.name.value
    if (text := node.get_docstring()) is not None:
        names["__doc__"] = text
    if resolved is not bases:
        names["__orig_bases__"] = bases
    yield from run.block(node.body, Scope(scope.module, scope, True, names=names))
    _implicit(names)
    run.at(node)
    value: Any = metaclass(node.name.value, resolved, names, **extra)
    for function in marker.functions:
        function.owner = function.owner or value
    for decorator in reversed(node.decorators):
        wrap = run.evaluate(decorator.decorator, scope)
        run.at(decorator)
        value = run.call(wrap, (value,), {})
    scope.bind(node.name.value, value)
    return None


def _bases(run: Interpreter, node: cst.ClassDef, scope: Scope) -> tuple[tuple[Any, ...], dict[str, Any]]:
    bases: list[Any] = []
    for item in node.bases:
        value = run.evaluate(item.value, scope)
        if item.star == "*":
            bases.extend(run.iterate(value))
        else:
            bases.append(value)
    if any(isinstance(base, NoOp) for base in bases):
        raise Unresolved(f"a base class of {node.name.value} is not followed")
    if all(isinstance(base, Opaque) for base in bases) and bases:
        raise bases[0].refuse()
    keywords = {
        item.keyword.value: run.evaluate(item.value, scope)
        for item in node.keywords
        if item.keyword is not None
    }
    return tuple(bases), keywords


def _implicit(names: Any) -> None:
    """The methods that Python makes static or class methods by their name."""
    for name, kind in (
        ("__new__", staticmethod),
        ("__init_subclass__", classmethod),
        ("__class_getitem__", classmethod),
    ):
        if isinstance(names.get(name), Function):
            names[name] = kind(names[name])


def annotation(text: str) -> Any:
    """What dataclasses must know of an annotation: class variables and markers, not types."""
    plain = text.strip("\"'").removeprefix("typing.").removeprefix("t.")
    if plain.startswith("ClassVar"):
        return typing.ClassVar
    plain = plain.removeprefix("dataclasses.")
    if plain.startswith("InitVar"):
        return dataclasses.InitVar[typing.Any]
    return dataclasses.KW_ONLY if plain == "KW_ONLY" else typing.Any


def safe_dataclass(cls: Any = None, /, **options: Any) -> Any:
    """`dataclasses.dataclass`, which writes source from field names: these must be identifiers."""
    if cls is None:
        return lambda value: safe_dataclass(value, **options)
    for name in cls.__dict__.get("__annotations__", {}):
        if not (isinstance(name, str) and name.isidentifier()):
            raise Unresolved(f"a dataclass field named {name!r}")
    return dataclasses.dataclass(**options)(cls)


def get_annotations(cls: type) -> dict[str, Any]:
    """`inspect.get_annotations` of an interpreted class: each evaluated when it can be, else Any."""
    marker = cls.__dict__.get("__interpreted__")
    found: dict[str, Any] = {}
    if not isinstance(marker, Ownership):
        return found
    for name, written in marker.annotations.items():
        try:
            found[name] = marker.evaluate(written)
        except Exception:  # a type that cannot be named here, which annotations may be
            found[name] = typing.Any
    return found


def get_type_hints(cls: type, *args: Any, **kwargs: Any) -> dict[str, Any]:
    """`typing.get_type_hints` of an interpreted class: its own annotations over those of its bases."""
    found: dict[str, Any] = {}
    for kind in reversed(cls.__mro__):
        found |= get_annotations(kind)
    return found
