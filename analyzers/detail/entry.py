"""A file in, how it is run out: a `__main__` guard, a `__main__.py`, a script line, or a plain script."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from forwardbook.analyzers.detail.facts import EntryPoint
from forwardbook.analyzers.detail.open_file import OpenFile
from forwardbook.analyzers.detail.scopes import Defined


def entry(file: OpenFile) -> EntryPoint | None:
    """Where a run of the file begins; nothing for a file that is only imported."""
    for node in file.syntax.tree.body:
        if isinstance(node, ast.If) and _is_guard(node.test):
            return EntryPoint("__main__ guard", node.lineno, _calls(file, node.body))
    body = [each for each in file.syntax.tree.body if not _declares(each)]
    line = body[0].lineno if body else 1
    if file.facts.path.rpartition("/")[2] == "__main__.py":
        return EntryPoint("__main__ file", line, _calls(file, body))
    if file.syntax.source.row(1).startswith("#!"):
        return EntryPoint("script line", 1, _calls(file, body))
    loud = [each for each in body if isinstance(each, ast.Expr | ast.For | ast.While | ast.With | ast.Try)]
    is_script = loud and not any(isinstance(each, Defined) for each in file.syntax.tree.body)
    if is_script and not file.facts.exports and not file.facts.path.endswith("__init__.py"):
        return EntryPoint("script body", loud[0].lineno, _calls(file, loud))
    return None


def _is_guard(test: ast.expr) -> bool:
    if not isinstance(test, ast.Compare) or len(test.comparators) != 1:
        return False
    sides = (test.left, test.comparators[0])
    return any(isinstance(each, ast.Name) and each.id == "__name__" for each in sides) and any(
        isinstance(each, ast.Constant) and each.value == "__main__" for each in sides
    )


def _declares(node: ast.stmt) -> bool:
    """Whether a statement only declares: a definition, an import, a constant, a docstring."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, (*Defined.__args__, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign))


def _calls(file: OpenFile, body: Sequence[ast.stmt]) -> tuple[str, ...]:
    """The calls that the statements themselves are, as written."""
    found = []
    for each in body:
        value = getattr(each, "value", None)
        if isinstance(each, ast.Raise):
            value = each.exc
        if isinstance(value, ast.Call):
            found.append(file.text(value))
    return tuple(found[:8])
