"""The configuration of a file: constants with value, comment and use, and environment variables."""

from __future__ import annotations

from collections.abc import Iterator

from forwardbook.analyzers.detail.facts import Constant
from forwardbook.book.blocks import Block, Heading, Paragraph
from forwardbook.book.inline import clip, code, plain, prose
from forwardbook.book.pages.section import SectionFacts, expression, section, table


def configuration(facts: SectionFacts) -> tuple[Block, ...]:
    """Constants, then environment variables."""
    found = [*_constants(facts), *_environment(facts)]
    nothing = Paragraph("No constant and no environment variable was found.")
    return section("Configuration", found or [nothing])


def _constants(facts: SectionFacts) -> Iterator[Block]:
    rows = [
        (
            code(f"{each.owner}.{each.name}" if each.owner else each.name),
            _value(facts, each),
            facts.at(each.line),
            prose(clip(each.comment, 160)),
            _uses(each),
        )
        for each in facts.detail.constants
    ]
    if rows:
        yield Heading(3, "Constants")
        yield from table(("Constant", "Value", "Where", "Comment", "Used on lines"), rows, "Constants")


def _value(facts: SectionFacts, one: Constant) -> str:
    return code(
        one.value if len(one.value) <= 50 else facts.values.get((one.name, one.line), clip(one.value, 50))
    )


def _uses(one: Constant) -> str:
    shown = ", ".join(str(line) for line in one.uses[:6])
    return f"{shown}, …" if len(one.uses) > 6 else shown


def _environment(facts: SectionFacts) -> Iterator[Block]:
    rows = [
        (code(each.name), facts.at(each.line), plain(each.access), expression(each.default, 40))
        for one in facts.detail.everywhere()
        for each in one.environment
    ]
    if rows:
        yield Heading(3, "Environment variables")
        yield from table(("Variable", "Where", "Access", "Default"), rows, "Environment variables")
