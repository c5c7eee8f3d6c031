"""The core concepts of a file: design patterns recognised by rule, and terms with where they are defined."""

from __future__ import annotations

from collections.abc import Iterator

from forwardbook.book.blocks import Block, Bullets, Paragraph
from forwardbook.book.inline import clip, code, marked, plain, prose
from forwardbook.book.pages.section import SectionFacts, section, sentence, table


def concepts(facts: SectionFacts) -> tuple[Block, ...]:
    """Patterns as a list, terms as a table."""
    return section("Core concepts", (*_patterns(facts), *_terms(facts)))


def _patterns(facts: SectionFacts) -> Iterator[Block]:
    items = []
    for each in facts.detail.patterns:
        places = ", ".join(facts.at(line.line) for line in each.evidence[:3])
        shown = f". Seen at {places}" if places else ""
        subject = f" {code(each.subject)}:" if each.subject else ""
        items.append(sentence(f"**{plain(each.name.capitalize())}**.{subject} {marked(each.why)}{shown}"))
    if items:
        yield Paragraph("Patterns, recognised by rules on names and structure:")
        yield Bullets(tuple(items[:20]))


def _terms(facts: SectionFacts) -> Iterator[Block]:
    rows = [
        (f"**{plain(each.term)}**", prose(clip(each.meaning, 200)), facts.at(each.line))
        for each in facts.detail.terms
    ]
    if rows:
        yield Paragraph("Terms, in the words of the docstrings that define them:")
        yield from table(("Term", "Meaning", "Where"), rows[:40], "Terms")
