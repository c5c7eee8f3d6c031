"""A file in, the constructs that need a certain Python 3 out, each with the line that proves it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from forwardbook.analyzers.detail.facts import Requirement
from forwardbook.analyzers.detail.open_file import OpenFile
from forwardbook.analyzers.detail.syntax import Function

Version = tuple[int, int]
_GENERIC: Final = frozenset({"list", "dict", "tuple", "set", "frozenset", "type"})
_GENERIC_ELSEWHERE: Final = frozenset(
    {"collections.OrderedDict", "collections.defaultdict", "collections.deque", "collections.Counter"}
)
_NODES: Final[dict[str, tuple[Version, str]]] = {
    "NamedExpr": ((3, 8), "an assignment expression `:=`"),
    "Match": ((3, 10), "the statement `match`"),
    "TryStar": ((3, 11), "`except*`"),
    "TypeAlias": ((3, 12), "the statement `type`"),
    "TemplateStr": ((3, 14), "a template string"),
    "JoinedStr": ((3, 6), "an f-string"),
    "AnnAssign": ((3, 6), "an annotated variable"),
    "AsyncFunctionDef": ((3, 5), "`async def`"),
    "MatMult": ((3, 5), "the operator `@`"),
}
_LOOKED_AT: Final = (
    *(getattr(ast, name) for name in _NODES if hasattr(ast, name) and name != "MatMult"),
    *(ast.BinOp, ast.FunctionDef, ast.ClassDef, ast.Subscript, ast.Return, ast.comprehension, ast.Call),
)
_MODULES: Final[dict[str, Version]] = {
    "dataclasses": (3, 7),
    "contextvars": (3, 7),
    "importlib.resources": (3, 7),
    "importlib.metadata": (3, 8),
    "multiprocessing.shared_memory": (3, 8),
    "zoneinfo": (3, 9),
    "graphlib": (3, 9),
    "tomllib": (3, 11),
    "annotationlib": (3, 14),
    "string.templatelib": (3, 14),
    "compression.zstd": (3, 14),
}
_MEMBERS: Final[dict[str, Version]] = {
    "functools.cached_property": (3, 8),
    "functools.cache": (3, 9),
    "typing.Literal": (3, 8),
    "typing.Protocol": (3, 8),
    "typing.Final": (3, 8),
    "typing.TypedDict": (3, 8),
    "typing.Annotated": (3, 9),
    "typing.ParamSpec": (3, 10),
    "typing.TypeAlias": (3, 10),
    "typing.TypeGuard": (3, 10),
    "typing.Concatenate": (3, 10),
    "typing.Self": (3, 11),
    "typing.assert_never": (3, 11),
    "typing.TypeVarTuple": (3, 11),
    "typing.Unpack": (3, 11),
    "typing.NotRequired": (3, 11),
    "typing.Required": (3, 11),
    "typing.Never": (3, 11),
    "typing.LiteralString": (3, 11),
    "typing.dataclass_transform": (3, 11),
    "typing.override": (3, 12),
    "typing.TypeAliasType": (3, 12),
    "typing.TypeIs": (3, 13),
    "typing.ReadOnly": (3, 13),
    "warnings.deprecated": (3, 13),
    "enum.StrEnum": (3, 11),
    "datetime.UTC": (3, 11),
    "asyncio.TaskGroup": (3, 11),
    "asyncio.timeout": (3, 11),
    "asyncio.to_thread": (3, 9),
    "contextlib.chdir": (3, 11),
    "contextlib.nullcontext": (3, 7),
    "itertools.pairwise": (3, 10),
    "itertools.batched": (3, 12),
    "types.NoneType": (3, 10),
    "types.UnionType": (3, 10),
    "types.EllipsisType": (3, 10),
    "inspect.get_annotations": (3, 10),
    "math.prod": (3, 8),
    "math.dist": (3, 8),
    "math.lcm": (3, 9),
    "copy.replace": (3, 13),
}
_SHORT: Final = frozenset(name.rpartition(".")[2] for name in _MEMBERS)


def requirements(file: OpenFile) -> tuple[Requirement, ...]:
    """The first proof of each construct that not every Python 3 has, highest version first.

    What stands under a branch or in a `try` may be an alternative for older versions and proves nothing,
    unless it is syntax. Annotations that are not evaluated prove nothing either.
    """
    first: dict[tuple[Version, str], Requirement] = {}
    for each in (*file.syntax.newer, *_found(file)):
        known = first.setdefault((each.version, each.what), each)
        if each.line < known.line:
            first[(each.version, each.what)] = each
    return tuple(sorted(first.values(), key=lambda each: (-each.version[0], -each.version[1], each.line)))


def _found(file: OpenFile) -> Iterator[Requirement]:
    is_late = any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(alias.name == "annotations" for alias in node.names)
        for node in file.syntax.tree.body
    )
    if is_late:
        yield Requirement((3, 7), 1, "`from __future__ import annotations`")
    for scope in file.scopes.every:
        for node in (node for kind in _LOOKED_AT for node in scope.kinds.get(kind, ())):
            yield from _syntax(file, node)
        for name in scope.each(ast.Attribute):
            yield from _member(file, name)
    yield from _imports(file)
    if not is_late:
        for annotation in _annotations(file):
            yield from _evaluated(file, annotation)


def _syntax(file: OpenFile, node: ast.AST) -> Iterator[Requirement]:
    kind = type(node).__name__
    if kind in _NODES:
        version, what = _NODES[kind]
        yield Requirement(version, getattr(node, "lineno", 0), what)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        yield Requirement((3, 5), node.lineno, _NODES["MatMult"][1])
    elif isinstance(node, Function | ast.ClassDef):
        yield from _definition(node)
    elif isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if any(isinstance(each, ast.Starred) for each in parts) and isinstance(node.slice, ast.Tuple):
            start = node.slice
            bracketed = file.syntax.source.row(start.lineno, start.col_offset, start.col_offset + 1) == "("
            if not bracketed:
                yield Requirement((3, 11), node.lineno, "a star inside an index")
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        yield from _bare_star(file, node.value)
    elif isinstance(node, ast.comprehension) and node.is_async:
        yield Requirement((3, 6), node.target.lineno, "an asynchronous comprehension")
    elif isinstance(node, ast.Call) and file.names.full(node.func) == "zip":
        if any(each.arg == "strict" for each in node.keywords):
            yield Requirement((3, 10), node.lineno, "`zip(strict=...)`")
    elif isinstance(node, ast.Call) and file.names.full(node.func) == "dataclasses.dataclass":
        for each in node.keywords:
            if each.arg in ("slots", "kw_only", "match_args"):
                yield Requirement((3, 10), node.lineno, f"`dataclass({each.arg}=...)`")


def _definition(node: Function | ast.ClassDef) -> Iterator[Requirement]:
    params = getattr(node, "type_params", ())
    if params:
        yield Requirement((3, 12), node.lineno, "type parameters")
        if any(getattr(each, "default_value", None) is not None for each in params):
            yield Requirement((3, 13), node.lineno, "a type parameter's default")
    if isinstance(node, Function):
        if node.args.posonlyargs:
            yield Requirement((3, 8), node.lineno, "positional-only parameters")
        extra = node.args.vararg
        if extra is not None and isinstance(extra.annotation, ast.Starred):
            yield Requirement((3, 11), extra.lineno, "a starred annotation")
    for mark in node.decorator_list:
        called = mark.func if isinstance(mark, ast.Call) else mark
        while isinstance(called, ast.Attribute):
            called = called.value
        if not isinstance(called, ast.Name):
            yield Requirement((3, 9), mark.lineno, "a decorator that is any expression")


def _bare_star(file: OpenFile, value: ast.Tuple) -> Iterator[Requirement]:
    opening = file.syntax.source.row(value.lineno, value.col_offset, value.col_offset + 1)
    if opening != "(" and any(isinstance(each, ast.Starred) for each in value.elts):
        yield Requirement((3, 8), value.lineno, "a star in `return` without parentheses")


def _imports(file: OpenFile) -> Iterator[Requirement]:
    for each in file.facts.imports:
        if each.level or each.guarded:
            continue
        for name, version in ((each.module, _MODULES.get(each.module)), _imported(each.module, each.name)):
            if version is not None:
                yield Requirement(version, each.line, f"`{name}`")


def _imported(module: str, name: str) -> tuple[str, Version | None]:
    whole = f"{module}.{name}"
    return whole, _MEMBERS.get(whole, _MODULES.get(whole)) if name else None


def _member(file: OpenFile, node: ast.Attribute) -> Iterator[Requirement]:
    """A library's member used by its dotted name, unless a branch or `try` allows for its absence."""
    if node.attr not in _SHORT:
        return
    name = file.names.full(node)
    version = _MEMBERS.get(name)
    if version is not None and file.names.is_imported(node) and not _is_guarded(file, node):
        yield Requirement(version, node.lineno, f"`{name}`")


