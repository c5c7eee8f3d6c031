"""Native code: a survey in; kernels, their launches and the names that Python calls them by out."""

from __future__ import annotations

from collections.abc import Iterator

from forwardbook.analyzers.index.facts import FileFacts
from forwardbook.book.blocks import Block, Bullets, Heading, Paragraph, Table
from forwardbook.book.inline import code, plain, where
from forwardbook.book.repository.sentences import says
from forwardbook.book.repository.survey import NATIVE, Place, Survey
from forwardbook.book.repository.traces import Tracer, chain_line

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
    yield from _from_python(survey, {each.name for _, each in bindings})
    if bindings:
        yield Heading(3, "Bindings to Python")
        yield Table(
            ("Module", "Name in Python", "Function", "Where"),
            tuple(
                (plain(each.module), plain(each.name), code(each.function), where(path, each.line))
                for path, each in bindings
            ),
        )


def _from_python(survey: Survey, bound: set[str]) -> Iterator[Block]:
    """Python functions that call a bound name, each down to the kernels that run for it."""
    tracer = Tracer(survey)
    lines: list[str] = []
    for facts in survey.code:
        for each in facts.definitions if facts.language == "python" and bound else ():
            if any(call.target.rpartition(".")[2] in bound for call in each.calls):
                place = Place(facts.path, each)
                if any(edge.form == "binding" for edge in tracer.edges(facts.path, each.qualname)):
                    lines += [chain_line(survey, chain) for chain in tracer.launches(place)]
    if lines:
        yield Heading(3, "From Python to the kernel")
        yield Bullets(tuple(dict.fromkeys(lines)))


def _clip(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"
