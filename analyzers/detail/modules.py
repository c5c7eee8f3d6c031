"""A file's classes in, those that are `nn.Module`s as far as the text tells out, with the chain of bases."""

from __future__ import annotations

import ast
import re
from typing import Final

from forwardbook.analyzers.detail.facts import ModuleClass, Span
from forwardbook.analyzers.detail.open_file import OpenFile
from forwardbook.analyzers.detail.scopes import Scope
from forwardbook.analyzers.detail.syntax import Function

_ROOTS: Final = frozenset({"torch.nn.Module", "torch.nn.modules.module.Module", "torch.nn.modules.Module"})
_LIBRARY: Final = re.compile(r"^torch\.nn\.(?!functional\b|Parameter$|utils\b|init\b)(\w+\.)*[A-Z]\w*$")


def modules(file: OpenFile) -> tuple[ModuleClass, ...]:
    """The classes whose bases lead to torch's `Module` within this file and its imports of torch."""
    by_name = {each.qualname: each for each in file.classes}
    found = []
    for scope in file.classes:
        chain = _chain(file, scope, by_name, frozenset())
        if chain:
            end = getattr(scope.node, "end_lineno", 0)
            span = Span(getattr(scope.node, "lineno", 0), end)
            found.append(ModuleClass(scope.qualname, span, chain, _forward(scope)))
    return tuple(found)


def _chain(file: OpenFile, scope: Scope, by_name: dict[str, Scope], seen: frozenset[str]) -> tuple[str, ...]:
    node = scope.node
    if not isinstance(node, ast.ClassDef) or scope.qualname in seen:
        return ()
    for base in node.bases:
        plain = base.value if isinstance(base, ast.Subscript) else base
        name = file.names.full(plain)
        if name in _ROOTS or _LIBRARY.match(name):
            return (name,)
        if name in by_name:
            rest = _chain(file, by_name[name], by_name, seen | {scope.qualname})
            if rest:
                return (name, *rest)
    return ()


def _forward(scope: Scope) -> Span | None:
    node = scope.node
    assert isinstance(node, ast.ClassDef)
    for each in reversed(node.body):
        if isinstance(each, Function) and each.name == "forward":
            return Span(each.lineno, each.end_lineno or each.lineno)
    return None
