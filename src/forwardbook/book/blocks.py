"""The blocks of a page: headings, paragraphs, tables, code and diagrams as values in, Markdown out.

Texts given to a block are inline Markdown, built with `forwardbook.book.inline`; code and diagrams are raw.
Of code what a terminal would obey is spelled out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from forwardbook.book.inline import as_shown, code, one_line, prose
from forwardbook.errors import ForwardbookError

_SLASHES = frozenset({"c", "cpp", "cuda", "json", "javascript"})
_CODE_SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")


class BlockError(ForwardbookError):
    """A block that cannot be written, such as a table whose rows differ in length."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; level 1 is the page's title."""

    level: int
    text: str

    def markdown(self) -> str:
        return f"{'#' * self.level} {_line(self.text)}"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences on one line."""

    text: str

    def markdown(self) -> str:
        return _line(self.text)


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list; an empty one is nothing."""

    items: tuple[str, ...]

    def markdown(self) -> str:
        return "\n".join(f"- {_line(item)}" for item in self.items)


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of the source, a paragraph each, set apart as a quotation; `origin` is inline Markdown."""

    text: str
    origin: str = ""

    def markdown(self) -> str:
        passages = [prose(each) for each in re.split(r"\n\s*\n", self.text)]
        lines = [each for each in passages if each]
        if self.origin and lines:
            lines[-1] += f" — {_line(self.origin)}"
        return "\n>\n".join(f"> {line}" for line in lines)


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose rows all have as many cells as the head."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.head):
                raise BlockError(
                    f"writing the table {' | '.join(self.head)}: a row has {len(row)} cells, "
                    f"the head {len(self.head)}: {row}"
                )

    def markdown(self) -> str:
        rule = ("---",) * len(self.head)
        return "\n".join(_row(cells) for cells in (self.head, rule, *self.rows))


@dataclass(frozen=True, slots=True)
class Code:
    """Code in a fence, `origin` above it as a comment: `path:10-42`, or `from path:10-42` for a quotation."""

    language: str
    text: str
    origin: str = ""

    def markdown(self) -> str:
        mark = "//" if self.language in _SLASHES else "#"
        body = (f"{mark} {one_line(self.origin)}\n" if self.origin else "") + as_shown(self.text).strip("\n")
        return _fenced(re.sub(r"[^a-z0-9+-]", "", self.language), body)


@dataclass(frozen=True, slots=True)
class Diagram:
    """A Mermaid diagram as the emitters of `forwardbook.book.mermaid` write it."""

    text: str

    def markdown(self) -> str:
        return _fenced("mermaid", self.text.strip("\n"))


@dataclass(frozen=True, slots=True)
class Details:
    """Blocks that are folded away behind a summary."""

    summary: str
    blocks: tuple[Block, ...]

    def markdown(self) -> str:
        inside = markdown(self.blocks)
        return (
            f'<details markdown="1">\n<summary>{_as_html(self.summary)}</summary>\n\n{inside}\n\n</details>'
        )


Block = Heading | Paragraph | Bullets | Quote | Table | Code | Diagram | Details


def markdown(blocks: Iterable[Block]) -> str:
    """The blocks with a blank line between; empty ones are left out."""
    return "\n\n".join(text for text in (block.markdown() for block in blocks) if text)


def _line(text: str) -> str:
    line = text.strip()
    return re.sub(r"\s*\n\s*", " ", line) if "\n" in line else line


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(_cell(cell) for cell in cells)} |"


def _cell(text: str) -> str:
    """The text of a cell: pipes in code spans stand behind a backslash, as tables want them."""
    line = _line(text)
    return _CODE_SPAN.sub(lambda found: found[0].replace("|", "\\|"), line) or " "


def _fenced(language: str, body: str) -> str:
    longest = max((len(run) for run in re.findall("`{3,}", body)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{body}\n{fence}"


def _as_html(text: str) -> str:
    """Inline Markdown inside an HTML tag, where backticks are no markup."""

    def span(found: re.Match[str]) -> str:
        inner = found[0].strip("`").strip()
        return "<code>" + inner.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") + "</code>"

    return _CODE_SPAN.sub(span, _line(text))


def note(name: str, text: str) -> Paragraph:
    """A paragraph that begins with a name in bold."""
    return Paragraph(f"**{name}**: {text}")


def listed(name: str, texts: Iterable[str]) -> Paragraph:
    """A paragraph that lists code spans behind a name in bold."""
    return note(name, ", ".join(code(text) for text in texts))
