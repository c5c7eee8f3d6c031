"""The kernels of a file and their launches, with grid, block, shared memory and stream as written."""

from __future__ import annotations

from collections.abc import Iterator

from forwardbook.analyzers.index.facts import Launch
from forwardbook.book.blocks import Block, Heading, Paragraph, Table
from forwardbook.book.inline import code
from forwardbook.book.pages.section import SectionFacts, expression, section, table


def kernels(facts: SectionFacts) -> tuple[Block, ...]:
    """Kernels, then launches."""
    found = [*_kernels(facts), *_launches(facts)]
    nothing = Paragraph("The file defines no kernel and launches none.")
    return section("Performance-critical sections", found or [nothing])


def _kernels(facts: SectionFacts) -> Iterator[Block]:
    rows = [
        (code(each.qualname), facts.over(each.span))
        for each in facts.facts.definitions
        if each.kind == "kernel"
    ]
    if rows:
        yield Heading(3, "Kernels")
        yield from table(("Kernel", "Lines"), rows)


def _launches(facts: SectionFacts) -> Iterator[Block]:
    owned = [(each.qualname, launch) for each in facts.facts.definitions for launch in each.launches]
    owned += [("", launch) for launch in facts.facts.launches]
    if not owned:
        return
    yield Heading(3, "Kernel launches")
    rows = [_row(facts, launch) for _, launch in owned]
    yield Table(("Kernel", "Grid", "Block", "Shared", "Stream", "Where"), tuple(dict.fromkeys(rows)))
    macros = sorted({launch.line for _, launch in owned if launch.in_macro})
    if macros:
        yield Paragraph(f"Inside a macro: {', '.join(facts.at(line) for line in macros[:12])}.")
    relations = [
        (code(owner), "launches", code(launch.kernel.partition("<")[0]), facts.at(launch.line))
        for owner, launch in owned
        if owner
    ]
    yield from table(("From", "Relation", "To", "Where"), relations, "Who launches what")


def _row(facts: SectionFacts, one: Launch) -> tuple[str, ...]:
    settings = (one.grid, one.block, one.shared, one.stream)
    return (
        code(one.kernel.partition("<")[0]),
        *(expression(each, 60) for each in settings),
        facts.at(one.line),
    )
