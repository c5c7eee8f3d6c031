"""Prose that a writer submitted in, blocks of a page out; what no claim bears out carries a mark."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from typing import Final

from forwardbook.agents.roles.page_writer import Prose, ProseBlock
from forwardbook.book.blocks import Block, Bullets, Diagram, Heading, Paragraph
from forwardbook.book.inline import code, marked, plain
from forwardbook.book.page import Page
from forwardbook.book.verify import Claim, Sources, Verifier

TITLE: Final = "How it works"
MARK: Final = " _(not verified)_"
_DIRECTIVE: Final = re.compile(r"%%\s*\{|^\s*(click|link|links|href|callback)\b|<\s*\w", re.MULTILINE)


def blocks_of(prose: Prose, unverified: frozenset[tuple[int, int]] = frozenset()) -> tuple[Block, ...]:
    """The blocks; `unverified` are block and item of what gets the mark. No text of a model is markup."""
    return tuple(_block(index, one, unverified) for index, one in enumerate(prose.blocks))


def _block(index: int, one: ProseBlock, unverified: frozenset[tuple[int, int]]) -> Block:
    def said(text: str, item: int = 0) -> str:
        return marked(text) + (MARK if (index, item) in unverified else "")

    match one.kind:
        case "heading":
            return Heading(3, marked(one.text))
        case "paragraph":
            return Paragraph(said(one.text))
        case "bullets":
            return Bullets(tuple(said(text, number) for number, text in enumerate(one.items)))
        case "diagram":
            return Diagram(one.text)


@dataclass
class Bench:
    """Judges drafts for one page after another; safe to be asked by several conversations at once."""

    sources: Sources
    lock: threading.Lock = field(default_factory=threading.Lock)
    _verifier: Verifier | None = None

    def claims(self, base: Page, place: str, prose: Prose) -> tuple[tuple[Claim, ...], list[tuple[int, int]]]:
        """The claims of the prose, and the block and item of every line that none of them bears out."""
        head = Page(base.name, base.front_matter, (*base.blocks[:1], Heading(2, TITLE)))
        first = len(head.markdown().splitlines()) + 2
        places: dict[int, tuple[int, int]] = {}
        line = first
        for index, block in enumerate(blocks_of(prose)):
            lines = block.markdown().splitlines()
            for offset in range(len(lines)):
                places[line + offset] = (index, offset if isinstance(block, Bullets) else 0)
            line += len(lines) + 1
        whole = Page(base.name, base.front_matter, (*head.blocks, *blocks_of(prose)))
        with self.lock:
            if self._verifier is None:
                self._verifier = Verifier(self.sources)
            found = self._verifier.verify(whole.markdown(), place)
        kept = tuple(claim for claim in found if claim.line >= first - 1)
        supported = {
            places[claim.line] for claim in kept if claim.state == "supported" and claim.line in places
        }
        bare = [one for one in dict.fromkeys(places.values()) if one not in supported]
        return kept, bare

    def reasons(self, base: Page, place: str, prose: Prose) -> str:
        """Which claims are contradicted and what is true instead; empty where none is."""
        lines = [
            "a diagram may hold no directive, no link and no markup"
            for one in prose.blocks
            if one.kind == "diagram" and _DIRECTIVE.search(one.text)
        ]
        for claim in self.claims(base, place, prose)[0]:
            if claim.state in ("contradicted", "stale"):
                lines.append(f"{claim.kind}: {claim.text}: {claim.truth}")
        return "\n".join(dict.fromkeys(lines))

    def published(self, base: Page, place: str, prose: Prose, model: str) -> tuple[Block, ...]:
        """The section as it goes onto the page."""
        claims, bare = self.claims(base, place, prose)
        texts = {"paragraph", "bullets"}
        unverified = frozenset(one for one in bare if prose.blocks[one[0]].kind in texts)
        holding = sum(claim.state == "supported" for claim in claims)
        note = f"{plain('Written by')} {code(model)}; {holding} of its claims hold against the source."
        if unverified:
            note += f" What is marked{MARK} cannot be told from the source."
        return (Heading(2, TITLE), Paragraph(note), *blocks_of(prose, unverified))
