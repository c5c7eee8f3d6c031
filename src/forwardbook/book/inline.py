"""Text of a source file in, inline Markdown out that shows this text and does nothing else."""

from __future__ import annotations

import re

from forwardbook.analyzers.index.facts import Span
from forwardbook.printable import printable

# As entities rather than with a backslash: not every Markdown reader lets a backslash escape these.
_ENTITIES = {
    "&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;", "`": "&#96;", "{": "&#123;", "}": "&#125;",
    "$": "&#36;", "~": "&#126;", "[": "&#91;", "]": "&#93;", "*": "&#42;", "\\": "&#92;",
}  # fmt: skip
_ENTITY = str.maketrans(_ENTITIES)
_OUTER_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
_LIST_NUMBER = re.compile(r"^(\d+)([.)])(?=\s|$)")
_ROLE = re.compile(r":[a-zA-Z:+.-]+:`~?([^`<]+?)(?:\s*<[^`]*>)?`")
_TICKS = re.compile(r"(`{1,2})([^`\n]+)\1(?!`)")
_WORDS_LINKED = re.compile(r"\b(https?|ftp)://|\bwww\.", re.IGNORECASE)


def one_line(text: str) -> str:
    """The text on one line, control characters (marks of direction among them) spelled out."""
    return printable(" ".join(text.split()))


def as_shown(text: str) -> str:
    """Code as a page shows it: lines end with a line feed, a form feed is a space, the rest is printable."""
    return printable(text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", " "))


def clip(text: str, width: int = 80) -> str:
    """The text on one line, at most `width` characters, ending in `…` where something was left out."""
    line = one_line(text)
    return line if len(line) <= width else line[: width - 1].rstrip() + "…"


def plain(text: str) -> str:
    """Untrusted text as inline Markdown: every character stands for itself, at the start of a line too."""
    line = _OUTER_UNDERSCORE.sub("&#95;", one_line(text).translate(_ENTITY))
    line = _WORDS_LINKED.sub(lambda found: found[0].replace(":", "&#58;").replace(".", "&#46;"), line)
    line = _LIST_NUMBER.sub(lambda found: f"{found[1]}&#{ord(found[2])};", line)
    return f"&#{ord(line[0])};{line[1:]}" if line[:1] in tuple("-+=!?:#%@\"'^") else line


def prose(text: str) -> str:
    """A passage of a docstring as `plain` text, its reStructuredText roles and backticks taken off."""
    return plain(_TICKS.sub(r"\2", _ROLE.sub(r"\1", text)))


def marked(text: str) -> str:
    """Words of our own with names of the source between backticks: these become code, the rest `plain`."""
    parts = one_line(text).split("`")
    if len(parts) % 2 == 0:
        return plain(text)
    shown = [code(part) if number % 2 else _inner(part) for number, part in enumerate(parts)]
    return "".join(shown)


def _inner(text: str) -> str:
    """Plain text with the spaces around it."""
    body = text.strip()
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{before}{plain(body)}{after}" if body else text


def code(text: str) -> str:
    """The text as a code span, whatever backticks it holds."""
    line = one_line(text)
    if not line:
        return ""
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    padded = f" {line} " if line[0] == "`" or line[-1] == "`" else line
    return f"{fence}{padded}{fence}"


def codes(texts: tuple[str, ...] | list[str]) -> str:
    """The texts as code spans with commas between."""
    return ", ".join(code(text) for text in texts if text)


def where(path: str, lines: Span | int) -> str:
    """A place: `` `path:10-42` `` for a span, `` `path:17` `` for a line."""
    return code(f"{path}:{lines}" if isinstance(lines, int) else f"{path}:{lines.start}-{lines.end}")


def cite(symbol: str, path: str, span: Span) -> str:
    """A definition and its exact place: `` `Symbol` (`path:10-42`) ``."""
    return f"{code(symbol)} ({where(path, span)})"


def link(text: str, target: str) -> str:
    """A link; `text` is inline Markdown already, `target` a relative file or anchor."""
    safe = "".join(each if each.isalnum() or each in "/._-#" else _percent(each) for each in target)
    return f"[{text}]({safe})"


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))
