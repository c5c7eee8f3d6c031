"""What every section of a page is written from, and the small pieces of text that many of them share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from forwardbook.analyzers.detail.facts import Detail
from forwardbook.analyzers.index.facts import Definition, FileFacts, Span
from forwardbook.analyzers.native.detail import NativeDetail
from forwardbook.book.blocks import Block, Details, Heading, Table
from forwardbook.book.inline import clip, code, plain, where
from forwardbook.book.pages.context import CLASSES, Calls, Context
from forwardbook.book.pages.quoting import begins_at, lines_of

MANY = 100
FOLDED = 14
"""A table with more rows is folded away."""


@dataclass(frozen=True)
class SectionFacts:
    """All that is known of one file; a section reads it and returns blocks."""

    path: str
    data: bytes
    facts: FileFacts
    detail: Detail
    graph: Calls
    context: Context
    native: NativeDetail = field(default_factory=lambda: NativeDetail(""))

    @cached_property
    def shown(self) -> str:
        """How references name the file: by its name alone where no other file has that name."""
        return self.context.around.short(self.path)

    def at(self, line: int) -> str:
        """A line of the file as a reference; nothing for line 0, which stands for no place."""
        return where(self.shown, line) if line > 0 else ""

    def over(self, span: Span) -> str:
        """The lines of a definition as a reference."""
        return where(self.shown, span)

    def lines(self, span: Span) -> str:
        """Lines that are no definition's."""
        return f"{span.start} to {span.end}" if span.end > span.start else str(span.start)

    @cached_property
    def _lines(self) -> list[str]:
        return lines_of(self.data, self.facts.encoding)

    def quoted(self, text: str, line: int, width: int = 60) -> str:
        """Source text beside its line: code where it begins there as it stands, else words."""
        shown = clip(text, width)
        return code(shown) if begins_at(self._lines, shown, line) else plain(shown)

    def line_of(self, word: str, start: int, within: int = 8) -> int:
        """The first line from `start` on that holds the word, within the next few; else `start`."""
        near = enumerate(self._lines[max(start - 1, 0) : start - 1 + within], start)
        whole = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
        return next((number for number, line in near if whole.search(line)), start)

    @cached_property
    def conditions(self) -> dict[int, str]:
        """The condition of each `raise` of the file by line."""
        return {each.line: each.condition for one in self.facts.definitions for each in one.raised}

    @cached_property
    def values(self) -> dict[tuple[str, int], str]:
        """The values of constants and attributes by name and line, long ones cut."""
        owned = (each for one in self.facts.definitions for each in one.attributes)
        return {(each.name, each.line): each.value for each in (*self.facts.constants, *owned)}

    @cached_property
    def definitions(self) -> dict[str, Definition]:
        """The first definition of each name."""
        found: dict[str, Definition] = {}
        for each in self.facts.definitions:
            found.setdefault(each.qualname, each)
        return found

    @cached_property
    def top(self) -> tuple[Definition, ...]:
        """Definitions at the file's own level, namespaces aside."""
        return tuple(each for each in self.facts.definitions if not self._owner(each))

    @cached_property
    def public(self) -> tuple[Definition, ...]:
        """The public ones among them."""
        return tuple(each for each in self.top if each.is_public)

    @cached_property
    def is_brief(self) -> bool:
        """Whether there is so much in the file that its methods are listed rather than described."""
        return sum(each.is_public for each in self.detail.functions) > MANY

    def inside(self, owner: Definition) -> tuple[Definition, ...]:
        """What stands directly in a class."""
        return tuple(each for each in self.facts.definitions if each.parent == owner.qualname)

    def is_class(self, path: str, qualname: str) -> bool:
        """Whether a name of a file of the repository is a class."""
        return self.context.around.is_class(path, qualname)

    def _owner(self, one: Definition) -> Definition | None:
        return self.definitions.get(one.parent) if one.parent else None


Writer = Callable[[SectionFacts], tuple[Block, ...]]
"""One section: facts in, blocks out; none where it has nothing to say."""


def section(title: str, blocks: Iterable[Block], level: int = 2) -> tuple[Block, ...]:
    """A heading and what stands under it; nothing where nothing does."""
    inside = tuple(each for each in blocks if each.markdown())
    return (Heading(level, title), *inside) if inside else ()


def expression(text: str, width: int = 60) -> str:
    """Code of the source on one line, shortened."""
    return code(clip(text, width))


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]], summary: str = "") -> tuple[Block, ...]:
    """A table without the columns that are empty in every row; a long one is folded behind its summary."""
    listed = tuple(dict.fromkeys(rows))
    if not listed:
        return ()
    kept = [number for number in range(len(head)) if any(row[number] for row in listed)]
    found = Table(
        tuple(head[number] for number in kept),
        tuple(tuple(row[number] for number in kept) for row in listed),
    )
    return (
        (Details(f"{summary} ({len(listed)} rows)", (found,)),)
        if summary and len(listed) > FOLDED
        else (found,)
    )


def sentence(words: str) -> str:
    """The words with a full stop, where they end in none."""
    return words if words.rstrip().endswith((".", "!", "?", "…", ":")) else f"{words.rstrip()}."


def first_sentence(docstring: str, width: int = 160) -> str:
    """The first sentence of a docstring on one line, as it stands."""
    head = docstring.strip().split("\n\n")[0]
    line = " ".join(head.split())
    for end in (". ", "! ", "? "):
        if end in line:
            line = line[: line.index(end) + 1]
    return clip(line, width)


__all__ = [
    "CLASSES", "SectionFacts", "Writer", "expression", "first_sentence", "section", "sentence",
    "table",
]  # fmt: skip
