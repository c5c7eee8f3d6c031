"""Markdown in; headings, lines of text, tables and fences with their line numbers out."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field

_FENCE = re.compile(r"^(\s*(?:(?:[-*+]|\d+[.)])\s+|>\s?)*)(`{3,}|~{3,})\s*([^`]*)$")
_HEADING = re.compile(r"^ {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$")
_RULE = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_UNDERLINE = re.compile(r"^ {0,3}(=+|-{2,})\s*$")
_CELLS = re.compile(r"(?<!\\)\|")
_LIST = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s")
_SUMMARY = re.compile(r"^\s*<summary>(.*)</summary>\s*$")
_SOURCE = re.compile(r"^\s+(?:-\s*)?[\"']?(.+?)[\"']?\s*:\s*[\"']?(?:sha256:)?([0-9a-f]{8,64})[\"']?\s*$")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; `above` are the headings that it stands under, outermost first."""

    line: int
    level: int
    text: str
    above: tuple[Heading, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """One line of running text, list item or heading."""

    number: int
    text: str
    heading: Heading | None


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table: `head` are its column names in lower case."""

    line: int
    head: tuple[str, ...]
    rows: tuple[Row, ...]
    heading: Heading | None


@dataclass(frozen=True, slots=True)
class Fence:
    """A block of code: `line` is the line of its first fence, so that line `n` of it stands at `line + n`.

    `caption` is the summary of the folded part that it stands in.
    """

    line: int
    language: str
    lines: tuple[str, ...]
    heading: Heading | None
    caption: str = ""

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


@dataclass(slots=True)
class Page:
    """What is written on a page; `sources` are the files that its front matter names, with their digests."""

    front: dict[str, str] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    headings: list[Heading] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    fences: list[Fence] = field(default_factory=list)

    @property
    def is_ours(self) -> bool:
        """True where the front matter says that the page was written in the grammar of claims."""
        return "checksum" in self.front or bool(self.sources)


def read_page(markdown: str) -> Page:
    """The parts of a page, in the order of its lines."""
    page = Page()
    lines = markdown.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    _Reader(page, lines).read()
    return page


def cells_of(row: str) -> tuple[str, ...]:
    """The cells of a row of a table, without the backslash before a `|` inside of one."""
    cells = _CELLS.split(row.strip())
    if cells and not cells[0].strip():
        cells = cells[1:]
    if cells and not cells[-1].strip() and row.rstrip().endswith("|"):
        cells = cells[:-1]
    return tuple(cell.strip().replace("\\|", "|") for cell in cells)


def is_relation_table(table: Table) -> bool:
    """Whether a table is headed From, Relation, To."""
    return table.head[:3] == ("from", "relation", "to")


class _Reader:
    """Goes once over the lines of a page."""

    def __init__(self, page: Page, lines: list[str]) -> None:
        self.page = page
        self.lines = lines
        self.at = 0
        self.above: tuple[Heading, ...] = ()
        self.in_list = False
        self.caption = ""

    @property
    def heading(self) -> Heading | None:
        return self.above[-1] if self.above else None

    def read(self) -> None:
        self._front_matter()
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if "<!--" in line and line.lstrip().startswith("<!--"):
                self._comment()
            elif (found := _FENCE.match(line)) and not (found[2][0] == "`" and "`" in found[3]):
                self._fence(found)
            elif found := _HEADING.match(line):
                self._heading(self.at + 1, len(found[1]), found[2] or "")
                self.at += 1
            elif "|" in line and self.at + 1 < len(self.lines) and _is_rule(self.lines[self.at + 1]):
                self._table()
            else:
                self._text(line)

    def _front_matter(self) -> None:
        if self.lines[0].strip() != "---":
            return
        end = next((n for n, line in enumerate(self.lines[1:], 1) if line.strip() in ("---", "...")), 0)
        key = ""
        for line in self.lines[1:end]:
            if line[:1].strip() and ":" in line:
                key, _, value = line.partition(":")
                self.page.front[key.strip()] = value.strip().strip("\"'")
            elif key == "sources" and (found := _SOURCE.match(line)):
                self.page.sources[found[1]] = found[2]
        self.at = end + 1 if end else 0

    def _comment(self) -> None:
        while self.at < len(self.lines) and "-->" not in self.lines[self.at]:
            self.at += 1
        self.at += 1

    def _fence(self, found: re.Match[str]) -> None:
        mark, begin = found[2], self.at + 1
        indent = len(found[1]) if not found[1].lstrip().startswith(">") else 0
        closing = re.compile(rf"^[\s>]*{re.escape(mark[0])}{{{len(mark)},}}\s*$")
        self.at += 1
        inside: list[str] = []
        while self.at < len(self.lines) and not closing.match(self.lines[self.at]):
            line = self.lines[self.at]
            inside.append(line[indent:] if line[:indent].strip() == "" else line.lstrip())
            self.at += 1
        self.at += 1
        words = found[3].strip().lstrip("{.").split()
        language = words[0].strip("{}").lower() if words else ""
        self.page.fences.append(Fence(begin, language, tuple(inside), self.heading, self.caption))

    def _heading(self, line: int, level: int, text: str) -> None:
        above = tuple(one for one in self.above if one.level < level)
        heading = Heading(line, level, text, above)
        self.above = (*above, heading)
        self.page.headings.append(heading)
        self.page.lines.append(Line(line, text, heading))
        self.in_list = False

    def _table(self) -> None:
        begin = self.at + 1
        head = tuple(cell.strip("*_ ").lower() for cell in cells_of(self.lines[self.at]))
        self.at += 2
        rows: list[Row] = []
        while self.at < len(self.lines) and "|" in self.lines[self.at]:
            rows.append(Row(self.at + 1, cells_of(self.lines[self.at])))
            self.at += 1
        self.page.tables.append(Table(begin, head, tuple(rows), self.heading))

    def _text(self, line: str) -> None:
        number = self.at + 1
        self.at += 1
        if not line.strip():
            return
        if found := _SUMMARY.match(line):
            self.caption = html.unescape(re.sub(r"</?code>", "`", found[1]))
        elif line.startswith("</details>"):
            self.caption = ""
        following = self.lines[self.at] if self.at < len(self.lines) else ""
        underline = _UNDERLINE.match(following)
        if underline is not None and not _LIST.match(line) and not line.startswith(("    ", ">")):
            self._heading(number, 1 if underline[1][0] == "=" else 2, line.strip())
            self.at += 1
            return
        before = self.lines[number - 2] if number > 1 else ""
        if _LIST.match(line):
            self.in_list = True
        elif not line.startswith((" ", "\t")):
            self.in_list = self.in_list and bool(before.strip())
        elif line.startswith(("    ", "\t")) and not before.strip() and not self.in_list:
            self._indented_code()
            return
        self.page.lines.append(Line(number, line, self.heading))

    def _indented_code(self) -> None:
        while self.at < len(self.lines) and self.lines[self.at].startswith(("    ", "\t")):
            self.at += 1


def _is_rule(line: str) -> bool:
    return "-" in line and "|" in line and _RULE.match(line) is not None
