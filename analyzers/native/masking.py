"""Turns C++ text into copies of equal length in which comments, strings or directives are spaces."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

_TOKEN = re.compile(
    rb"//(?:\\\r?\n|[^\n])*"
    rb"|/\*.*?(?:\*/|\Z)"
    rb'|(?<![\w])(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s"]{0,16})\(.*?(?:\)(?P=delimiter)"|\Z)'
    rb'|"(?:\\.|[^"\\\n])*"?'
    rb"|(?<![\w.])\.?\d(?:'?[\w.])*"
    rb"|'(?:\\.|[^'\\\n]){1,10}'",
    re.DOTALL,
)
_SPACES = bytes(byte if byte in b" \t\r\n\v\f" else 0x20 for byte in range(256))
_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define\b(?:\\\r?\n|[^\n])*", re.MULTILINE)
_DIRECTIVE = re.compile(rb"^[ \t]*#(?:\\\r?\n|[^\n])*", re.MULTILINE)


def spaces(piece: bytes) -> bytes:
    """The bytes with everything visible as a space, so that lines and columns stay where they are."""
    return piece.translate(_SPACES)


@dataclass(frozen=True, slots=True)
class Masks:
    """One text four times, each of the length of the original.

    `code` has no comments; `bare` not the inside of strings either; `flat` no directives either.
    `comments` are the byte ranges of the comments, `defines` those of the `#define` lines.
    """

    data: bytes
    code: bytes
    bare: bytes
    flat: bytes
    comments: tuple[tuple[int, int], ...]
    defines: tuple[tuple[int, int], ...]
    line_starts: tuple[int, ...]

    def line(self, byte: int) -> int:
        """The line of a byte, counted from 1."""
        return bisect_right(self.line_starts, byte)

    def column(self, byte: int) -> int:
        """The column of a byte in its line, counted from 0."""
        return byte - self.line_starts[self.line(byte) - 1]

    def text(self, start: int, end: int) -> str:
        """The code between two bytes without comments, with single spaces."""
        return joined(self.code[start:end])


def joined(piece: bytes) -> str:
    """Bytes as text with whitespace (and line continuations) joined to single spaces."""
    if b"\\" in piece:
        piece = piece.replace(b"\\\n", b" ").replace(b"\\\r\n", b" ")
    return " ".join(piece.decode("utf-8", "replace").split())


def mask(data: bytes) -> Masks:
    """The copies of a text."""
    code, bare = bytearray(data), bytearray(data)
    comments = []
    for found in _TOKEN.finditer(data):
        start, end = found.span()
        first = data[start]
        if first == 0x2F:
            comments.append((start, end))
            code[start:end] = bare[start:end] = spaces(data[start:end])
        elif data[end - 1] in b"\"'":
            bare[start + 1 : end - 1] = spaces(data[start + 1 : end - 1])
    visible = bytes(bare)
    defines = tuple(found.span() for found in _DEFINE.finditer(visible))
    flat = _DIRECTIVE.sub(lambda found: spaces(found[0]), visible)
    starts = (0, *(found.end() for found in re.finditer(rb"\n", data)))
    return Masks(data, bytes(code), visible, flat, tuple(comments), defines, starts)
