"""A number, what it counts and where in; the same counted again out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from forwardbook.analyzers.index.facts import Definition, FileFacts
from forwardbook.book.verify.claims import Verdict, contradicted, supported, unverified
from forwardbook.book.verify.context import Context, Found
from forwardbook.book.verify.inline import Inline
from forwardbook.book.verify.names import Target
from forwardbook.book.verify.reading import Line, Table

_SENTENCE = re.compile(r"\*\*(\d[\d,_ ]*)\*\*\s+([A-Za-z][A-Za-z+ -]*?)\s+in\s+`([^`]+)`")
_NUMBER = re.compile(r"^\**(\d[\d,_ ]*)\**$")


@dataclass(frozen=True, slots=True)
class Part:
    """What is counted in: a file with all its definitions, or one definition of it with those inside."""

    facts: FileFacts
    inside: tuple[Definition, ...]
    own: Definition | None = None

    @property
    def all(self) -> tuple[Definition, ...]:
        """The definition itself, where it is one, and those inside."""
        return (*([self.own] if self.own else ()), *self.inside)

    @property
    def lines(self) -> int:
        """So many lines it has."""
        return self.facts.lines if self.own is None else self.own.span.end - self.own.span.start + 1


Scope = list[Part]
Count = Callable[[Part], int]
LANGUAGES: Final = {
    "python": ("python",), "c++": ("cpp",), "c": ("c",), "cuda": ("cuda",), "yaml": ("yaml",),
    "json": ("json",), "toml": ("toml",), "markdown": ("markdown",), "cmake": ("cmake",),
    "notebook": ("notebook",),
    "source": ("python", "c", "cpp", "cuda"),
}  # fmt: skip


def _kinds(*kinds: str, public: bool = False) -> Count:
    return lambda part: sum(one.kind in kinds and (one.is_public or not public) for one in part.inside)


THINGS: Final[dict[str, Count]] = {
    "files": lambda part: 1,
    "lines": lambda part: part.lines,
    "definitions": lambda part: len(part.inside),
    "classes": _kinds("class"),
    "public classes": _kinds("class", public=True),
    "functions": _kinds("function"),
    "public functions": _kinds("function", public=True),
    "methods": _kinds("method"),
    "public methods": _kinds("method", public=True),
    "properties": _kinds("property"),
    "structs": _kinds("struct"),
    "unions": _kinds("union"),
    "enums": _kinds("enum"),
    "macros": _kinds("macro"),
    "typedefs": _kinds("typedef"),
    "kernels": _kinds("kernel"),
    "launches": lambda part: sum(len(one.launches) for one in part.all),
    "imports": lambda part: len(part.facts.imports),
    "constants": lambda part: len(part.facts.constants),
    "bindings": lambda part: len(part.facts.bindings),
    "tests": lambda part: _tests(part),
    "attributes": lambda part: sum(len(one.attributes) for one in part.all),
    "parameters": lambda part: sum(len(one.parameters) for one in part.all),
}
"""What can be counted in a file, or in one of its definitions."""


def _tests(part: Part) -> int:
    name = part.facts.path.rpartition("/")[2]
    if not (name.startswith("test_") or name.endswith("_test.py")):
        return 0
    return sum(one.name.startswith("test") and one.kind in ("function", "method") for one in part.inside)


def text_counts(line: Line, inline: Inline, context: Context) -> Iterator[Found]:
    """The counts of a line: `**N** things in `scope``."""
    for found in _SENTENCE.finditer(inline.text):
        number, things, scope = found.groups()
        yield Found(line.number, "count", found[0], check_count(number, things, scope, context))


def is_count_table(table: Table) -> bool:
    """Whether a table is headed What, Count, Scope."""
    return table.head[:3] == ("what", "count", "scope")


def table_counts(table: Table, context: Context) -> Iterator[Found]:
    """One count per row."""
    for row in table.rows:
        if len(row.cells) >= 3 and (number := _NUMBER.match(row.cells[1])):
            what, scope = row.cells[0].replace("`", ""), row.cells[2].strip().strip("`")
            verdict = check_count(number[1], what, scope, context)
            yield Found(row.line, "count", f"{number[1]} {what} in `{scope}`", verdict)


def check_count(number: str, things: str, scope: str, context: Context) -> Verdict:
    """Whether there are so many of these things in the scope."""
    counter = _counter(things)
    if counter is None:
        return unverified(f"nothing here counts {things.strip().lower()}")
    counts = [count for count in (counter(one) for one in _scopes(scope, context)) if count is not None]
    if not counts:
        return unverified(f"{scope} is no file, folder, module or definition of the sources")
    claimed = int(re.sub(r"\D", "", number))
    if claimed in counts:
        return supported(scope if scope in context.sources.files else "")
    return contradicted(f"there are {counts[0]}", scope if scope in context.sources.files else "")


def _counter(things: str) -> Callable[[Scope], int] | None:
    words = " ".join(things.lower().replace("-", " ").split()).removesuffix(" of code")
    first, _, rest = words.partition(" ")
    languages = LANGUAGES.get(first) if rest else None
    words = rest if languages else words
    if words.startswith("lines of "):
        languages, words = LANGUAGES.get(words.removeprefix("lines of ")), "lines"
    count = THINGS.get(words) or THINGS.get(_plural(words))
    if count is None:
        return None
    return lambda scope: sum(
        count(part) for part in scope if languages is None or part.facts.language in languages
    )


def _plural(word: str) -> str:
    if word.endswith(("s", "ch", "x")):
        return word + "es"
    return word[:-1] + "ies" if word.endswith("y") else word + "s"


def _scopes(scope: str, context: Context) -> Iterator[Scope]:
    """The files and definitions that a scope may mean."""
    sources, path = context.sources, scope.removeprefix("./").rstrip("/") or "."
    if path in sources.folders:
        inside = "" if path == "." else path + "/"
        yield [
            Part(facts, facts.definitions) for one, facts in sources.files.items() if one.startswith(inside)
        ]
        return
    if path in context.names.packages and path.replace(".", "/") in sources.folders:
        yield from _scopes(path.replace(".", "/"), context)
        return
    for target in context.names.targets(scope):
        facts = sources.files[target.path]
        yield [Part(facts, facts.definitions) if target.is_file else _part(target, facts)]


def _part(target: Target, facts: FileFacts) -> Part:
    prefix = target.qualname + "."
    inside = tuple(one for one in facts.definitions if one.qualname.startswith(prefix))
    return Part(facts, inside, target.definition)
