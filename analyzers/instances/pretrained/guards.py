"""A modeling file's text in; out, for each class that it constructs, the config settings under which it does.

`if config.use_scan: self.scan = Scan(config)` says that a model holds Scan where `use_scan` is true.
Conditions around a constructor call are read, never run; what they cannot tell leads to no settings.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import EllipsisType

Settings = Mapping[str, object]
Tables = Mapping[str, list[tuple["str | bytes | bool | int | float | complex | EllipsisType | None", str]]]
"""Dictionaries of a module that lead from a key to a class, by name."""
Test = tuple[ast.expr, bool]
"""A condition, and whether it holds where the class is constructed."""

MOST = 6
"""Settings that are told for one class."""
TRUTHY = "a true value"
"""Stands for whatever value of the field's kind is true."""
FALSY = "a false value"


@dataclass(frozen=True)
class Site:
    """A place that constructs a class: in which class, under which conditions, with which local names."""

    owner: str
    tests: tuple[Test, ...]
    names: Mapping[str, ast.expr]


def settings_for(source: str, wanted: Iterable[str]) -> dict[str, list[Settings]]:
    """For each wanted class name the settings under one of which it is constructed, likeliest first."""
    sites = _sites(ast.parse(source))
    found: dict[str, list[Settings]] = {}
    for name in wanted:
        told = [one for one in _settings(name, sites, ()) if one]
        unlike = [one for i, one in enumerate(told) if one not in told[:i]]
        if unlike:
            found[name] = unlike[:MOST]
    return found


def _settings(name: str, sites: Mapping[str, list[Site]], above: tuple[str, ...]) -> Iterator[Settings]:
    """Those of each site; where the class around is itself under conditions, with those of it."""
    for site in sites.get(name, []):
        inner = list(itertools.islice(_meeting(site.tests, site.names), MOST))
        outer: list[Settings] = [{}]
        if site.owner and site.owner != name and site.owner not in above and len(above) < 3:
            outer = list(itertools.islice(_settings(site.owner, sites, (*above, name)), 2)) or [{}]
        for one, around in itertools.product(inner, outer):
            yield {**around, **one}


def _sites(tree: ast.Module) -> dict[str, list[Site]]:
    found: dict[str, list[Site]] = {}
    tables = _tables(tree)
    for node in tree.body:
        owner = node.name if isinstance(node, ast.ClassDef) else ""
        functions = [one for one in ast.walk(node) if isinstance(one, ast.FunctionDef)]
        attributes = {k: v for f in functions for k, v in _assigned(f).items() if k.startswith("self.")}
        for function in functions:
            names = {**attributes, **_assigned(function)}
            for name, tests in _constructed(function.body, (), tables):
                found.setdefault(name, []).append(Site(owner, tests, names))
    return found


