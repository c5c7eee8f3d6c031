"""Names in, values out: scopes of functions, classes, comprehensions, then the module and builtins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forwardbook.analyzers.static.functions import Function
    from forwardbook.analyzers.static.modules import SourceModule


class Scope:
    """Local names of one running function or class body, and the scopes around it."""

    __slots__ = ("names", "outer", "module", "is_class", "function", "outside", "globals")

    def __init__(
        self,
        module: SourceModule,
        outer: Scope | None = None,
        is_class: bool = False,
        function: Function | None = None,
        names: dict[str, Any] | None = None,
    ) -> None:
        self.names: dict[str, Any] = {} if names is None else names
        self.outer = outer
        self.module = module
        self.is_class = is_class
        self.function = function
        self.outside: frozenset[str] = frozenset()  # names declared nonlocal
        self.globals: frozenset[str] = frozenset()  # names declared global

    def lookup(self, name: str) -> Any:
        """The value of a name: local, enclosing functions, module, builtins; NameError when nowhere."""
        scope: Scope | None = self
        while scope is not None:
            top_level = scope.names is self.module.names  # whose names may be deferred
            if name in scope.names and not top_level and (scope is self or not scope.is_class):
                return scope.names[name]
            scope = scope.outer
        return self.module.get(name)

    def bind(self, name: str, value: object) -> None:
        """Give a name a value where Python would."""
        if name in self.globals:
            self.module.names[name] = value
        elif name in self.outside:
            scope = self.outer
            while scope is not None and (scope.is_class or name not in scope.names):
                scope = scope.outer
            (scope or self).names[name] = value
        else:
            self.names[name] = value

    def unbind(self, name: str) -> None:
        """Forget a name."""
        if name not in self.names:
            raise NameError(f"name {name!r} is not defined")
        del self.names[name]

    def owner(self) -> tuple[Function, Scope] | None:
        """The nearest method around this scope and its scope: what `super()` means."""
        scope: Scope | None = self
        while scope is not None:
            if scope.function is not None and scope.function.owner is not None:
                return scope.function, scope
            scope = scope.outer
        return None
