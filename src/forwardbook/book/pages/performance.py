"""The performance-critical sections of a file: timed brackets, device operations, memory and parallelism."""

from __future__ import annotations

from collections.abc import Iterator

from forwardbook.book.blocks import Block, Heading, Paragraph
from forwardbook.book.inline import code, plain
from forwardbook.book.pages.functions import unmarked
from forwardbook.book.pages.section import SectionFacts, expression, section, table

_WAITS = ("synchronise",)
_MEMORY = ("allocate", "memory", "transfer")


def performance(facts: SectionFacts) -> tuple[Block, ...]:
    """What a reader looks for first when a program is slow."""
    found = [*_timed(facts), *_device(facts), *_parallel(facts)]
    nothing = Paragraph("No timed section, device operation or parallelism was found.")
    return section("Performance-critical sections", found or [nothing])


def _timed(facts: SectionFacts) -> Iterator[Block]:
    rows = [
        (_in(one.qualname), code(each.clock), expression(each.result, 40), facts.lines(each.span))
        for one in facts.detail.everywhere()
        for each in one.timed
    ]
    if rows:
        yield Heading(3, "Timed sections")
        yield from table(("In", "Clock", "Result", "Lines"), rows, "Timed sections")


def _device(facts: SectionFacts) -> Iterator[Block]:
    for title, kinds in (
        ("Synchronisation points", _WAITS),
        ("Memory and transfers", _MEMORY),
        ("Device operations", None),
    ):
        rows = [
            (plain(each.kind), facts.quoted(each.text, each.line), unmarked(each.why), facts.at(each.line))
            for one in facts.detail.everywhere()
            for each in one.device
            if (each.kind in kinds if kinds else each.kind not in (*_WAITS, *_MEMORY))
        ]
        if rows:
            yield Heading(3, title)
            yield from table(("Kind", "Operation", "Why", "Where"), rows, title)


def _parallel(facts: SectionFacts) -> Iterator[Block]:
    rows = [
        (
            plain(each.kind),
            facts.quoted(each.text, each.line),
            expression(each.workers, 30),
            expression(each.target, 40),
            plain(each.start_method),
            facts.at(each.line),
        )
        for one in facts.detail.everywhere()
        for each in one.parallel
    ]
    if rows:
        yield Heading(3, "Parallelism")
        yield from table(("Kind", "How", "Workers", "Runs", "Start method", "Where"), rows, "Parallelism")


def _in(qualname: str) -> str:
    return code(qualname) if qualname else "module"
