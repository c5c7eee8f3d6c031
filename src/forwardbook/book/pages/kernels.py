"""The kernels of a file and their launches, with grid, block, shared memory and stream as written."""

from __future__ import annotations

from collections.abc import Iterator

from forwardbook.analyzers.index.facts import Launch
from forwardbook.book.blocks import Block, Heading, Paragraph, Table
from forwardbook.book.inline import code
from forwardbook.book.pages.section import SectionFacts, expression, section, table


def kernels(facts: SectionFacts) -> tuple[Block, ...]:
    """The launches; kernels are among the components."""
    found = list(_launches(facts))
    nothing = Paragraph("The file launches no kernel.")
    return section("Performance-critical sections", found or [nothing])


def _launches(facts: SectionFacts) -> Iterator[Block]:
    owned = [(each.qualname, launch) for each in facts.facts.definitions for launch in each.launches]
    owned += [("", launch) for launch in facts.facts.launches]
    if not owned:
        return
    yield Heading(3, "Kernel launches")
    rows = tuple(dict.fromkeys(_row(facts, launch) for _, launch in owned))
    yield Table(("Kernel", "Grid", "Block", "Shared", "Stream", "Where"), rows)
    macros = sorted({launch.line for _, launch in owned if launch.in_macro})
    if macros:
        yield Paragraph(f"Inside a macro: {', '.join(facts.at(line) for line in macros[:12])}.")
    relations = [
        (code(owner), "launches", code(launch.kernel.partition("<")[0]), facts.at(launch.line))
        for owner, launch in owned
        if owner
    ]
    if relations:
        yield Heading(3, "Who launches what")
        yield from table(("From", "Relation", "To", "Where"), relations, "Launches")


def _row(facts: SectionFacts, one: Launch) -> tuple[str, ...]:
    settings = (one.grid, one.block, one.shared, one.stream)
    return (
        code(one.kernel.partition("<")[0]),
        *(expression(each, 60) for each in settings),
        facts.at(one.line),
    )
