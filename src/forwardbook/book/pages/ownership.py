"""What native code owns and checks: classes that release, resources, error checks, macros with values."""

from __future__ import annotations

from collections.abc import Iterator

from forwardbook.book.blocks import Block, Heading, Paragraph
from forwardbook.book.inline import cite, clip, code, codes, plain, prose
from forwardbook.book.pages.section import SectionFacts, expression, section, table


def native_concepts(facts: SectionFacts) -> tuple[Block, ...]:
    """Namespaces, templates, owners and resources."""
    return section("Core concepts", (*_namespaces(facts), *_owners(facts), *_resources(facts)))


def _namespaces(facts: SectionFacts) -> Iterator[Block]:
    names = facts.native.namespaces
    if names:
        yield Paragraph(f"**Namespaces**: {', '.join(plain(each) for each in names)}.")
    rows = [(code(each.name), facts.at(each.line), codes(each.parameters)) for each in facts.native.templates]
    if rows:
        yield Heading(3, "Templates")
        yield from table(("Template", "Begins at", "Parameters"), rows, "Templates")


def _owners(facts: SectionFacts) -> Iterator[Block]:
    for each in facts.native.owners:
        holds = f" It holds {codes(each.holds)}." if each.holds else ""
        frees = (
            f" Its destructor calls {', '.join(expression(one) for one in each.releases)}."
            if each.releases
            else ""
        )
        kinds = f" Copying is {each.copies}, moving is {each.moves}."
        name = cite(each.name, facts.shown, each.span)
        yield Paragraph(f"**Owner**. {name} gives back what it acquired when it goes.{holds}{frees}{kinds}")


def _resources(facts: SectionFacts) -> Iterator[Block]:
    rows = [
        (
            plain(each.kind),
            code(each.name),
            expression(each.acquired_by, 50),
            plain(each.ownership),
            facts.at(each.line),
            ", ".join(map(str, each.released)),
        )
        for each in facts.native.resources
    ]
    if rows:
        yield Heading(3, "Resources")
        head = ("Kind", "Name", "Acquired by", "Ownership", "Where", "Released on lines")
        yield from table(head, rows, "Resources")


def native_errors(facts: SectionFacts) -> tuple[Block, ...]:
    """Checks, and what is thrown."""
    rows = [
        (
            plain(each.function) or "file",
            expression(each.call, 50),
            facts.quoted(each.condition, each.line),
            prose(clip(each.message, 100)),
            facts.at(each.line),
        )
        for each in facts.native.checks
    ]
    thrown = [
        (
            code(each.exception.partition("(")[0]),
            expression(each.condition, 90) or "always",
            facts.at(each.line),
        )
        for one in facts.facts.definitions
        for each in one.raised
        if each.exception
    ]
    found: list[Block] = []
    if rows:
        found += [Heading(3, "Checks")]
        found += table(("In", "Check", "Condition", "Message", "Where"), rows, "Checks")
    if thrown:
        found += [Heading(3, "Thrown"), *table(("Raises", "When", "Where"), thrown, "Thrown exceptions")]
    return section("Error handling", found or [Paragraph("No check and no exception was found.")])


def native_configuration(facts: SectionFacts) -> tuple[Block, ...]:
    """Macros with value, comment and use; constants."""
    rows = [
        (
            code(each.name),
            facts.over(each.span),
            expression(each.value, 60),
            prose(clip(each.comment, 120)),
            ", ".join(map(str, each.uses[:6])) + (", …" if len(each.uses) > 6 else ""),
        )
        for each in facts.native.macros
        if not each.parameters
    ]
    found: list[Block] = []
    if rows:
        found += [Heading(3, "Macros")]
        found += table(("Macro", "Lines", "Stands for", "Comment", "Used on lines"), rows, "Macros")
    macros = {each.name for each in facts.native.macros}
    constants = [
        (code(each.name), code(clip(each.value, 80)), facts.at(each.line))
        for each in facts.facts.constants
        if each.name not in macros
    ]
    if constants:
        found += [Heading(3, "Constants"), *table(("Constant", "Value", "Where"), constants, "Constants")]
    return section("Configuration", found or [Paragraph("No macro with a value and no constant was found.")])


def targets(facts: SectionFacts) -> tuple[Block, ...]:
    """What a CMake file builds."""
    blocks: list[Block] = []
    for each in facts.native.targets:
        rows = [
            (
                name,
                ", ".join(code(clip(one, 60)) for one in values[:20])
                + (" and more" if len(values) > 20 else ""),
            )
            for name, values in (
                ("Sources", each.sources),
                ("Links", each.links),
                ("Include folders", each.includes),
                ("Definitions", each.definitions),
                ("Options", each.options),
                ("Features", each.features),
            )
            if values
        ]
        blocks += [
            Heading(3, plain(each.name)),
            Paragraph(f"Target of kind {plain(each.kind)} at {facts.at(each.span.start)}."),
        ]
        blocks += table(("Property", "Value"), rows)
    return section("Targets", blocks or [Paragraph("The file builds no target.")])
