"""`<folder>-overview.md`: a folder's survey and the pages of its files in; its tree, parts and links out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from forwardbook.book.blocks import Block, Bullets, Heading, Paragraph, Table
from forwardbook.book.inline import code, link, plain
from forwardbook.book.repository.api import cited
from forwardbook.book.repository.counts import count_table
from forwardbook.book.repository.diagrams import class_diagrams, import_flowchart_of_files
from forwardbook.book.repository.native import native_section
from forwardbook.book.repository.packages import package
from forwardbook.book.repository.sentences import about
from forwardbook.book.repository.survey import Survey, is_below
from forwardbook.book.repository.tree import tree


def overview(survey: Survey, pages: Mapping[str, str]) -> tuple[Block, ...]:
    """The overview of a folder; `pages` maps each documented file to the name of its page."""
    said = package(survey, survey.scope).says
    return (
        Heading(1, f"Overview of {plain(survey.name)}"),
        Heading(2, "Summary"),
        Paragraph(f"{said or 'The folder does not say what it is for.'} Folder: {_folder(survey)}."),
        count_table(survey, survey.scope),
        Heading(2, "Map"),
        tree(survey),
        Heading(2, "Files"),
        _files(survey, pages),
        *_begin(survey),
        Heading(2, "How the files depend on each other"),
        *import_flowchart_of_files(survey, tuple(survey.code)),
        *class_diagrams(survey, survey.code),
        *_outward(survey),
        *native_section(survey),
        *problems(survey),
    )


def problems(survey: Survey) -> Iterator[Block]:
    """What could not be read, by file and line."""
    lines = [
        f"{code(path)}: {f'line {each.line}: ' if each.line else ''}{plain(each.what)}"
        for path, facts in survey.files.items()
        for each in facts.problems
    ]
    lines += [
        f"{plain(path)}: {plain(why)}"
        for path, why in survey.repository.skipped
        if is_below(path, survey.scope)
    ]
    if lines:
        yield Heading(2, "What could not be read")
        yield Bullets(tuple(lines))


def _folder(survey: Survey) -> str:
    return plain(survey.name) if survey.scope == "." else code(survey.scope)


def _files(survey: Survey, pages: Mapping[str, str]) -> Table:
    rows = tuple(
        (
            code(path),
            link("page", pages[path]) if path in pages else "none",
            facts.language,
            str(facts.lines),
            about(facts),
        )
        for path, facts in survey.files.items()
    )
    return Table(("File", "Page", "Language", "Lines", "What it is for"), rows)


def _begin(survey: Survey) -> Iterator[Block]:
    api = survey.main_api[:20]
    if api:
        yield Heading(2, "Where to begin")
        yield Bullets(tuple(cited(each) for each in api))


def _outward(survey: Survey) -> Iterator[Block]:
    """Files outside of the folder that import from it or that it imports."""
    inside = set(survey.files)
    used = sorted({other for path in inside for other in survey.graph.imports_of(path)} - inside)
    users = sorted({other for path in inside for other in survey.graph.imported_by(path)} - inside)
    for title, found in (("Imports from outside of the folder", used), ("Imported from outside", users)):
        if found:
            yield Heading(2, title)
            yield Bullets(tuple(code(path) for path in found[:60]))
