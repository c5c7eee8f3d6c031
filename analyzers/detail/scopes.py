"""A tree in, its scopes out: which nodes each function, class body and the module's own level hold."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Final, TypeVar

from forwardbook.analyzers.detail.syntax import Function

_SKIPPED: Final = frozenset({"ctx", "op", "ops", "type_comment", "type_ignores", "kind"})
_FIELDS: Final = {
    kind: tuple(name for name in kind._fields if name not in _SKIPPED)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
Defined = Function | ast.ClassDef
N = TypeVar("N", bound=ast.AST)


def _place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


@dataclass(slots=True, eq=False)
class Scope:
    """A function, a class body or the module (`node`: the tree) and the nodes that are its own, in order."""

    node: ast.Module | Defined
    qualname: str = ""
    around: Scope | None = None
    kinds: dict[type[ast.AST], list[ast.AST]] = field(default_factory=dict)
    _stored: frozenset[str] | None = None

    def each(self, *kinds: type[N]) -> list[N]:
        """Its own nodes of some kinds, in source order."""
        if len(kinds) == 1:
            return self.kinds.get(kinds[0], [])  # type: ignore[return-value]
        found = [node for kind in kinds for node in self.kinds.get(kind, ())]
        found.sort(key=_place)
        return found  # type: ignore[return-value]

    @property
    def calls(self) -> list[ast.Call]:
        """Its own calls, in source order."""
        return self.each(ast.Call)

    @property
    def stored(self) -> frozenset[str]:
        """The names that it binds by assignment, loops, `with` and the like."""
        if self._stored is None:
            names = self.each(ast.Name)
            self._stored = frozenset(each.id for each in names if not isinstance(each.ctx, ast.Load))
        return self._stored

    @property
    def is_class(self) -> bool:
        """Whether it is a class body."""
        return isinstance(self.node, ast.ClassDef)

    @property
    def line(self) -> int:
        """The line of its `def` or `class`; 0 for the module."""
        return 0 if isinstance(self.node, ast.Module) else self.node.lineno

    @property
    def function(self) -> Function | None:
        """The function's node, where it is one."""
        return self.node if isinstance(self.node, Function) else None

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the function's parameters."""
        node = self.function
        if node is None:
            return ()
        given = node.args
        every = [*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg]
        return tuple(each.arg for each in every if each is not None)

    @property
    def this(self) -> str:
        """The name by which a method knows its object (empty outside a class and in static methods)."""
        if self.around is None or self.function is None:
            return ""
        if not self.around.is_class:
            return "" if self.around.this in self.parameters else self.around.this
        marks = {mark.id for mark in self.function.decorator_list if isinstance(mark, ast.Name)}
        return self.parameters[0] if self.parameters and "staticmethod" not in marks else ""


@dataclass(frozen=True, slots=True)
class Scopes:
    """Every scope of a file in source order (the module first), and the parent of every node."""

    module: Scope
    every: tuple[Scope, ...]
    parents: dict[ast.AST, ast.AST]

    def above(self, node: ast.AST) -> list[ast.AST]:
        """The nodes around a node up to its function, class or module, the nearest first."""
        found: list[ast.AST] = []
        while (node := self.parents[node]) is not None:
            found.append(node)
            if isinstance(node, ast.Module | Defined):
                break
        return found


def scopes(tree: ast.Module) -> Scopes:
    """The scopes of a tree; decorators, defaults and bases belong to the scope around the definition."""
    module = Scope(tree)
    every = [module]
    parents: dict[ast.AST, ast.AST] = {}
    stack: list[tuple[ast.AST, Scope]] = [(child, module) for child in reversed(tree.body)]
    parents.update(dict.fromkeys(tree.body, tree))
    while stack:
        node, scope = stack.pop()
        kind = node.__class__
        known = scope.kinds.get(kind)
        if known is None:
            scope.kinds[kind] = [node]
        else:
            known.append(node)
        inner = scope
        if isinstance(node, Defined):
            qualname = f"{scope.qualname}.{node.name}" if scope.qualname else node.name
            inner = Scope(node, qualname, scope)
            every.append(inner)
        found: list[tuple[ast.AST, Scope]] = []
        for name in _FIELDS[node.__class__]:
            value = getattr(node, name, None)
            within = inner if name == "body" else scope
            if value.__class__ is list:
                for each in value:
                    if isinstance(each, ast.AST):
                        parents[each] = node
                        found.append((each, within))
            elif isinstance(value, ast.AST):
                parents[value] = node
                found.append((value, within))
        found.reverse()
        stack += found
    return Scopes(module, tuple(every), parents)
