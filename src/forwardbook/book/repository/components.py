"""`<feature>-components.md`: a survey and several files in; what each is and how they interact out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from forwardbook.analyzers.index.facts import Edge, FileFacts
from forwardbook.book.blocks import Block, Heading, Paragraph, Table
from forwardbook.book.inline import code, link, plain
from forwardbook.book.repository.api import symbol_table
from forwardbook.book.repository.counts import count_table
from forwardbook.book.repository.diagrams import call_sequences, class_diagrams, import_flowchart_of_files
from forwardbook.book.repository.overview import problems
from forwardbook.book.repository.sentences import about
from forwardbook.book.repository.survey import Survey, public
from forwardbook.book.repository.traces import HEAD, row

MOST_ROWS = 120


def components(
    survey: Survey, feature: str, files: tuple[FileFacts, ...], pages: Mapping[str, str]
) -> tuple[Block, ...]:
    """The page about files that belong together."""
    between = tuple(calls_between(survey, files))
    return (
        Heading(1, f"Components of {plain(feature)}"),
        Heading(2, "Summary"),
        Paragraph(_summary(files, between)),
        Heading(2, "Components"),
        *(block for each in files for block in _component(survey, each, pages)),
        Heading(2, "How they interact"),
        *_interaction(survey, files, between),
        *problems(survey),
    )


def calls_between(survey: Survey, files: tuple[FileFacts, ...]) -> Iterator[Edge]:
    """The calls from one of the files into another."""
    inside = {facts.path for facts in files}
    for facts in files:
        for caller in ("", *dict.fromkeys(each.qualname for each in facts.definitions)):
            for edge in survey.graph.edges_from(facts.path, caller):
                if edge.callee_path in inside and edge.callee_path != facts.path:
                    yield edge


def _summary(files: tuple[FileFacts, ...], between: tuple[Edge, ...]) -> str:
    names = ", ".join(code(each.path) for each in files[:12])
    more = " and others" if len(files) > 12 else ""
    pairs = {(each.path, each.callee_path) for each in between}
    how = f"Calls lead between {len(pairs)} pairs of them." if pairs else "None of them calls another."
    return f"This page is about {len(files)} files: {names}{more}. {how}"


def _component(survey: Survey, facts: FileFacts, pages: Mapping[str, str]) -> Iterator[Block]:
    yield Heading(3, code(facts.path))
    where = f" {link('Its page', pages[facts.path])}." if facts.path in pages else ""
    yield Paragraph(f"{about(facts, 300)}{where}".strip() or "The file says nothing of itself.")
    yield count_table(survey, facts.path)
    listed = public(facts)
    if listed:
        yield symbol_table(facts, listed)


def _interaction(survey: Survey, files: tuple[FileFacts, ...], between: tuple[Edge, ...]) -> Iterator[Block]:
    yield from import_flowchart_of_files(survey, files)
    if between:
        rows = dict.fromkeys(row(survey, each) for each in between)
        yield Table(HEAD, tuple(rows)[:MOST_ROWS])
        yield from call_sequences(survey, between)
    else:
        yield Paragraph("No call from one of these files into another was found.")
    yield from class_diagrams(survey, files)
