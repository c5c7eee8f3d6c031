"""Sizes that Python looks up in tables, and texts of sizes: what a run needs of a number and does not ask.

A dictionary compares a size with keys of the same hash alone: one that is not found is compared with none,
though `{32: 2, 64: 4}.get(dim, 1)` is another number at 32. And a text has the size's number no more.
"""

from __future__ import annotations

import ast
import dataclasses
import json
import linecache
import logging
from collections.abc import Iterator, Mapping, Set
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Final

import torch

MANY: Final = 64
"""Keys that a size is compared with one by one; of a larger table only its neighbours."""
_OTHERS: Final = (str(Path(torch.__file__).parent), str(Path(__file__).parent))
_PYTHON: Final = tuple(
    str(module.__file__).removesuffix("__init__.py") for module in (logging, json, dataclasses)
)
_METHODS: Final = {"get", "pop", "setdefault", "__getitem__", "__contains__"}
_TOLD: Final = {"print", "warn", "warning", "warning_once", "info", "debug", "error", "log", "append"}
_NAMING: Final = {"add_module", "register_module", "register_buffer", "register_parameter", "setattr"}
_DISPLAYS: Final = {"ModuleDict", "ParameterDict", "OrderedDict", "Sequential", "getattr", "hasattr"}


def looked_up(frame: FrameType | None, kind: type) -> set[int]:
    """The whole numbers, or texts of such, among the keys of tables that a frame looks in right now."""
    if frame is None or frame.f_code.co_filename.startswith(_OTHERS):
        return set()
    found: set[int] = set()
    for table in _tables(frame):
        for key in table:
            parts = key if isinstance(key, tuple) else (key,)
            same = [str(part) for part in parts if type(part) is kind]
            found |= {int(text) for text in same if text.lstrip("-").isdecimal()}
    return found


def is_only_told(frame: FrameType | None) -> bool:
    """Whether a text that a frame writes right now is read by people or names a part, at the most."""
    if frame is None or frame.f_code.co_filename.startswith((*_OTHERS, *_PYTHON)):
        return True
    return _is_told_in(frame.f_code.co_filename, frame.f_lineno)


def _tables(frame: FrameType) -> Iterator[Mapping[object, object] | Set[object]]:
    for written in _written(frame.f_code, frame.f_lasti):
        try:
            value = eval(written, frame.f_globals, frame.f_locals)  # noqa: S307 - names and attributes alone
        except Exception:  # noqa: BLE001 - what the class itself would raise, it raises
            continue
        if isinstance(value, Mapping | Set):
            yield value


@lru_cache(maxsize=4096)
def _written(code: CodeType, at: int) -> tuple[CodeType, ...]:
    """The tables of the expression that an instruction stands for, ready to be evaluated."""
    first, last, begin, end = list(code.co_positions())[at // 2]
    if first is None or last is None or begin is None or end is None:
        return ()
    lines = [line.encode() for line in linecache.getlines(code.co_filename)[first - 1 : last]]
    if not lines:
        return ()
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][begin:]
    try:
        tree = ast.parse(f"({b''.join(lines).decode()})", mode="eval").body
    except (SyntaxError, ValueError):
        return ()
    tables = (_keys(table) for table in _asked(tree))
    return tuple(compile(_expression(table), "<table>", "eval") for table in tables if _is_plain(table))


def _expression(tree: ast.expr) -> ast.Expression:
    return ast.fix_missing_locations(ast.Expression(tree))


def _asked(tree: ast.expr) -> list[ast.expr]:
    if isinstance(tree, ast.Subscript):
        return [tree.value]
    if isinstance(tree, ast.Compare):
        pairs = zip(tree.ops, tree.comparators, strict=True)
        return [right for how, right in pairs if isinstance(how, ast.In | ast.NotIn)]
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute) and tree.func.attr in _METHODS:
        return [tree.func.value]
    return []


def _keys(tree: ast.expr) -> ast.expr:
    """Of a dictionary that is written out, or of `.keys()`, what holds the keys."""
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute) and tree.func.attr == "keys":
        return tree.func.value
    if not isinstance(tree, ast.Dict):
        return tree
    kept: list[ast.expr] = [key for key in tree.keys if isinstance(key, ast.Constant | ast.Tuple)]
    return ast.Set(kept) if kept else tree


def _is_plain(tree: ast.expr) -> bool:
    if isinstance(tree, ast.Attribute):
        return _is_plain(tree.value)
    if isinstance(tree, ast.Set | ast.Tuple):
        return all(map(_is_plain, tree.elts))
    if isinstance(tree, ast.Subscript):
        return _is_plain(tree.value) and _is_plain(tree.slice)
    return isinstance(tree, ast.Name | ast.Constant)


def _tells(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Raise):
        return True
    if isinstance(statement, ast.Assert):
        return not any(map(_is_text, ast.walk(statement.test)))
    if isinstance(statement, ast.Expr) and _called(statement.value) in _TOLD | _NAMING:
        return True
    if isinstance(statement, ast.Assign) and any(isinstance(one, ast.Subscript) for one in statement.targets):
        return not any(map(_looks, ast.walk(statement.value)))
    inside = [one for one in ast.walk(statement) if _called(one) in _DISPLAYS]
    texts = [one for one in ast.walk(statement) if isinstance(one, ast.JoinedStr)]
    within = {id(text) for one in inside for text in ast.walk(one)}
    apart = [one for one in texts if id(one) not in within]
    return bool(texts) and not apart and not any(map(_looks, ast.walk(statement)))


def _names_parts(statement: ast.stmt, tree: ast.Module | None) -> bool:
    """Whether a text becomes an attribute that its file asks for nowhere but to name a part."""
    if tree is None or not isinstance(statement, ast.Assign) or any(map(_looks, ast.walk(statement.value))):
        return False
    if not all(isinstance(one, ast.Attribute) for one in statement.targets):
        return False
    names = {one.attr for one in statement.targets if isinstance(one, ast.Attribute)}
    naming = (one for one in ast.walk(tree) if _called(one) in _DISPLAYS | _NAMING)
    within = {id(one) for call in naming for one in ast.walk(call)}
    attributes = (one for one in ast.walk(tree) if isinstance(one, ast.Attribute) and one.attr in names)
    return all(id(one) in within for one in attributes if isinstance(one.ctx, ast.Load))


def _looks(one: ast.AST) -> bool:
    return isinstance(one, ast.expr) and bool(_asked(one)) or _called(one) in ("len", "int", "float", "eval")


def _is_text(one: ast.AST) -> bool:
    return isinstance(one, ast.JoinedStr) or _called(one) in ("str", "repr", "format")


def _called(one: ast.AST) -> str:
    if not isinstance(one, ast.Call):
        return ""
    return getattr(one.func, "attr", "") or getattr(one.func, "id", "")


@lru_cache(maxsize=4096)
def _is_told_in(file: str, line: int) -> bool:
    statement = _statement(file, line)
    return statement is None or _tells(statement) or _names_parts(statement, _tree(file))


def _statement(file: str, line: int) -> ast.stmt | None:
    """The smallest statement that a line is of."""
    tree = _tree(file)
    around = [
        one
        for one in ast.walk(tree or ast.Module([], []))
        if isinstance(one, ast.stmt) and one.lineno <= line <= (one.end_lineno or 0)
    ]
    return min(around, key=lambda one: ((one.end_lineno or 0) - one.lineno, -one.col_offset), default=None)


@lru_cache(maxsize=64)
def _tree(file: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return None
