"""The bytes of a file in, its text in lines with the exact words between two positions out."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field
from typing import Final

from forwardbook.analyzers.index.facts import Problem
from forwardbook.analyzers.index.literals import STRING
from forwardbook.analyzers.index.problems import problem

_COOKIE: Final = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK: Final = re.compile(rb"^[ \t\f]*(?:#.*)?$")
_UNSAFE: Final = frozenset({"idna", "punycode"})  # these take quadratic time
_BREAK: Final = re.compile(
    rf"({STRING})"
    r"|(?:[ \t\f]*(?:#[^\n]*)?\\?\n[ \t\f]*)+",
    re.DOTALL,
)


@dataclass(slots=True)
class SourceText:
    """The text of a file as Python's own reader sees it: decoded, with `\\n` at the end of every line.

    `rows` are the lines as text when all is ASCII, and else as UTF-8, because positions count bytes of UTF-8.
    """

    text: str
    encoding: str
    problems: list[Problem] = field(default_factory=list)
    rows: list[str] | list[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self.rows = (
            self.text.split("\n")
            if self.text.isascii()
            else self.text.encode("utf-8", "replace").split(b"\n")
        )

    @property
    def lines(self) -> int:
        """How many lines there are; a last one without an end counts."""
        return self.text.count("\n") + (not self.text.endswith("\n") and self.text != "")

    def row(self, line: int, start: int = 0, end: int | None = None) -> str:
        """A line counted from 1, or the part of it between two positions in bytes."""
        part = self.rows[line - 1][start:end]
        return part if isinstance(part, str) else part.decode("utf-8", "replace")

    def between(self, line: int, column: int, end_line: int, end_column: int) -> str:
        """The words between two positions on one line: line breaks and comments between them left out."""
        if line == end_line:
            return self.row(line, column, end_column)
        middle = [self.row(number) for number in range(line + 1, end_line)]
        return joined("\n".join((self.row(line, column), *middle, self.row(end_line, 0, end_column))))

    def beginning(self, line: int, column: int, end_line: int, end_column: int, limit: int) -> str:
        """The words between two positions, cut with an ellipsis where they are longer than the limit."""
        last = min(end_line, line + limit // 8)  # what is cut off anyway need not be read
        if last == end_line:
            if line == end_line:
                end_column = min(end_column, column + 4 * limit)
            words = self.between(line, column, end_line, end_column)
        else:
            words = joined("\n".join((self.row(line, column), *map(self.row, range(line + 1, last + 1)))))
        if last == end_line and len(words) <= limit:
            return words
        return words[: limit - 1] + "…"


def joined(text: str) -> str:
    """Source over several lines as one line; strings keep theirs, comments go."""
    return _BREAK.sub(_space, text).strip()


def _space(match: re.Match[str]) -> str:
    if match[1] is not None:
        return match[1]
    text, start, end = match.string, match.start(), match.end()
    after_opening = start > 0 and text[start - 1] in "([{"
    before_closing = end < len(text) and text[end] in ")]}"
    return "" if after_opening or before_closing else " "


def decoded(data: bytes) -> SourceText:
    """The text of a source file by its byte order mark, its coding comment, or UTF-8; never an error.

    What does not fit the encoding is read as Latin-1, and NUL bytes as spaces; both are problems by name.
    """
    problems: list[Problem] = []
    if b"\0" in data and not data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        problems.append(problem(line, f"{data.count(0)} NUL bytes, read as spaces"))
        data = data.replace(b"\0", b" ")
    text, encoding = _characters(data, problems)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return SourceText(text, encoding, problems)


def _characters(data: bytes, problems: list[Problem]) -> tuple[str, str]:
    """The characters of a file and the name of the encoding they were read in."""
    if data.startswith(codecs.BOM_UTF8):
        data, declared = data[3:], "utf-8"
    elif data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        declared = "utf-16"
        problems.append(problem(1, "UTF-16, which Python does not run"))
    else:
        declared = _declared(data, problems)
    try:
        text = data.decode(declared)
        return (text if declared == "utf-8" else text.encode("utf-8", "replace").decode()), declared
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problems.append(problem(line, f"not {declared}: {error.reason}; read as Latin-1"))
    except (LookupError, ValueError, OverflowError) as error:
        problems.append(problem(1, f"not {declared}: {error}; read as Latin-1"))
    return data.decode("latin-1"), "latin-1"


def _declared(data: bytes, problems: list[Problem]) -> str:
    """The encoding that a comment on one of the first two lines names, and else UTF-8."""
    first, _, rest = data[:400].partition(b"\n")
    second = rest.partition(b"\n")[0] if _BLANK.match(first.rstrip(b"\r")) else b""
    for number, line in enumerate((first, second), 1):
        match = _COOKIE.match(line)
        if match is None:
            continue
        name = match[1].decode("ascii", "replace")
        try:
            codec = codecs.lookup(name)
        except (LookupError, ValueError):
            problems.append(problem(number, f"no encoding is called {name!r}; read as UTF-8"))
            return "utf-8"
        if codec.name in _UNSAFE or not getattr(codec, "_is_text_encoding", True):
            problems.append(problem(number, f"{name!r} is no encoding for source text; read as UTF-8"))
            return "utf-8"
        return codec.name
    return "utf-8"