def _tables(tree: ast.Module) -> Tables:
    """Dictionaries of the module that lead from a key to a class."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name):
                found[target.id] = [
                    (key.value, value.id)
                    for key, value in zip(node.value.keys, node.value.values, strict=True)
                    if isinstance(key, ast.Constant) and isinstance(value, ast.Name)
                ]
    return found


def _assigned(function: ast.FunctionDef) -> dict[str, ast.expr]:
    """What local names and attributes of self are set to."""
    found: dict[str, ast.expr] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            found.setdefault(ast.unparse(node.targets[0]), node.value)
    return found


def _constructed(
    body: Iterable[ast.stmt], tests: tuple[Test, ...], tables: Tables
) -> Iterator[tuple[str, tuple[Test, ...]]]:
    """Every class named in statements, with the conditions that lead there."""
    for statement in body:
        if isinstance(statement, ast.If):
            yield from _constructed(statement.body, (*tests, (statement.test, True)), tables)
            yield from _constructed(statement.orelse, (*tests, (statement.test, False)), tables)
            if _leaves(statement.body):  # what follows is the other branch
                tests = (*tests, (statement.test, False))
            continue
        blocks = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
        if any(blocks) and not isinstance(statement, ast.FunctionDef):
            for block in blocks:
                yield from _constructed(block, tests, tables)
            continue
        yield from _in_expression(statement, tests, tables)


def _leaves(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Return | ast.Raise | ast.Continue)


def _in_expression(
    node: ast.AST, tests: tuple[Test, ...], tables: Tables
) -> Iterator[tuple[str, tuple[Test, ...]]]:
    if isinstance(node, ast.IfExp):
        yield from _in_expression(node.body, (*tests, (node.test, True)), tables)
        yield from _in_expression(node.orelse, (*tests, (node.test, False)), tables)
        return
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in tables:
        for key, name in tables[node.value.id]:
            equal = ast.Compare(node.slice, [ast.Eq()], [ast.Constant(value=key)])
            yield name, (*tests, (equal, True))
    if isinstance(node, ast.Name) and node.id[:1].isupper():
        yield node.id, tests
    for child in ast.iter_child_nodes(node):
        yield from _in_expression(child, tests, tables)


def _meeting(tests: tuple[Test, ...], names: Mapping[str, ast.expr]) -> Iterator[Settings]:
    """Settings under which all of the conditions hold as wanted; those about no field are left out."""
    ways = [list(_holding(test, wanted, names)) or [{}] for test, wanted in tests]
    for chosen in itertools.product(*ways):
        yield {name: value for one in chosen for name, value in one.items()}


def _holding(test: ast.expr, wanted: bool, names: Mapping[str, ast.expr]) -> Iterator[Settings]:
    """Settings under which one condition is as wanted."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            yield from _holding(inner, not wanted, names)
        case ast.BoolOp(op=op, values=values):
            if isinstance(op, ast.And) == wanted:
                yield from _meeting(tuple((value, wanted) for value in values), names)
            else:
                for value in values:
                    yield from _holding(value, wanted, names)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            yield from _compared(left, op, right, wanted, names)
        case _:
            field = _field(test, names)
            if field:
                yield {field: TRUTHY if wanted else FALSY}
            elif isinstance(test, ast.Name) and isinstance(
                names.get(test.id), ast.Compare | ast.BoolOp | ast.UnaryOp
            ):
                yield from _holding(names[test.id], wanted, {k: v for k, v in names.items() if k != test.id})


def _compared(
    left: ast.expr, op: ast.cmpop, right: ast.expr, wanted: bool, names: Mapping[str, ast.expr]
) -> Iterator[Settings]:
    field, listed = _field(left, names), _field(right, names)
    value, known = _constant(right)
    positive = wanted != isinstance(op, ast.NotEq | ast.NotIn | ast.IsNot)
    if field and known and isinstance(op, ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
        if positive:
            yield {field: value}
        elif value is None:
            yield {field: TRUTHY}
        elif isinstance(value, bool):
            yield {field: not value}
    elif field and known and isinstance(op, ast.In | ast.NotIn) and isinstance(value, list | tuple | set):
        if positive:
            yield from ({field: one} for one in value)
    elif listed and isinstance(op, ast.In | ast.NotIn):
        key, fixed = _constant(left)
        yield {listed: [key if fixed else 0] if positive else []}
    elif field and known and isinstance(value, int) and isinstance(op, ast.Gt | ast.GtE | ast.Lt | ast.LtE):
        more = isinstance(op, ast.Gt | ast.GtE) == wanted
        yield {field: value + (1 if more else -1)} if more or value > 0 else {field: 0}


def _constant(node: ast.expr) -> tuple[object, bool]:
    try:
        return ast.literal_eval(node), True
    except (ValueError, TypeError):
        return None, False


def _field(node: ast.expr, names: Mapping[str, ast.expr], depth: int = 3) -> str:
    """The config field that an expression reads; empty where it reads none."""
    match node:
        case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner.endswith("config"):
            return name
        case ast.Attribute(value=ast.Attribute(attr=owner), attr=name) if owner.endswith("config"):
            return name
        case ast.Call(
            func=ast.Name(id="getattr"), args=[ast.Name(id=owner), ast.Constant(value=str(name)), *_]
        ) if owner.endswith("config"):
            return name
        case ast.Name() | ast.Attribute():
            text = ast.unparse(node)
            if depth and text in names and ast.unparse(names[text]) != text:
                return _field(names[text], names, depth - 1)
    return ""
