"""A scope in, the environment variables it reads, needs, sets or deletes out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from forwardbook.analyzers.detail.facts import EnvironmentVariable
from forwardbook.analyzers.detail.names import argument, string
from forwardbook.analyzers.detail.open_file import OpenFile
from forwardbook.analyzers.detail.scopes import Scope


def environment(file: OpenFile, scope: Scope) -> tuple[EnvironmentVariable, ...]:
    """Each use of an environment variable, in source order; a name that is no literal is given as written."""
    return tuple(_uses(file, scope))


def _uses(file: OpenFile, scope: Scope) -> Iterator[EnvironmentVariable]:
    for node in scope.each(ast.Call, ast.Subscript, ast.Compare):
        if isinstance(node, ast.Call):
            yield from _call(file, node)
        elif isinstance(node, ast.Subscript) and file.names.full(node.value) == "os.environ":
            name = _name(file, node.slice)
            if isinstance(node.ctx, ast.Store):
                parent = file.scopes.parents.get(node)
                value = file.text(parent.value) if isinstance(parent, ast.Assign) else ""
                yield EnvironmentVariable(name, node.lineno, "write", value)
            else:
                yield EnvironmentVariable(
                    name, node.lineno, "delete" if isinstance(node.ctx, ast.Del) else "required"
                )
        elif isinstance(node, ast.Compare) and _asks(file, node):
            yield EnvironmentVariable(_name(file, node.left), node.lineno, "test")


def _asks(file: OpenFile, node: ast.Compare) -> bool:
    is_in = isinstance(node.ops[0], ast.In | ast.NotIn)
    return is_in and file.names.full(node.comparators[0]) == "os.environ"


def _call(file: OpenFile, node: ast.Call) -> Iterator[EnvironmentVariable]:
    called = file.names.full(node.func)
    key = argument(node, 0, "key")
    if key is None or isinstance(key, ast.Starred):
        return
    name = _name(file, key)
    default = argument(node, 1, "default")
    words = file.text(default) if default is not None else ""
    if called in ("os.getenv", "os.environ.get", "os.environb.get", "os.getenvb"):
        yield EnvironmentVariable(name, node.lineno, "read", words)
    elif called in ("os.environ.setdefault", "os.putenv"):
        yield EnvironmentVariable(name, node.lineno, "write", words)
    elif called in ("os.environ.pop", "os.unsetenv"):
        yield EnvironmentVariable(name, node.lineno, "delete", words)


def _name(file: OpenFile, node: ast.expr) -> str:
    return string(node) or file.text(node)
