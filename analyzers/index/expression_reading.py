"""Expressions of a syntax tree in, the calls, reads and bound names in them noted in their scope."""

from __future__ import annotations

import ast
from typing import Final

from forwardbook.analyzers.index.callee import ARGUMENT, argument_words, callee
from forwardbook.analyzers.index.facts import Call
from forwardbook.analyzers.index.header import brief
from forwardbook.analyzers.index.scope import Scope
from forwardbook.analyzers.index.source_text import SourceText

VALUE: Final = 160  # the longest value that is kept whole, in characters
_NOT_NODES: Final = frozenset(
    {"ctx", "op", "ops", "id", "attr", "arg", "kind", "type_comment", "type_ignores"}
)
_INNER: Final = {  # the fields of each kind of node that can hold expressions
    kind: tuple(name for name in kind._fields if name not in _NOT_NODES)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST) and kind not in (ast.Constant, ast.Name)
}


class ExpressionReading:
    """Reads the expressions of one file."""

    def __init__(self, source: SourceText) -> None:
        self.source = source

    def _expression(self, top: ast.AST | None, scope: Scope, in_lambda: bool = False) -> None:
        """Note the calls, yields and `:=` of an expression (or a plain statement)."""
        stack: list[object] = [top]
        inner = _INNER.get
        while stack:
            node = stack.pop()
            kind = node.__class__
            fields = inner(kind)  # type: ignore[arg-type]
            if not fields:
                continue
            if kind is ast.Call:
                self._call(node, scope)  # type: ignore[arg-type]
                stack.extend(node.args)  # type: ignore[attr-defined]
                stack.extend(node.keywords)  # type: ignore[attr-defined]
                stack.append(_receiver(node.func))  # type: ignore[attr-defined]
                continue
            if kind is ast.Attribute:
                self._read(node, scope)  # type: ignore[arg-type]
                stack.append(_receiver(node))  # type: ignore[arg-type]
                continue
            if kind is ast.NamedExpr:
                self._bind(node.target, scope, node.value)  # type: ignore[attr-defined]
            elif kind is ast.comprehension:
                self._bind_within(node.target, scope, node.iter)  # type: ignore[attr-defined]
            elif kind is ast.MatchAs or kind is ast.MatchStar:
                if node.name:  # type: ignore[attr-defined]
                    scope.bind_inner(node.name, node, "")  # type: ignore
            elif kind is ast.MatchMapping and node.rest:  # type: ignore[attr-defined]
                scope.bind_inner(node.rest, node, "")  # type: ignore
            elif kind is ast.Lambda:
                for arg in ast.walk(node.args):  # type: ignore[attr-defined]
                    if arg.__class__ is ast.arg:
                        scope.bind_inner(arg.arg, arg, "")
                self._expression(node.args, scope)  # type: ignore[attr-defined]
                self._expression(node.body, scope, in_lambda=True)  # type: ignore[attr-defined]
                continue
            elif (kind is ast.Yield or kind is ast.YieldFrom) and not in_lambda:
                scope.generator = True
            for name in fields:
                value = getattr(node, name)
                if value.__class__ is list:
                    stack.extend(value)
                elif value is not None:
                    stack.append(value)

    def _call(self, node: ast.Call, scope: Scope) -> None:
        found = Call(node.lineno, node.col_offset, callee(node.func), argument_words(self.source, node))
        scope.calls.append(
            (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0, found)
        )

    def _read(self, node: ast.Attribute, scope: Scope) -> None:
        """Note an attribute that is read (or bound, where the name alone does not say of what)."""
        words = callee(node)
        if not words.startswith("()"):
            scope.reads.append(Call(node.lineno, node.col_offset, words))

    def _bind_within(self, target: ast.expr, scope: Scope, iterated: ast.expr) -> None:
        """Note the names that a comprehension binds."""
        words = "for " + brief(self.source, iterated, VALUE)
        waiting: list[tuple[ast.expr, str]] = [(target, words)]
        while waiting:
            one, how = waiting.pop()
            if isinstance(one, ast.Name):
                scope.bind_inner(one.id, one, how)
            elif isinstance(one, ast.Starred):
                waiting.append((one.value, ""))
            elif isinstance(one, ast.Tuple | ast.List):
                starred = any(isinstance(part, ast.Starred) for part in one.elts)
                waiting += [
                    (part, "" if starred or not how else f"[{number}] of {how}")
                    for number, part in enumerate(one.elts)
                ]

    def _bind(
        self, target: ast.expr, scope: Scope, value: ast.expr | None, annotation: str = "", how: str = ""
    ) -> None:
        """Note what a target is bound to: a name here, or an attribute of the class whose method this is."""
        kind = target.__class__
        if kind is ast.Name:
            name: str = target.id  # type: ignore[attr-defined]
            if name not in scope.outer_names:
                scope.bind(name, target.lineno, annotation, self._value(value, how))
        elif kind is ast.Attribute:
            base = target.value  # type: ignore[attr-defined]
            if scope.owner is not None and base.__class__ is ast.Name and base.id == scope.this:
                scope.owner.bind(target.attr, target.lineno, annotation, self._value(value, how))  # type: ignore[attr-defined]
            else:
                self._expression(target, scope)
        elif kind is ast.Subscript and value is not None and not how:
            base = callee(target.value)  # type: ignore[attr-defined]
            pair = (target.slice, value)  # type: ignore[attr-defined]
            texts = tuple([brief(self.source, part, ARGUMENT) for part in pair])
            scope.reads.append(Call(target.lineno, target.col_offset, f"{base}.__setitem__", texts))
            self._expression(target, scope)
        elif kind is ast.Tuple or kind is ast.List:
            self._unpack(target.elts, scope, value, how)  # type: ignore[attr-defined]
        elif kind is ast.Starred:
            self._bind(target.value, scope, None)  # type: ignore[attr-defined]
        else:
            self._expression(target, scope)

    def _unpack(self, targets: list[ast.expr], scope: Scope, value: ast.expr | None, how: str) -> None:
        parts = value.elts if isinstance(value, ast.Tuple | ast.List) else []
        starred = any(isinstance(part, ast.Starred) for part in (*targets, *parts))
        if not how and not starred and len(parts) == len(targets):
            for target, part in zip(targets, parts, strict=True):
                self._bind(target, scope, part)
            return
        for number, target in enumerate(targets):
            self._bind(target, scope, None if starred else value, how=f"[{number}] of {how}")

    def _value(self, value: ast.expr | None, how: str) -> str:
        return how + brief(self.source, value, VALUE) if value is not None else ""


def _receiver(node: ast.expr) -> ast.expr | None:
    """What stands left of the attributes of a chain, where it is more than a name."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return None if isinstance(node, ast.Name) else node
