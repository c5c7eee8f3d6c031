"""SUMMARY.md: a survey in; key classes, traces, native code and API reference, with exact lines, out."""

from __future__ import annotations

from collections.abc import Iterator

from forwardbook.book.blocks import Block, Details, Heading, Paragraph
from forwardbook.book.inline import code, plain
from forwardbook.book.repository.api import api_reference, tests_reference
from forwardbook.book.repository.classes import class_index, class_section
from forwardbook.book.repository.focus import focus_section
from forwardbook.book.repository.native import native_section
from forwardbook.book.repository.survey import Survey
from forwardbook.book.repository.traces import traces


def reference(survey: Survey) -> tuple[Block, ...]:
    """The technical reference."""
    return (
        Heading(1, f"Technical reference of {plain(survey.name)}"),
        Paragraph(
            "Each symbol stands with the file and the first and last line of its definition, "
            "counted from `def` or `class`, decorators left out."
        ),
        *_classes(survey),
        Heading(2, "Traces"),
        Paragraph(
            "From each user-facing function or constructor down to the lowest level that the source tells. "
            "A call found by name and type is exact; one that an override may take is possible."
        ),
        *traces(survey),
        *focus_section(survey),
        *native_section(survey),
        Heading(2, "API reference"),
        Paragraph("Every public class, function and method, file by file."),
        *api_reference(survey),
        *_tests(survey),
    )


def _classes(survey: Survey) -> Iterator[Block]:
    if not survey.key_classes:
        return
    yield Heading(2, "Key classes")
    if survey.focus:
        yield Paragraph(f"Those of {code(survey.focus)} come first.")
    yield class_index(survey)
    for place in survey.key_classes:
        yield from class_section(survey, place)


def _tests(survey: Survey) -> Iterator[Block]:
    tables = tuple(tests_reference(survey))
    if tables:
        yield Heading(2, "Tests")
        yield Details("Classes and functions of the tests", tables)
