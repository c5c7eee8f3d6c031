"""A scope in, what running it changes or touches beyond its own variables out, call by call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from forwardbook.analyzers.detail.effect_rules import rule
from forwardbook.analyzers.detail.facts import Effect
from forwardbook.analyzers.detail.names import dotted
from forwardbook.analyzers.detail.open_file import OpenFile
from forwardbook.analyzers.detail.scopes import Scope

_CREATES: Final = frozenset(
    {"__init__", "__new__", "__post_init__", "__setstate__", "__set_name__", "__init_subclass__"}
)
_MUTATES: Final = frozenset(
    {
        *("append", "extend", "insert", "remove", "clear", "update", "add", "discard", "setdefault", "sort"),
        *("pop", "popitem", "popleft", "appendleft", "reverse", "move_to_end", "difference_update"),
    }
)
_GROWS: Final = frozenset({"append", "extend", "insert", "update", "add", "setdefault", "appendleft"})


def effects(file: OpenFile, scope: Scope) -> tuple[Effect, ...]:
    """The side effects of a scope by line; what a call inside does is found in the function it calls."""
    found = [*_calls(file, scope), *_bindings(file, scope)]
    unique = dict.fromkeys(sorted(found, key=lambda each: each.line))
    return tuple(unique)


def _calls(file: OpenFile, scope: Scope) -> Iterator[Effect]:
    for node in scope.calls:
        known = rule(file, node)
        if known is not None:
            kind, subject = known
            yield Effect(kind, node.lineno, file.text(node), subject)
        elif isinstance(node.func, ast.Attribute) and node.func.attr in _MUTATES:
            yield from _mutation(file, scope, node.func.value, node, node.func.attr in _GROWS)
        elif isinstance(node.func, ast.Name) and node.func.id in ("setattr", "delattr") and node.args:
            kind_of = _owner(file, scope, node.args[0])
            if kind_of and not _is_creation(scope, node.args[0]):
                yield Effect(kind_of, node.lineno, file.text(node), file.text(node.args[0]))  # type: ignore[arg-type]


def _bindings(file: OpenFile, scope: Scope) -> Iterator[Effect]:
    """The assignments to what outlives the scope."""
    declared = {name for node in scope.each(ast.Global) for name in node.names}
    outer = {name for node in scope.each(ast.Nonlocal) for name in node.names}
    for node in scope.each(ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete):
        if isinstance(node, ast.Assign):
            targets: list[ast.expr] = list(node.targets)
        elif isinstance(node, ast.AugAssign) or (isinstance(node, ast.AnnAssign) and node.value is not None):
            targets = [node.target]
        elif isinstance(node, ast.Delete):
            targets = list(node.targets)
        else:
            continue
        for target in targets:
            yield from _binding(file, scope, node, target, declared, outer)


def _binding(
    file: OpenFile, scope: Scope, node: ast.stmt, target: ast.expr, declared: set[str], outer: set[str]
) -> Iterator[Effect]:
    if isinstance(target, ast.Tuple | ast.List):
        for each in target.elts:
            yield from _binding(file, scope, node, each, declared, outer)
    elif isinstance(target, ast.Starred):
        yield from _binding(file, scope, node, target.value, declared, outer)
    elif isinstance(target, ast.Name):
        if target.id in declared:
            yield Effect("global", node.lineno, file.text(node), target.id)
        elif target.id in outer:
            yield Effect("attribute", node.lineno, file.text(node), f"the enclosing function's {target.id}")
    elif isinstance(target, ast.Attribute | ast.Subscript):
        yield from _mutation(file, scope, target, node, False)


def _mutation(
    file: OpenFile, scope: Scope, place: ast.expr, node: ast.expr | ast.stmt, grows: bool
) -> Iterator[Effect]:
    """The effect of changing what an expression stands for, where that outlives the scope."""
    if file.names.full(_root(place)) == "os" and dotted(_whole(place)).endswith("environ"):
        yield Effect("environment", node.lineno, file.text(node), "os.environ")
        return
    if isinstance(node, ast.Call) and file.names.full(place) == "sys.path":
        yield Effect("environment", node.lineno, file.text(node), "sys.path")
        return
    kind = _owner(file, scope, place)
    if not kind or _is_creation(scope, place):
        return
    if kind == "global" and scope.around is None and not file.names.is_imported(_root(place)):
        return  # the module filling its own tables while it is imported
    whole = dotted(_whole(place)) or file.text(_whole(place))
    yield Effect(kind, node.lineno, file.text(node), whole)  # type: ignore[arg-type]


def _owner(file: OpenFile, scope: Scope, place: ast.expr) -> str:
    """Whose state an expression is: its object's, an argument's or the module's; empty for a local."""
    root = _root(place)
    if not isinstance(root, ast.Name):
        return ""
    if scope.this and root.id == scope.this:
        return "attribute" if place is not root or isinstance(place, ast.Name) else ""
    if root.id in scope.parameters:
        return "" if root.id in scope.stored else "argument"
    if scope.is_class or (scope.function is not None and root.id in scope.stored):
        return ""
    if root.id in file.global_names:
        return "global"
    if root.id in file.names.imported and isinstance(place, ast.Attribute | ast.Subscript):
        return "global"
    return ""


def _is_creation(scope: Scope, place: ast.expr) -> bool:
    """Whether an object fills its own attributes while it is made."""
    node, root = scope.function, _root(place)
    return node is not None and node.name in _CREATES and isinstance(root, ast.Name) and root.id == scope.this


def _root(place: ast.expr) -> ast.expr:
    while isinstance(place, ast.Attribute | ast.Subscript):
        place = place.value
    return place


def _whole(place: ast.expr) -> ast.expr:
    """The expression up to its first item: `self.table` of `self.table[key].rows`."""
    chain = [place]
    while isinstance(chain[-1], ast.Attribute | ast.Subscript):
        chain.append(chain[-1].value)
    for outer, inner in zip(reversed(chain[:-1]), reversed(chain[1:]), strict=True):
        if isinstance(outer, ast.Subscript):
            return inner
    return place
