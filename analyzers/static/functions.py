"""A definition in, a function value out: callable, a descriptor, nothing of it compiled."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from types import MethodType
from typing import TYPE_CHECKING, Any

import libcst as cst

from forwardbook.analyzers.reader.bindings import bindings_of
from forwardbook.analyzers.reader.sources import SourceFile, descend

if TYPE_CHECKING:
    from forwardbook.analyzers.static.scope import Scope


@dataclass(frozen=True)
class Parameters:
    """The parameters of a function with their default values."""

    positional: tuple[str, ...]
    position_only: int
    star: str | None
    keyword_only: tuple[str, ...]
    double_star: str | None
    defaults: dict[str, Any] = field(default_factory=dict)

    def bind(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Arguments to names, with the errors that Python would raise."""
        bound = dict(zip(self.positional, args, strict=False))
        rest = args[len(self.positional) :]
        extra: dict[str, Any] = {}
        open_names = {*self.positional[self.position_only :], *self.keyword_only}
        for key, value in kwargs.items():
            if key in open_names:
                if key in bound:
                    raise TypeError(f"{name}() got multiple values for argument {key!r}")
                bound[key] = value
            else:
                extra[key] = value
        if rest and self.star is None:
            raise TypeError(
                f"{name}() takes {len(self.positional)} positional arguments but {len(args)} were given"
            )
        if extra and self.double_star is None:
            raise TypeError(f"{name}() got an unexpected keyword argument {next(iter(extra))!r}")
        for key in (*self.positional, *self.keyword_only):
            if key not in bound:
                if key not in self.defaults:
                    raise TypeError(f"{name}() missing required argument {key!r}")
                bound[key] = self.defaults[key]
        if self.star is not None:
            bound[self.star] = rest
        if self.double_star is not None:
            bound[self.double_star] = extra
        return bound

    def pass_on(self, name: str) -> bool:
        """True of a wrapper: it takes any arguments, and does not call itself forward()."""
        if self.star is None or self.double_star is None:
            return False
        return name != "forward" or len(self.positional) <= 1

    def signature(self) -> inspect.Signature:
        """The same as `inspect` describes it."""
        kinds = inspect.Parameter
        found = []
        for index, name in enumerate(self.positional):
            kind = kinds.POSITIONAL_ONLY if index < self.position_only else kinds.POSITIONAL_OR_KEYWORD
            found.append(kinds(name, kind, default=self.defaults.get(name, kinds.empty)))
        if self.star is not None:
            found.append(kinds(self.star, kinds.VAR_POSITIONAL))
        for name in self.keyword_only:
            found.append(kinds(name, kinds.KEYWORD_ONLY, default=self.defaults.get(name, kinds.empty)))
        if self.double_star is not None:
            found.append(kinds(self.double_star, kinds.VAR_KEYWORD))
        return inspect.Signature(found)


def parameters_of(node: cst.Parameters, evaluate: Callable[[cst.BaseExpression], Any]) -> Parameters:
    """The parameters written in a definition; defaults are evaluated now, as Python does."""
    positional = [*node.posonly_params, *node.params]
    defaults = {
        item.name.value: evaluate(item.default)
        for item in (*positional, *node.kwonly_params)
        if item.default is not None
    }
    return Parameters(
        tuple(item.name.value for item in positional),
        len(node.posonly_params),
        node.star_arg.name.value if isinstance(node.star_arg, cst.Param) else None,
        tuple(item.name.value for item in node.kwonly_params),
        node.star_kwarg.name.value if node.star_kwarg is not None else None,
        defaults,
    )


class Function:
    """A `def` or `lambda` with its closure; calling it interprets its body."""

    __slots__ = (
        "run",
        "node",
        "source",
        "scope",
        "parameters",
        "owner",
        "__dict__",
        "__weakref__",
    )

    def __init__(
        self,
        run: Callable[[Function, tuple[Any, ...], dict[str, Any]], Any],
        node: cst.FunctionDef | cst.Lambda,
        source: SourceFile,
        scope: Scope,
        parameters: Parameters,
        qualname: str,
    ) -> None:
        self.run = run
        self.node = node
        self.source = source
        self.scope = scope
        self.parameters = parameters
        self.owner: type | None = None
        self.__name__ = qualname.rpartition(".")[2]
        self.__qualname__ = qualname
        self.__module__ = source.module
        self.__doc__ = node.get_docstring() if isinstance(node, cst.FunctionDef) else None
        self.__annotations__: dict[str, Any] = {}

    @property
    def __signature__(self) -> inspect.Signature:
        wrapped = self.__dict__.get("__wrapped__")
        return inspect.signature(wrapped) if wrapped is not None else self.parameters.signature()

    @property
    def is_generator(self) -> bool:
        """True when a call gives a generator."""
        return isinstance(self.node, cst.FunctionDef) and yields(self.node.body)

    @property
    def location(self) -> tuple[str, str]:
        """File and qualified name, as the code object of a compiled function states them."""
        return str(self.source.path), self.__qualname__

    def variable_names(self) -> tuple[str, ...]:
        """Parameters, then names bound in the body, as `__code__.co_varnames` lists them."""
        held = self.parameters
        stars = [name for name in (held.star, held.double_star) if name is not None]
        body = self.node.body.body if isinstance(self.node, cst.FunctionDef) else ()
        names = (*held.positional, *held.keyword_only, *stars, *bindings_of(body, ""))
        return tuple(dict.fromkeys(names))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.run(self, args, kwargs)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<interpreted {self.__qualname__}>"


@cache
def yields(body: cst.CSTNode) -> bool:
    """True when a body holds a `yield` of its own."""
    stack: list[cst.CSTNode] = list(body.children)
    while stack:
        node = stack.pop()
        if isinstance(node, cst.Yield):
            return True
        if not isinstance(node, cst.FunctionDef | cst.Lambda | cst.ClassDef):
            stack.extend(node.children)
    return False


@cache
def declared(body: cst.CSTNode, kind: type[cst.Global] | type[cst.Nonlocal]) -> frozenset[str]:
    """The names that a body declares global or nonlocal."""
    return frozenset(
        item.name.value for node in descend(body) if isinstance(node, kind) for item in node.names
    )
