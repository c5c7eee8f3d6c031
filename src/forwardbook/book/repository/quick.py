"""QUICK_REFERENCE.md of the set: a survey in; one page with what is looked up most out."""

from __future__ import annotations

from collections.abc import Iterator

from forwardbook.book.blocks import Block, Bullets, Code, Heading, Paragraph, Table
from forwardbook.book.inline import code, link, plain, where
from forwardbook.book.repository.diagrams import import_flowchart
from forwardbook.book.repository.packages import imports_between, packages
from forwardbook.book.repository.sentences import says
from forwardbook.book.repository.survey import Survey


def quick_reference(survey: Survey) -> tuple[Block, ...]:
    """One page."""
    return (
        Heading(1, f"Quick reference of {plain(survey.name)}"),
        *_overview(survey),
        *_functions(survey),
        *_classes(survey),
        *_commands(survey),
        Heading(2, "Where to look further"),
        Bullets(
            (
                f"{link('Getting started', 'README.md')}",
                f"{link('Map', 'STRUCTURE.md')}",
                f"{link('Reference', 'SUMMARY.md')}",
                f"{link('Index', 'INDEX.md')}",
            )
        ),
    )


def _overview(survey: Survey) -> Iterator[Block]:
    found = packages(survey)
    if survey.project.description:
        yield Paragraph(plain(survey.project.description))
    if found:
        yield Heading(2, "Packages")
        rows = tuple((code(each.folder), each.says or "says nothing of itself") for each in found[:16])
        yield Table(("Folder", "What it is for"), rows)
        yield from import_flowchart(imports_between(survey, found[:16]), most=20)


def _functions(survey: Survey) -> Iterator[Block]:
    functions = [place for place in survey.main_api if place.definition.kind == "function"][:20]
    if functions:
        yield Heading(2, "Functions")
        yield Table(
            ("Function", "Where", "What it does"),
            tuple(
                (
                    code(each.definition.qualname),
                    where(each.path, each.definition.span),
                    says(each.definition, 100),
                )
                for each in functions
            ),
        )


def _classes(survey: Survey) -> Iterator[Block]:
    if survey.key_classes:
        yield Heading(2, "Classes")
        yield Table(
            ("Class", "Where", "What it does"),
            tuple(
                (
                    code(each.definition.qualname),
                    where(each.path, each.definition.span),
                    says(each.definition, 100),
                )
                for each in survey.key_classes[:16]
            ),
        )


def _commands(survey: Survey) -> Iterator[Block]:
    runnable = [each.path for each in survey.code if each.has_main][:10]
    if not runnable and not survey.project.scripts:
        return
    yield Heading(2, "Commands")
    if survey.project.scripts:
        yield Bullets(tuple(f"{plain(name)}: {plain(place)}" for name, place in survey.project.scripts))
    if runnable:
        yield Code("sh", "\n".join(f"python {path}" for path in runnable))
