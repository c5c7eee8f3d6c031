"""Source text in the syntax of a later Python in, the same text in older syntax out, each line in place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from forwardbook.analyzers.detail.facts import Requirement
from forwardbook.analyzers.index.libcst_nesting import parses_safely
from forwardbook.analyzers.index.libcst_statements import NOT_TAKEN

_QUOTES: Final = re.compile(r"^([rRfFtTuUbB]*)('''|\"\"\"|'|\")")
Edit = tuple[
    int, int, int, int, str
]  # start line and column, end line and column, and what stands there instead


def older(text: str) -> tuple[str, tuple[Requirement, ...]] | None:
    """The text without what this Python's `ast` does not know, and what was found; nothing if LibCST fails.

    Type parameters are blanked, `type X = ...` becomes an assignment, quotes inside f-strings are changed,
    `t""` becomes `f""`, a bare `except A, B` gets its parentheses. Positions of what is kept stay.
    """
    if not parses_safely(text):
        return None
    try:
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        visitor = _Newer(wrapper)
        wrapper.visit(visitor)
    except (*NOT_TAKEN, RecursionError, ValueError, MemoryError, AssertionError, TypeError):
        return None
    if not visitor.edits:
        return None
    return _edited(text, visitor.edits), tuple(visitor.found)


class _Newer(cst.CSTVisitor):
    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, wrapper: MetadataWrapper) -> None:
        super().__init__()
        self.module = wrapper.module
        self.edits: list[Edit] = []
        self.found: list[Requirement] = []
        self._strings: list[str] = []  # the quotes of the f-strings around

    def _place(self, node: cst.CSTNode) -> tuple[int, int, int, int]:
        place = self.get_metadata(PositionProvider, node)
        return place.start.line, place.start.column, place.end.line, place.end.column

    def _replace(self, node: cst.CSTNode, words: str, version: tuple[int, int], what: str) -> None:
        place = self._place(node)
        self.edits.append((*place, words))
        self.found.append(Requirement(version, place[0], what))

    def visit_TypeParameters(self, node: cst.TypeParameters) -> bool:
        self._replace(node, "", (3, 12), "type parameters")
        if any(param.default is not None for param in node.params):
            self.found.append(Requirement((3, 13), self._place(node)[0], "a type parameter's default"))
        return False

    def visit_TypeAlias(self, node: cst.TypeAlias) -> bool:
        line, column, *_ = self._place(node)
        name = self._place(node.name)
        self.edits.append((line, column, name[2], name[3], node.name.value))
        self.found.append(Requirement((3, 12), line, "the statement `type`"))
        return True

    def visit_FormattedString(self, node: cst.FormattedString) -> bool:
        return self._enter(node, node.start)

    def leave_FormattedString(self, original_node: cst.FormattedString) -> None:
        self._strings.pop()

    def visit_TemplatedString(self, node: cst.TemplatedString) -> bool:
        line, column, *_ = self._place(node)
        changed = node.start.replace("t", "f").replace("T", "F")
        self.edits.append((line, column, line, column + len(node.start), changed))
        self.found.append(Requirement((3, 14), line, "a template string"))
        return self._enter(node, node.start)

    def leave_TemplatedString(self, original_node: cst.TemplatedString) -> None:
        self._strings.pop()

    def _enter(self, node: cst.CSTNode, start: str) -> bool:
        match = _QUOTES.match(start)
        quote = match[2] if match else start
        if quote in self._strings:  # an f-string in an f-string with the same quotes
            self._replace(node, '""' if "'" in self._strings else "''", (3, 12), NESTED)
            self._strings.append(quote)
            return False
        self._strings.append(quote)
        return True

    def visit_SimpleString(self, node: cst.SimpleString) -> None:
        if self._strings and node.quote in self._strings and len(self._strings[-1]) == 1:
            other = "'" if node.quote == '"' else '"'
            inner = node.raw_value
            if other in self._strings or other in inner or "\\" in inner or "\n" in inner:
                self._replace(node, "0", (3, 12), NESTED)
            else:
                self._replace(node, node.prefix + other + inner + other, (3, 12), NESTED)

    def visit_ExceptHandler(self, node: cst.ExceptHandler) -> None:
        self._bare_tuple(node.type)

    def visit_ExceptStarHandler(self, node: cst.ExceptStarHandler) -> None:
        self._bare_tuple(node.type)

    def _bare_tuple(self, node: cst.BaseExpression | None) -> None:
        if isinstance(node, cst.Tuple) and not node.lpar:
            line, column, end, end_column = self._place(node)
            self.edits += [(line, column - 1, line, column, "("), (end, end_column, end, end_column, ")")]
            self.found.append(Requirement((3, 14), line, "`except` with several types and no parentheses"))


NESTED: Final = "the quotes of an f-string used inside it"


def _edited(text: str, edits: Sequence[Edit]) -> str:
    """The text with each edit made; as many line breaks as were taken out are put back as spaces are."""
    lines = text.split("\n")
    for line, column, end, end_column, words in sorted(edits, reverse=True):
        if line == end:
            row = lines[line - 1]
            lines[line - 1] = row[:column] + words.ljust(end_column - column) + row[end_column:]
        else:  # inside brackets or not, a backslash joins what remains
            lines[line - 1] = lines[line - 1][:column] + words + " \\"
            lines[line : end - 1] = [" \\"] * (end - 1 - line)
            lines[end - 1] = " " * end_column + lines[end - 1][end_column:]
    return "\n".join(lines)
