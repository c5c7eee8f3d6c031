"""The error handling of a file: what it checks, raises, catches, falls back to and cleans up."""

from __future__ import annotations

from collections.abc import Iterator

from forwardbook.book.blocks import Block, Heading, Paragraph
from forwardbook.book.inline import code, codes, plain
from forwardbook.book.pages.functions import raise_row
from forwardbook.book.pages.section import SectionFacts, expression, section, table


def error_handling(facts: SectionFacts) -> tuple[Block, ...]:
    """Validation, raised, caught (fallbacks marked), cleanup."""
    found = [*_checks(facts), *_raised(facts), *_caught(facts), *_cleanups(facts)]
    nothing = Paragraph("No exception that is raised or caught, no check and no cleanup was found.")
    return section("Error handling", found or [nothing])


def _checks(facts: SectionFacts) -> Iterator[Block]:
    rows = [
        (
            plain(each.kind),
            facts.quoted(each.condition, each.line, 80),
            expression(each.consequence, 60),
            facts.at(each.line),
        )
        for one in facts.detail.everywhere()
        for each in one.checks
    ]
    if rows:
        yield Heading(3, "Validation")
        yield from table(("Check", "Condition", "Otherwise", "Where"), rows, "Validation")


def _raised(facts: SectionFacts) -> Iterator[Block]:
    rows = [
        raise_row(facts, each)
        for one in facts.detail.functions
        for each in one.raises
        if each.line and each.exception
    ]
    own = [raise_row(facts, each) for each in facts.detail.module.raises if each.line and each.exception]
    if rows or own:
        yield Heading(3, "Raised")
        yield from table(("Raises", "When", "Where"), rows, "Raised exceptions")
        yield from table(("Raised when the module is loaded", "When", "Where"), own)


def _caught(facts: SectionFacts) -> Iterator[Block]:
    rows = [
        (
            codes(list(each.exceptions)) or "everything",
            facts.lines(each.guarded),
            plain(each.outcome),
            expression(each.text, 60),
            facts.at(each.line),
        )
        for one in facts.detail.everywhere()
        for each in one.caught
    ]
    if rows:
        yield Heading(3, "Caught")
        yield from table(("Catches", "Around lines", "Outcome", "How", "Where"), rows, "Caught exceptions")


def _cleanups(facts: SectionFacts) -> Iterator[Block]:
    rows = [
        (
            code(each.kind) if each.kind.startswith("__") else plain(each.kind),
            expression(each.text),
            facts.at(each.line),
        )
        for one in facts.detail.everywhere()
        for each in one.cleanups
    ]
    if rows:
        yield Heading(3, "Cleanup")
        yield from table(("Kind", "What", "Where"), rows, "Cleanup")
