"""Statistics with their scope: a survey and folders or files in, tables of counts out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from forwardbook.analyzers.index.facts import FileFacts
from forwardbook.book.blocks import Block, Table
from forwardbook.book.inline import code
from forwardbook.book.repository.survey import Survey, is_below

HEAD: Final = ("What", "Count", "Scope")
Count = Callable[[FileFacts], int]


def _language(*names: str) -> Count:
    return lambda facts: int(facts.language in names)


def _kind(kind: str, *, public: bool = False) -> Count:
    return lambda facts: sum(
        each.kind == kind and (each.is_public or not public) for each in facts.definitions
    )


THINGS: Final[dict[str, Count]] = {
    "Files": lambda facts: 1,
    "Python files": _language("python"),
    "C files": _language("c"),
    "C++ files": _language("cpp"),
    "CUDA files": _language("cuda"),
    "Python lines": lambda facts: facts.lines * (facts.language == "python"),
    "C++ lines": lambda facts: facts.lines * (facts.language == "cpp"),
    "CUDA lines": lambda facts: facts.lines * (facts.language == "cuda"),
    "Lines": lambda facts: facts.lines,
    "Classes": _kind("class"),
    "Public classes": _kind("class", public=True),
    "Functions": _kind("function"),
    "Public functions": _kind("function", public=True),
    "Methods": _kind("method"),
    "Structs": _kind("struct"),
    "Enums": _kind("enum"),
    "Kernels": _kind("kernel"),
    "Launches": lambda facts: sum(len(each.launches) for each in facts.definitions),
    "Bindings": lambda facts: len(facts.bindings),
    "Imports": lambda facts: len(facts.imports),
}
BRIEF: Final = ("Python files", "C++ files", "CUDA files", "Lines", "Classes", "Functions", "Kernels")


def count_table(survey: Survey, scope: str) -> Table:
    """Everything that is counted of one folder or file, what there is none of left out."""
    return Table(HEAD, tuple(_rows(survey, scope, tuple(THINGS))))


def count_tables(survey: Survey, scopes: tuple[str, ...]) -> Iterator[Block]:
    """The counts of several folders in one table."""
    rows = tuple(row for scope in scopes for row in _rows(survey, scope, BRIEF))
    if rows:
        yield Table(HEAD, rows)


def _rows(survey: Survey, scope: str, things: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    files = [facts for path, facts in survey.repository.files.items() if is_below(path, scope)]
    for name in things:
        count = sum(THINGS[name](facts) for facts in files)
        if count:
            yield name, str(count), code(scope)
