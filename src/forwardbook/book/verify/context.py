"""A page as read and the sources in; for each of its lines, the files that it speaks of out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from forwardbook.book.verify.claims import Kind, Verdict
from forwardbook.book.verify.inline import Inline, read_inline
from forwardbook.book.verify.names import Names, Target
from forwardbook.book.verify.reading import Heading, Page
from forwardbook.book.verify.sources import Sources

NEAR = 4
"""So many files at most are asked first for what a name means."""


class Found(NamedTuple):
    """A claim as a check finds it, before the page's name and staleness are added."""

    line: int
    kind: Kind
    text: str
    verdict: Verdict


class Context:
    """What every check needs of the page that it reads."""

    def __init__(self, page: Page, path: str, sources: Sources, names: Names) -> None:
        self.page = page
        self.path = path
        self.sources = sources
        self.names = names
        self.strict = page.is_ours
        self.inlines: dict[int, Inline] = {line.number: read_inline(line.text) for line in page.lines}
        self._cells: dict[str, Inline] = {}
        self._sections = self._files_of_sections()
        main = page.front.get("path", "")
        self._main = (
            [main] if main in sources.files else [*page.sources][:1] if len(page.sources) == 1 else []
        )
        self._near: dict[int, tuple[str, ...]] = {}

    def cell(self, text: str) -> Inline:
        """The code spans of a cell."""
        if text not in self._cells:
            self._cells[text] = read_inline(text)
        return self._cells[text]

    def near(self, heading: Heading | None, inlines: Iterable[Inline] = ()) -> tuple[str, ...]:
        """The files that a line speaks of: those named on it, then those of its sections, then the page's."""
        here = [path for inline in inlines for path in self._files_of(inline)]
        if not here:
            return self._near_heading(heading)
        return tuple(dict.fromkeys([*here, *self._near_heading(heading)]))[:NEAR]

    def _near_heading(self, heading: Heading | None) -> tuple[str, ...]:
        line = heading.line if heading else 0
        if line not in self._near:
            chain = [heading, *reversed(heading.above)] if heading else []
            around = [path for one in chain for path in self._sections[one.line][:2]]
            self._near[line] = tuple(dict.fromkeys([*around, *self._sections[0][:1], *self._main]))[:NEAR]
        return self._near[line]

    def subjects(self, heading: Heading | None) -> tuple[Target, ...]:
        """The definitions that the nearest heading names which names any."""
        for one in [heading, *reversed(heading.above)] if heading else []:
            for span in self.inlines[one.line].spans:
                found = () if span.place else self.names.targets(span.text, self._near_heading(one))
                if found := tuple(target for target in found if not target.is_file):
                    return found
        return ()

    def _files_of_sections(self) -> dict[int, list[str]]:
        found: dict[int, list[str]] = defaultdict(list)
        for line in self.page.lines:
            number = line.heading.line if line.heading else 0
            if len(found[number]) < 2:
                found[number] += self._files_of(self.inlines[line.number])
        return found

    def _files_of(self, inline: Inline) -> list[str]:
        found: list[str] = []
        for span in inline.spans:
            path = span.place.path if span.place else span.text
            if "." in path:
                files = self.names.files_named(path)
                found += files if len(files) == 1 else ()
        return found
