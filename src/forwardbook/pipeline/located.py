"""A change of a class and a folder in; out the change with its files and lines as a person looks for them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from forwardbook.analyzers.reader import ReaderError, Sources, read_class
from forwardbook.analyzers.reader.facts import FunctionFacts
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
    try:
        facts = read_class(subject.found.class_name, subject.found.file, Sources([subject.found.root]))
    except ReaderError:
        yield from changes
        return
    methods = {"__init__": facts.constructor, "forward": facts.forward}
    for one in changes:
        method = methods[one.method]
        line = _line_of(method, one.name) if method is not None else 0
        if method is None or not line:
            yield one
            continue
        file = Path(method.file)
        code = file.read_text(encoding="utf-8", errors="replace").splitlines()[line - 1].strip()
        yield replace(one, file=relative_to(file.resolve(), folder), line=line, code=code)


def _line_of(method: FunctionFacts, name: str) -> int:
    """The line of a parameter's default; 0 where it is not found."""
    try:
        tree = ast.parse(Path(method.file).read_text(encoding="utf-8", errors="replace"))
    except (OSError, SyntaxError, ValueError):
        return 0
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef) or node.name != method.qualname.rpartition(".")[2]:
            continue
        if method.span.line <= node.lineno <= method.span.end_line:
            arguments = [*node.args.posonlyargs, *node.args.args]
            defaults = dict(zip(arguments[::-1], node.args.defaults[::-1], strict=False))
            defaults |= {a: d for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d}
            return next((value.lineno for a, value in defaults.items() if a.arg == name), 0)
    return 0
