"""README.md of the set: a survey in; what the repository is, how to begin, and its topics out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from forwardbook.book.blocks import Block, Bullets, Code, Heading, Paragraph, Table
from forwardbook.book.inline import code, link, plain, where
from forwardbook.book.repository.api import cited, signature
from forwardbook.book.repository.packages import Package, api_of, packages
from forwardbook.book.repository.sentences import about, says
from forwardbook.book.repository.survey import Survey

MOST: Final = 12


def readme(survey: Survey) -> tuple[Block, ...]:
    """Getting started, by topic."""
    return (
        Heading(1, f"Getting started with {plain(survey.name)}"),
        *_what(survey),
        Heading(2, "Set-up"),
        *_set_up(survey),
        Heading(2, "Where to begin"),
        *_begin(survey),
        Heading(2, "By topic"),
        *(block for each in packages(survey) for block in _topic(survey, each)),
        Heading(2, "Further on"),
        Bullets(
            (
                f"{link('The map', 'STRUCTURE.md')}: folders and files, and who imports whom.",
                f"{link('The technical reference', 'SUMMARY.md')}: classes, API, traces, with exact lines.",
                f"{link('One page', 'QUICK_REFERENCE.md')}: what is looked up most.",
                f"{link('The index', 'INDEX.md')}: statistics, and what this set answers.",
            )
        ),
    )


def _what(survey: Survey) -> Iterator[Block]:
    project = survey.project
    if project.description:
        yield Paragraph(plain(project.description))
    tops = [each for each in survey.code if each.path.count("/") <= 2 and each.path.endswith("__init__.py")]
    top = min((each for each in tops if each.docstring), key=lambda each: each.path.count("/"), default=None)
    if top is not None:
        yield Paragraph(f"{about(top, 400)} ({code(top.path)})")


def _set_up(survey: Survey) -> Iterator[Block]:
    project = survey.project
    if not project.name:
        yield Paragraph(
            "No project file names this code, so there is nothing to install: use it where it is."
        )
        return
    command = f"pip install {project.name}" if project.origin.endswith("METADATA") else "pip install ."
    yield Code("sh", command)
    rows = [
        ("Name", plain(project.name)),
        ("Version", plain(project.version)),
        ("Python", plain(project.requires_python)),
        ("Said in", plain(project.origin)),
        ("Needs", plain(", ".join(project.dependencies))),
    ]
    yield Table(("Property", "Value"), tuple(row for row in rows if row[1]))


def _begin(survey: Survey) -> Iterator[Block]:
    if survey.project.scripts:
        yield Paragraph("Commands:")
        yield Bullets(tuple(f"{plain(name)} runs {plain(place)}" for name, place in survey.project.scripts))
    scripts = [each for each in survey.code if each.has_main]
    if scripts:
        yield Paragraph("Files that can be run:")
        yield Bullets(tuple(f"{code(each.path)}: {about(each)}" for each in scripts[:MOST]))
    if survey.main_api:
        yield Paragraph("The user-facing functions and classes of most weight:")
        yield Table(
            ("Symbol", "Where", "What it does"),
            tuple(
                (
                    code(each.definition.qualname),
                    where(each.path, each.definition.span),
                    says(each.definition),
                )
                for each in survey.main_api[:MOST]
            ),
        )


def _topic(survey: Survey, one: Package) -> Iterator[Block]:
    yield Heading(3, code(one.title))
    yield Paragraph(f"{one.says or 'The package does not say what it is for.'} Folder: {code(one.folder)}.")
    api = api_of(survey, one.folder)
    if api:
        yield Bullets(tuple(cited(each) for each in api[:6]))
        functions = (each for each in api if each.definition.kind == "function" and each.definition.signature)
        first = next(functions, None)
        if first is not None:
            yield signature(first)
    else:
        yield Bullets(tuple(f"{code(each.path)}: {about(each)}" for each in one.files[:6]))
