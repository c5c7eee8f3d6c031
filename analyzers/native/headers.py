"""Turns the place of a definition into its span, decorated span, decorators and the comment before it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field

from forwardbook.analyzers.index.facts import Span
from forwardbook.analyzers.native.brackets import closing
from forwardbook.analyzers.native.drafts import Scope
from forwardbook.analyzers.native.masking import Masks

_SPECIFIER = re.compile(
    r"__(?:global|device|host|forceinline|noinline|inline|cluster_dims|launch_bounds|block_size|maxnreg|attribute"
    r"|declspec)__(?:\s*\((?:[^()]|\([^()]*\))*\))?|\b(?:static|inline|virtual|constexpr|explicit|friend)\b"
    r"|\[\[[^\]]*\]\]"
)
_MARKS = re.compile(r"^[ \t]*(?://[/!]?<?|/\*[*!]?<?|\*/|\*(?!/))[ ]?|\*+/\s*$", re.MULTILINE)
_LEGAL = re.compile(r"copyright|SPDX-|\blicen[cs]ed?\b|all rights reserved", re.IGNORECASE)


@dataclass(slots=True)
class Headers:
    """The masks of a file and its blanked ranges, for what stands before a definition."""

    masks: Masks
    blanked: tuple[tuple[int, int], ...]
    even: bytes = b""
    _blank_ends: list[int] = field(init=False)
    _comment_ends: list[int] = field(init=False)
    _comment_starts: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self._blank_ends = [end for _, end in self.blanked]
        self._comment_starts = [start for start, _ in self.masks.comments]
        self._comment_ends = [end for _, end in self.masks.comments]

    def start(self, byte: int) -> int:
        """Where a definition begins whose first node begins at a byte: at the blanked words before it."""
        while True:
            at = bisect_right(self._blank_ends, byte) - 1
            if at < 0 or self.masks.code[self._blank_ends[at] : byte].strip():
                return byte
            start = self.blanked[at][0]
            if start >= byte:
                return byte
            byte = start

    def body_end(self, body: int, end: int) -> int:
        """The byte after the brace that closes a body, as the text has it; `end` where it has none."""
        if self.even[body : body + 1] != b"{":
            return end
        close = closing(self.even, body)
        return close + 1 if close > body else end

    def span(self, start: int, end: int) -> Span:
        """The lines from a byte to the last before another."""
        return Span(self.masks.line(start), self.masks.line(max(start, end - 1)))

    def wrapped(self, start: int, end: int, scopes: list[Scope]) -> tuple[int, tuple[str, ...]]:
        """Where the template lines and `extern "C"` before a definition begin, and these lines."""
        lines: list[str] = []
        for scope in reversed(scopes):
            if scope.kind != "wrapper" or scope.end < end:
                break
            start = scope.start
            lines.insert(0, scope.header)
        return start, tuple(lines)

    def decorators(self, start: int, body: int) -> tuple[str, ...]:
        """Execution space specifiers, launch bounds, `static`, ... in the header of a function."""
        return tuple(found[0] for found in _SPECIFIER.finditer(self.masks.text(start, body)))

    def docstring(self, byte: int) -> str:
        """The comment that ends in the line before a byte, without its marks."""
        masks = self.masks
        at = bisect_right(self._comment_ends, byte) - 1
        pieces: list[str] = []
        while at >= 0:
            start, end = masks.comments[at]
            between = masks.data[end:byte]
            if between.strip() or between.count(b"\n") > 1 or not _begins_line(masks, start):
                break
            pieces.insert(0, masks.data[start:end].decode("utf-8", "replace"))
            byte, at = start, at - 1
        return cleaned("\n".join(pieces))

    def trailing(self, byte: int) -> str:
        """The comment that follows in the line of a byte."""
        at = bisect_left(self._comment_starts, byte)
        if at == len(self._comment_starts):
            return ""
        start, end = self.masks.comments[at]
        if b"\n" in self.masks.data[byte:start]:
            return ""
        return cleaned(self.masks.data[start:end].decode("utf-8", "replace"))

    def file_docstring(self) -> str:
        """The first block of comments of the file that is not about its licence."""
        masks, blocks = self.masks, list[list[tuple[int, int]]]()
        before = 0
        for start, end in masks.comments:
            if masks.code[before:start].strip():
                break
            before = start
            if blocks and masks.data[blocks[-1][-1][1] : start].count(b"\n") <= 1:
                blocks[-1].append((start, end))
            else:
                blocks.append([(start, end)])
        for block in blocks:
            text = masks.data[block[0][0] : block[-1][1]].decode("utf-8", "replace")
            if not _LEGAL.search(text) and cleaned(text):
                return cleaned(text)
        return ""


def _begins_line(masks: Masks, byte: int) -> bool:
    """Whether only spaces stand before a byte in its line."""
    return not masks.data[masks.line_starts[masks.line(byte) - 1] : byte].strip()


def cleaned(comment: str) -> str:
    """A comment without its marks and rules."""
    lines = [_MARKS.sub("", line).rstrip() for line in comment.replace("\r", "").split("\n")]
    lines = [line for line in lines if not re.fullmatch(r"\s*[-=*#/~]{3,}\s*", line)]
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    return "\n".join(lines)
