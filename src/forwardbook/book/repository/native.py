"""Native code: a survey in; kernels, their launches and the names that Python calls them by out."""

from __future__ import annotations

from collections.abc import Iterator

from forwardbook.analyzers.index.facts import FileFacts
from forwardbook.book.blocks import Block, Heading, Paragraph, Table
from forwardbook.book.inline import code, plain, where
from forwardbook.book.repository.sentences import says
from forwardbook.book.repository.survey import NATIVE, Survey

WIDTH = 60


def native_files(survey: Survey) -> tuple[FileFacts, ...]:
    """The C, C++ and CUDA files."""
    return tuple(each for each in (*survey.code, *survey.tests) if each.language in NATIVE)


def native_section(survey: Survey) -> Iterator[Block]:
    """Kernels, launches and bindings; nothing where there is no native code."""
    files = native_files(survey)
    if not files:
        return
    kernels = [(facts.path, each) for facts in files for each in facts.definitions if each.kind == "kernel"]
    launches = [
        (facts.path, each, one) for facts in files for each in facts.definitions for one in each.launches
    ]
    bindings = [(facts.path, each) for facts in files for each in facts.bindings]
    yield Heading(2, "Native code")
    if kernels:
        yield Heading(3, "Kernels")
        rows = tuple(
            (code(each.qualname), where(path, each.span), plain(_clip(each.signature)), says(each, 100))
            for path, each in kernels
        )
        yield Table(("Kernel", "Where", "Signature", "What it does"), rows)
    if launches:
        yield Heading(3, "Launches")
        yield Paragraph("A launch inside a macro stands where the macro is defined.")
        yield Table(
            ("From", "Relation", "To", "Where", "Grid", "Block", "Shared memory", "Stream"),
            tuple(
                (
                    code(each.qualname),
                    "launches",
                    code(one.kernel),
                    where(path, one.line),
                    *(
                        plain(_clip(text)) or "default"
                        for text in (one.grid, one.block, one.shared, one.stream)
                    ),
                )
                for path, each, one in launches
            ),
        )
    if bindings:
        yield Heading(3, "Bindings to Python")
        yield Table(
            ("Module", "Name in Python", "Function", "Where"),
            tuple(
                (plain(each.module), plain(each.name), code(each.function), where(path, each.line))
                for path, each in bindings
            ),
        )


def _clip(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"