def _is_guarded(file: OpenFile, node: ast.AST) -> bool:
    above = file.scopes.parents.get(node)
    while above is not None:
        if isinstance(above, ast.If | ast.Try | ast.IfExp):
            return True
        above = file.scopes.parents.get(above)
    return False


def _annotations(file: OpenFile) -> Iterator[ast.expr]:
    """The annotations that Python evaluates while it reads the file (up to 3.13)."""
    for scope in file.scopes.every:
        node = scope.function
        if node is not None:
            given = node.args
            every = [*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg]
            for each in every:
                if each is not None and each.annotation is not None:
                    yield each.annotation
            if node.returns is not None:
                yield node.returns
        if scope.is_class or scope.around is None:
            yield from (inner.annotation for inner in scope.each(ast.AnnAssign))


def _evaluated(file: OpenFile, annotation: ast.expr) -> Iterator[Requirement]:
    for node in ast.walk(annotation):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            yield Requirement((3, 10), node.lineno, "`X | Y` in an annotation that is evaluated")
        elif isinstance(node, ast.Subscript):
            name = file.names.full(node.value)
            if name in _GENERIC or name in _GENERIC_ELSEWHERE or name.startswith("collections.abc."):
                yield Requirement((3, 9), node.lineno, f"`{name}[...]` in an annotation that is evaluated")
