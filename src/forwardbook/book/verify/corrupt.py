"""A page and a seed in, the same page with one thing wrong out: what the verifier is tried on."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from forwardbook.book.mermaid.reading import plain_text
from forwardbook.book.verify.called import split_arguments
from forwardbook.book.verify.reading import Page, read_page
from forwardbook.book.verify.symbols import looks_like_code

_PLACE = re.compile(r"([\w.+-]+(?:/[\w.+-]+)*\.\w+):(\d+)(?:-(\d+))?")
_NAME = re.compile(r"`(@?[A-Za-z_][\w.]*)(?:\(\))?`")
_MESSAGE = re.compile(r"^(\s*\w+\s*-{1,2}>>[+-]?\s*\w+:\s*)([\w.]+)\((.*)\)\s*$")
_COUNT = re.compile(r"^(\|[^|]*\| )(\d[\d,]*)( \|.*)$")
_PARTICIPANT = re.compile(r"^\s*(?:participant|actor)\s+(\w+)")
_INHERITS = re.compile(r"^(\s*)(\w+)( <\|-- )(\w+)")
_LAUNCHES = re.compile(r"^(\| `[^`]+` \| launches \| `)([\w:.]+)(` .*)$")
_RELATION = re.compile(
    r"^(\| `[^`]+` \| (?:calls|may call|imports|instantiates|inherits from|uses) \| `)([^`]+)(`.*)$"
)
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Corruption:
    """One thing made wrong: on which line, and the line before and after (None: taken away)."""

    kind: str
    line: int
    before: str
    after: str | None

    def apply(self, markdown: str) -> str:
        """The page with this one thing wrong."""
        lines = markdown.split("\n")
        lines[self.line - 1 : self.line] = [] if self.after is None else self.after.split("\n")
        return "\n".join(lines)


Site = Callable[[random.Random], "str | None"]
"""Makes the new text of a line."""


class Corruptor:
    """The places of a page where something can be made wrong, by kind."""

    def __init__(self, markdown: str, true: Callable[[str, int, int], bool] | None = None) -> None:
        """`true` tells whether something is defined at exactly these lines of a file."""
        self.true = true or (lambda path, start, end: False)
        self.lines = markdown.split("\n")
        self.page: Page = read_page(markdown)
        self._body = {line.number for line in self.page.lines}
        self._rows = {row.line for table in self.page.tables for row in table.rows}
        self.names = sorted({name for line in self.lines for name in _NAME.findall(line)})
        found = {kind: list(find(self)) for kind, find in KINDS.items()}
        self.sites = {kind: sites for kind, sites in found.items() if sites}

    def draw(self, kind: str, rng: random.Random) -> Corruption | None:
        """One corruption of a kind at a random place; None where the drawn one changes nothing."""
        number, site = rng.choice(self.sites[kind])
        before, after = self.lines[number - 1], site(rng)
        return None if after == before else Corruption(kind, number, before, after)


Sites = Iterator[tuple[int, Site]]


def _prose_and_rows(one: Corruptor) -> Iterator[tuple[int, str]]:
    for number in sorted(one._body | one._rows):
        yield number, one.lines[number - 1]


def _line_numbers(one: Corruptor) -> Sites:
    """Every place behind a symbol: in a row, in brackets, or above a signature or quotation."""
    for number, line in _prose_and_rows(one):
        for found in _PLACE.finditer(line):
            before = line[: found.start()]
            behind = before.endswith("`(`") or before.endswith("` (`")
            if before.endswith("`") and (behind or (number in one._rows and _NAME.search(line))):
                yield number, _shifted(one, line, found)
    for fence in one.page.fences:
        for line in fence.lines[:1]:
            origin = re.match(r"(?:#|//) (?:from )?", line)
            if origin and (place := _PLACE.match(line, origin.end())):
                yield fence.line + 1, _shifted(one, line, place)


def _shifted(one: Corruptor, line: str, place: re.Match[str]) -> Site:
    def site(rng: random.Random) -> str:
        group = rng.choice([index for index in (2, 3) if place[index]])
        value = int(place[group])
        changed = value + rng.choice((-1, 1)) if value > 1 else 2
        start, end = (changed if index == group else int(place[index] or 0) for index in (2, 3))
        if one.true(place[1], start, end):
            return line
        return line[: place.start(group)] + str(changed) + line[place.end(group) :]

    return site


def _letters(one: Corruptor) -> Sites:
    """Every back-quoted name that reads like code."""
    for number, line in _prose_and_rows(one):
        for found in _NAME.finditer(line):
            if looks_like_code(found[1]) and len(found[1]) > 4:
                yield number, _misspelt(line, found.start(1), found.end(1))


def _misspelt(line: str, start: int, end: int) -> Site:
    def site(rng: random.Random) -> str:
        at = rng.choice([n for n in range(start, end) if line[n].isalpha()])
        letter = rng.choice([one for one in _LETTERS if one != line[at].lower()])
        return line[:at] + letter + line[at + 1 :]

    return site


def _arguments(one: Corruptor) -> Sites:
    """Every message, signature and table of parameters with two different arguments."""
    for fence in one.page.fences:
        for offset, line in enumerate(fence.lines):
            number = fence.line + 1 + offset
            if fence.language == "mermaid" and (found := _MESSAGE.match(line)):
                arguments = split_arguments(plain_text(found[3]))
                if len(set(arguments)) > 1 and "…" not in found[3]:
                    yield number, _swapped_message(found)
    for table in one.page.tables:
        if table.head[:3] == ("parameter", "type", "default"):
            for first, second in zip(table.rows, table.rows[1:], strict=False):
                yield first.line, _swapped_rows(one, first.line, second.line)


def _swapped_message(found: re.Match[str]) -> Site:
    def site(rng: random.Random) -> str:
        arguments = _split_escaped(found[3])
        pairs = [(a, b) for a in range(len(arguments)) for b in range(a) if arguments[a] != arguments[b]]
        a, b = rng.choice(pairs)
        arguments[a], arguments[b] = arguments[b], arguments[a]
        return f"{found[1]}{found[2]}({', '.join(arguments)})"

    return site


def _split_escaped(text: str) -> list[str]:
    """The arguments as escaped; the commas that count are those between the plain ones."""
    pieces, waiting = split_arguments(plain_text(text)), ""
    found: list[str] = []
    for part in text.split(","):
        waiting = f"{waiting},{part}" if waiting else part
        if plain_text(waiting).strip() == pieces[len(found)]:
            found.append(waiting.strip())
            waiting = ""
    return found if len(found) == len(pieces) else pieces


def _swapped_rows(one: Corruptor, first: int, second: int) -> Site:
    """The name and type of the next parameter in this row: the next row then stands for neither."""
    return lambda rng: one.lines[second - 1]


def _edges(one: Corruptor) -> Sites:
    """Every relation and message, led to somewhere else."""
    rows = [(number, found) for number, line in _prose_and_rows(one) if (found := _RELATION.match(line))]
    targets = sorted({found[2] for _, found in rows})
    true = {(found[1], found[2]) for _, found in rows}
    for number, found in rows:
        others = [name for name in targets if (found[1], name) not in true]
        if others:
            yield number, _renamed(found, others)
    for fence in one.page.fences:
        if fence.language == "mermaid":
            yield from _messages_elsewhere(fence.line, fence.lines)


def _renamed(found: re.Match[str], others: list[str]) -> Site:
    return lambda rng: f"{found[1]}{rng.choice(others)}{found[3]}"


def _messages_elsewhere(line: int, lines: tuple[str, ...]) -> Sites:
    messages = [
        (line + 1 + offset, found) for offset, text in enumerate(lines) if (found := _MESSAGE.match(text))
    ]
    true = {(_sender(found), found[2]) for _, found in messages}
    for number, found in messages:
        others = sorted({other[2] for _, other in messages if (_sender(found), other[2]) not in true})
        if others:
            yield number, _called_otherwise(found, others)


def _sender(found: re.Match[str]) -> str:
    return re.split(r"\s*-", found[1].strip(), maxsplit=1)[0]


def _called_otherwise(found: re.Match[str], others: list[str]) -> Site:
    return lambda rng: f"{found[1]}{rng.choice(others)}({found[3]})"


def _counts(one: Corruptor) -> Sites:
    """Every count of a table of counts."""
    for table in one.page.tables:
        if table.head[:3] == ("what", "count", "scope"):
            for row in table.rows:
                if found := _COUNT.match(one.lines[row.line - 1]):
                    yield row.line, _miscounted(found)


def _miscounted(found: re.Match[str]) -> Site:
    def site(rng: random.Random) -> str:
        value = int(found[2].replace(",", ""))
        return f"{found[1]}{value + rng.choice((-1, 1))}{found[3]}"

    return site


def _participants(one: Corruptor) -> Sites:
    """Every declaration of a participant that sends or receives, taken away."""
    for fence in one.page.fences:
        if fence.language == "mermaid":
            for offset, line in enumerate(fence.lines):
                found = _PARTICIPANT.match(line)
                if found and len(re.findall(rf"\b{found[1]}\b", fence.text)) > 1:
                    yield fence.line + 1 + offset, lambda rng: None


def _defaults(one: Corruptor) -> Sites:
    """Every default of a table of parameters."""
    for table in one.page.tables:
        if table.head[:3] == ("parameter", "type", "default"):
            for row in table.rows:
                default = row.cells[2].strip("` ")
                if default and default not in ("", "-") and "…" not in default:
                    yield row.line, _other_default(one.lines[row.line - 1], default)


def _other_default(line: str, default: str) -> Site:
    def site(rng: random.Random) -> str:
        other = str(int(default) + 1) if default.isdigit() else rng.choice(["None", "True", "False", "0"])
        head, mark, tail = line.rpartition(f"| `{default}` |")
        return f"{head}| `{other if other != default else '7'}` |{tail}" if mark else line

    return site


def _bases(one: Corruptor) -> Sites:
    """Every arrow of inheritance, led to another class of the diagram."""
    for fence in one.page.fences:
        arrows = [
            (offset, found) for offset, line in enumerate(fence.lines) if (found := _INHERITS.match(line))
        ]
        true = {(found[2], found[4]) for _, found in arrows}
        classes = sorted(set(re.findall(r"^\s*class (\w+)", fence.text, re.MULTILINE)))
        for offset, found in arrows:
            others = [name for name in classes if (name, found[4]) not in true and name != found[4]]
            if others:
                yield fence.line + 1 + offset, _other_base(found, others)


def _other_base(found: re.Match[str], others: list[str]) -> Site:
    return lambda rng: f"{found[1]}{rng.choice(others)}{found[3]}{found[4]}"


def _kernels(one: Corruptor) -> Sites:
    """Every launch, given the name of another kernel."""
    rows = [(number, found) for number, line in _prose_and_rows(one) if (found := _LAUNCHES.match(line))]
    kernels = sorted({found[2] for _, found in rows})
    true = {(found[1], found[2]) for _, found in rows}
    for number, found in rows:
        others = [name for name in kernels if (found[1], name) not in true]
        yield number, _renamed(found, others or [found[2] + "x"])


KINDS: Final[dict[str, Callable[[Corruptor], Sites]]] = {
    "line number": _line_numbers,
    "letter of a symbol": _letters,
    "swapped argument": _arguments,
    "invented edge": _edges,
    "count": _counts,
    "undeclared participant": _participants,
    "default": _defaults,
    "base class": _bases,
    "kernel": _kernels,
}
