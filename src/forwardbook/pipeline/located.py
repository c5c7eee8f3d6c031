"""A change of a class and a folder in; out the change with its files and lines as a person looks for them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import libcst as cst

from forwardbook.analyzers.reader import ReaderError, Sources, Span, read_class
from forwardbook.analyzers.reader.facts import FunctionFacts
from forwardbook.analyzers.reader.resolve import resolve
from forwardbook.errors import ForwardbookError
from forwardbook.guard.change import ClassChange
from forwardbook.guard.defaults import DefaultChange
from forwardbook.pipeline.analysis.subject import Subject
from forwardbook.pipeline.regenerate.asked_again import subject_of
from forwardbook.schema import Entry


def located(change: ClassChange, entry: Entry, folder: Path) -> ClassChange:
    """The change with files relative to a folder, and its defaults with the lines where they are written."""
    if (folder / entry.code_location.file).is_file() and not change.defaults:
        return change
    try:
        found = subject_of(entry, folder)
    except ForwardbookError:
        return change
    defaults = tuple(_written(found, change.defaults, folder)) if change.defaults else ()
    return replace(change, file=relative_to(found.found.file, folder), defaults=defaults)


def file_of(entry: Entry, folder: Path) -> str:
    """The file of an entry, from the folder on where it lies in it or its `src`, else from its package on."""
    name = entry.code_location.file
    for place in (folder, folder / "src"):
        if (place / name).is_file():
            return relative_to((place / name).resolve(), folder)
    return name


def relative_to(file: Path, folder: Path) -> str:
    """The file from the folder on where it lies in it, else from its package on."""
    root = folder.resolve()
    if file.is_relative_to(root) and "-packages" not in file.as_posix():
        return file.relative_to(root).as_posix()
    parts = file.as_posix().rpartition("-packages/")
    return parts[2]


def _written(subject: Subject, changes: tuple[DefaultChange, ...], folder: Path) -> Iterator[DefaultChange]:
    sources = Sources([subject.found.root])
    try:
        facts = read_class(subject.found.class_name, subject.found.file, sources)
    except ReaderError:
        yield from changes
        return
    methods = {"__init__": facts.constructor, "forward": facts.forward}
    for one in changes:
        method = methods[one.method]
        place = _place_of(method, one.name, sources) if method is not None else None
        if place is None:
            yield one
            continue
        file, line = place
        code = file.read_text(encoding="utf-8-sig", errors="replace").splitlines()[line - 1].strip()
        yield replace(one, file=relative_to(file.resolve(), folder), line=line, code=code)


def _place_of(method: FunctionFacts, name: str, sources: Sources) -> tuple[Path, int] | None:
    """Where the default of a parameter is, or of a field of a config that the method takes."""
    file, last = Path(method.file), method.qualname.rpartition(".")[2]
    for node in _nodes(file, method.span):
        if isinstance(node, ast.FunctionDef) and node.name == last:
            if line := _line_among(node.args, name):
                return file, line
            kinds = [a.annotation for a in (*node.args.args, *node.args.kwonlyargs) if a.annotation]
            found = (_field(ast.unparse(kind).strip("'\""), file, name, sources) for kind in kinds)
            return next(filter(None, found), None)
    return None


def _field(kind: str, file: Path, name: str, sources: Sources) -> tuple[Path, int] | None:
    """Where the class of that name in a file has the default of a field."""
    found = resolve(sources, sources.load_path(file), kind)
    if found is None or not isinstance(found.node, cst.ClassDef):
        return None
    for node in _nodes(found.source.path, found.source.span(found.node)):
        match node:
            case ast.AnnAssign(target=ast.Name(id=field), value=ast.expr() as value) if field == name:
                return found.source.path, value.lineno
            case ast.FunctionDef(name="__init__") if line := _line_among(node.args, name):
                return found.source.path, line
            case _:
                continue
    return None


def _nodes(file: Path, span: Span) -> Iterator[ast.AST]:
    """The nodes of a file whose first line lies in a span."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8-sig", errors="replace"))
    except (OSError, SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if span.line <= getattr(node, "lineno", 0) <= span.end_line:
            yield node


def _line_among(given: ast.arguments, name: str) -> int:
    """The line of a parameter's default; 0 where it is not found."""
    arguments = [*given.posonlyargs, *given.args]
    defaults = dict(zip(arguments[::-1], given.defaults[::-1], strict=False))
    defaults |= {a: d for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if d}
    return next((value.lineno for a, value in defaults.items() if a.arg == name), 0)
