"""One file's text and index facts in, its page-depth facts out; never raises, never imports the file."""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TypeVar

from forwardbook.analyzers.detail.classes import class_detail
from forwardbook.analyzers.detail.commands import commands
from forwardbook.analyzers.detail.constants import constants
from forwardbook.analyzers.detail.dependencies import dependencies
from forwardbook.analyzers.detail.docstrings import summary
from forwardbook.analyzers.detail.entry import entry
from forwardbook.analyzers.detail.facts import ClassDetail, Detail, FunctionDetail, Problem, Span
from forwardbook.analyzers.detail.functions import function_detail, module_detail
from forwardbook.analyzers.detail.modules import modules
from forwardbook.analyzers.detail.open_file import OpenFile, opened
from forwardbook.analyzers.detail.patterns import patterns
from forwardbook.analyzers.detail.scopes import Scope
from forwardbook.analyzers.detail.syntax import parsed
from forwardbook.analyzers.detail.terms import terms
from forwardbook.analyzers.detail.versions import requirements
from forwardbook.analyzers.index.facts import FileFacts

T = TypeVar("T")
TOO_DEEP = "nested too deep to be read"


def detail(path: str, data: bytes, facts: FileFacts, first_party: Collection[str] = ()) -> Detail:
    """The page-depth facts of a Python file; `first_party` are the repository's top-level module names.

    Where no parser takes the file, what the index knows of it stays, and a problem gives the reason.
    """
    whole = Span(1, max(facts.lines, 1))
    empty = Detail(
        path,
        "none",
        FunctionDetail("", whole, whole, "module"),
        summary=summary(facts.docstring),
        docstring=facts.docstring,
        dependencies=dependencies(facts, first_party),
    )
    try:
        with _undisturbed():
            syntax, problems = parsed(path, data)
            if syntax is None:
                return replace(empty, problems=problems)
            return _filled(replace(empty, parser=syntax.parser, problems=problems), opened(syntax, facts))
    except RecursionError:
        return replace(empty, problems=(Problem(0, TOO_DEEP),))


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Without the garbage collector, which frees nothing here."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _filled(empty: Detail, file: OpenFile) -> Detail:
    """Every kind of fact; one that is nested too deep for its reader is left out and becomes a problem."""
    problems = list(empty.problems)

    def read(what: str, line: int, reader: Callable[[], T], otherwise: T) -> T:
        try:
            return reader()
        except RecursionError:
            problems.append(Problem(line, f"{what}: {TOO_DEEP}"))
            return otherwise

    known = {(each.qualname, each.span.start): each for each in file.facts.definitions}

    def function(scope: Scope) -> FunctionDetail | None:
        reader = partial(function_detail, file, scope, known.get((scope.qualname, scope.line)))
        return read(scope.qualname, scope.line, reader, None)

    def one_class(scope: Scope) -> ClassDetail | None:
        reader = partial(class_detail, file, scope, known.get((scope.qualname, scope.line)))
        return read(scope.qualname, scope.line, reader, None)

    found = replace(
        empty,
        module=read("the module's own level", 0, lambda: module_detail(file, empty.module), empty.module),
        functions=tuple(each for each in map(function, file.functions) if each is not None),
        classes=tuple(each for each in map(one_class, file.classes) if each is not None),
        constants=read("constants", 0, lambda: constants(file), ()),
        requirements=read("required version", 0, lambda: requirements(file), ()),
        commands=read("command line", 0, lambda: commands(file), ()),
        patterns=read("patterns", 0, lambda: patterns(file), ()),
        terms=terms(file.facts),
        modules=modules(file),
        entry=read("entry point", 0, lambda: entry(file), None),
    )
    return replace(found, problems=tuple(problems))
