"""A line of Markdown in; its code spans, the places among them, and its links out."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

_CODE = re.compile(r"(?<![\\`])(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_LABEL = r"(?:[^\[\]`\\]|`[^`]*`|\\.|\[[^\]]*\])*"
_LINK = re.compile(rf"!?\[({_LABEL})\]\(\s*<?([^)\s>]{{0,1000}})>?(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)")
_PLACE = re.compile(r"^(?P<path>[^:`]*[^\s:`])(?::|#L)(?P<start>\d+)(?:-L?(?P<end>\d+))?$")


@dataclass(frozen=True, slots=True)
class Place:
    """A line (`end` None) or a span of lines of a file."""

    path: str
    start: int
    end: int | None

    @property
    def last(self) -> int:
        return self.start if self.end is None else self.end

    def __str__(self) -> str:
        return f"{self.path}:{self.start}" + ("" if self.end is None else f"-{self.end}")


@dataclass(frozen=True, slots=True)
class Span:
    """A code span: its text, where it stands in the line, and the place where it is one."""

    text: str
    start: int
    end: int
    place: Place | None


@dataclass(frozen=True, slots=True)
class Inline:
    """A line without its link targets, the code spans in it, the links, and the places that links show."""

    text: str
    spans: tuple[Span, ...]
    links: tuple[str, ...]
    shown: tuple[Place, ...] = ()

    def between(self, first: int, second: int) -> str:
        """The text between two spans."""
        return self.text[self.spans[first].end : self.spans[second].start]


def read_inline(line: str) -> Inline:
    """The code spans and links of a line."""
    links: tuple[str, ...] = ()
    shown: tuple[Place, ...] = ()
    if "](" in line:
        targets: list[tuple[str, str]] = []
        code = [found.span() for found in _CODE.finditer(line)]
        line = _LINK.sub(lambda found: _link(found, targets, code), line)
        links = tuple(target for _, target in targets if target)
        shown = tuple(place for text, _ in targets if (place := read_place(text)))
    if "`" not in line:
        return Inline(line, (), links, shown)
    spans = []
    for found in _CODE.finditer(line):
        text = found[2].strip() if len(found[1]) > 1 else found[2]
        spans.append(Span(text, found.start(), found.end(), read_place(text)))
    return Inline(line, tuple(spans), links, shown)


def _link(found: re.Match[str], targets: list[tuple[str, str]], code: list[tuple[int, int]]) -> str:
    if any(start <= found.start() < end for start, end in code):
        return found[0]
    targets.append((found[1], found[2]))
    return found[1]


def read_place(text: str) -> Place | None:
    """The place that a text like `path:10-42` names."""
    found = _PLACE.match(text)
    if found is None or not ("." in found["path"] or "/" in found["path"]):
        return None
    end = found["end"]
    return Place(found["path"], int(found["start"]), None if end is None else int(end))


def plain_cell(cell: str) -> str:
    """The text of a cell without the marks of code, emphasis and escapes."""
    text = cell.strip()
    if found := _CODE.fullmatch(text):
        return found[2].strip() if len(found[1]) > 1 else found[2]
    return html.unescape(text.replace("`", "").replace("**", "")).strip()
