"""The part in focus: a survey in; who imports it, and what it calls outside of the repository, out."""

from __future__ import annotations

from collections.abc import Iterator

from forwardbook.book.blocks import Block, Heading, Paragraph, Table
from forwardbook.book.inline import code, where
from forwardbook.book.repository.sentences import about
from forwardbook.book.repository.survey import Survey, is_below
from forwardbook.book.repository.traces import Tracer


def focus_section(survey: Survey) -> Iterator[Block]:
    """Nothing where no part is in focus."""
    if not survey.in_focus:
        return
    yield Heading(2, "Who imports the focus")
    rows = tuple(_importers(survey))
    if rows:
        yield Table(("From", "Relation", "To", "What it is for"), rows)
    else:
        yield Paragraph("No file outside of it imports it.")
    yield Heading(2, "What the focus calls outside of the repository")
    outside = tuple(_outside(survey))
    if outside:
        yield Table(("From", "Relation", "To", "Where"), outside)
    else:
        yield Paragraph("Nothing but what Python itself brings.")


def _importers(survey: Survey) -> Iterator[tuple[str, ...]]:
    for facts in survey.in_focus:
        for user in survey.graph.imported_by(facts.path):
            if not is_below(user, survey.focus) and user in survey.files:
                yield code(user), "imports", code(facts.path), about(survey.files[user], 100)


def _outside(survey: Survey) -> Iterator[tuple[str, ...]]:
    tracer = Tracer(survey)
    for facts in survey.in_focus:
        for caller in ("", *dict.fromkeys(each.qualname for each in facts.definitions)):
            for edge in tracer.edges(facts.path, caller):
                if edge.how == "external" and "." in edge.callee:
                    name = code(caller or facts.path)
                    yield name, "calls", code(edge.callee), where(edge.path, edge.line)
