"""A Python file of others in, its syntax tree out, its warnings unheard; nothing is imported."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path


def quiet_tree(path: Path) -> ast.Module | None:
    """The tree of a file; None where it is not Python that can be parsed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the analysed code's own making
            return ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None


def package_of(module: str, path: Path) -> str:
    """The package that relative imports of a module's file start from."""
    return module if path.name == "__init__.py" else module.rpartition(".")[0]


def imported_module(node: ast.ImportFrom, package: str) -> str:
    """The dotted name of the module that a `from` imports from, dots at its beginning resolved."""
    parts = package.split(".")
    kept = parts[: len(parts) - node.level + 1] if node.level else []
    return ".".join([*kept, *([node.module] if node.module else [])])


def top_level(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run when a module is imported: also inside `if`, `try`, `with`, loops and `match`."""
    for node in body:
        match node:
            case ast.If() | ast.For() | ast.While():
                yield from top_level((*node.body, *node.orelse))
            case ast.Try() | ast.TryStar():
                handled = (one for handler in node.handlers for one in handler.body)
                yield from top_level((*node.body, *handled, *node.orelse, *node.finalbody))
            case ast.With():
                yield from top_level(node.body)
            case ast.Match():
                yield from top_level(one for case in node.cases for one in case.body)
            case _:
                yield node
