"""The performance-critical sections of native code: kernels, launches, copies, streams, waits."""

from __future__ import annotations

from collections.abc import Iterator

from forwardbook.analyzers.native.detail import LaunchDetail
from forwardbook.book.blocks import Block, Heading, Paragraph, Table
from forwardbook.book.inline import code, codes, plain
from forwardbook.book.pages.section import SectionFacts, expression, section, table


def kernels(facts: SectionFacts) -> tuple[Block, ...]:
    """What runs on the device and what the host waits for."""
    found = [
        *_kernels(facts),
        *_launches(facts),
        *_copies(facts),
        *_streams(facts),
        *_waits(facts),
        *_shared(facts),
    ]
    nothing = Paragraph("No kernel, launch, copy between devices or wait was found.")
    return section("Performance-critical sections", found or [nothing])


def _kernels(facts: SectionFacts) -> Iterator[Block]:
    rows = [
        (code(each.name), facts.over(each.span), codes(each.indices), codes(each.bounds))
        for each in facts.native.kernels
    ]
    if rows:
        yield Heading(3, "Kernels")
        yield from table(("Kernel", "Lines", "Indices it reads", "Bounds"), rows, "Kernels")


def _launches(facts: SectionFacts) -> Iterator[Block]:
    rows = [_launch(facts, each) for each in facts.native.launches]
    if not rows:
        return
    yield Heading(3, "Kernel launches")
    head = ("Kernel", "Grid", "Block", "Shared", "Stream", "Where", "Launched in", "Errors")
    yield Table(head, tuple(dict.fromkeys(rows)))
    macros = sorted({each.launch.line for each in facts.native.launches if each.launch.in_macro})
    if macros:
        yield Paragraph(f"Inside a macro: {', '.join(facts.at(line) for line in macros[:12])}.")


def _launch(facts: SectionFacts, one: LaunchDetail) -> tuple[str, ...]:
    launch = one.launch
    settings = (launch.grid, launch.block, launch.shared, launch.stream)
    checked = f"checked on line {one.checked_at}" if one.checked_at else "not checked"
    return (
        code(launch.kernel.partition("<")[0]),
        *(expression(each, 60) for each in settings),
        facts.at(launch.line),
        plain(one.function),
        checked,
    )


def _copies(facts: SectionFacts) -> Iterator[Block]:
    rows = [
        (
            plain(each.direction),
            facts.quoted(each.call, each.line),
            expression(each.destination, 40),
            expression(each.source, 40),
            expression(each.size, 40),
            expression(each.stream, 30),
            facts.at(each.line),
        )
        for each in facts.native.copies
    ]
    if rows:
        yield Heading(3, "Copies")
        head = ("Direction", "Call", "To", "From", "Bytes", "Stream", "Where")
        yield from table(head, rows, "Copies")


def _streams(facts: SectionFacts) -> Iterator[Block]:
    rows = [
        (
            plain(each.origin),
            code(each.name),
            code(each.type),
            facts.at(each.line),
            ", ".join(map(str, each.destroyed)),
        )
        for each in facts.native.streams
    ]
    if rows:
        yield Heading(3, "Streams and events")
        yield from table(
            ("Origin", "Name", "Type", "Where", "Destroyed on lines"), rows, "Streams and events"
        )


def _waits(facts: SectionFacts) -> Iterator[Block]:
    rows = [
        (plain(each.scope), facts.quoted(each.call, each.line), plain(each.function), facts.at(each.line))
        for each in facts.native.synchronisations
    ]
    if rows:
        yield Heading(3, "Synchronisation points")
        yield from table(("What waits", "Call", "In", "Where"), rows, "Synchronisation points")


def _shared(facts: SectionFacts) -> Iterator[Block]:
    rows = [
        (
            "dynamic" if each.is_dynamic else "static",
            code(each.name),
            code(each.type),
            facts.quoted(each.size, each.line, 40),
            plain(each.function),
            facts.at(each.line),
        )
        for each in facts.native.shared_memory
    ]
    if rows:
        yield Heading(3, "Shared memory")
        yield from table(("Kind", "Name", "Type", "Size", "In", "Where"), rows, "Shared memory")
