"""The files around a file: what it imports, what imports it, its tests and the documents that speak of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from forwardbook.book.blocks import Block, Heading, Paragraph
from forwardbook.book.inline import code, link, plain
from forwardbook.book.pages.kind import is_test
from forwardbook.book.pages.section import SectionFacts, section, table

_MOST = 200


def related(facts: SectionFacts) -> tuple[Block, ...]:
    """Tables of files, each linked to its page where it has one."""
    users = [each for each in sorted(facts.graph.imported_by(facts.path)) if each != facts.path]
    needs = [each for each in sorted(facts.graph.imports_of(facts.path)) if each != facts.path]
    found = [
        *_files(facts, "Imports", [(facts.path, "imports", each, each) for each in needs]),
        *_files(
            facts,
            "Imported by",
            [(facts.path, "is imported by", each, each) for each in users if not is_test(each)],
        ),
        *_files(
            facts, "Tests", [(facts.path, "is imported by", each, each) for each in users if is_test(each)]
        ),
        *_documents(facts),
    ]
    nothing = Paragraph("No other file of the repository imports this one or is imported by it.")
    return section("Related files", found or [nothing])


def _files(facts: SectionFacts, title: str, rows: Iterable[tuple[str, str, str, str]]) -> Iterator[Block]:
    listed = [(code(a), verb, code(b), page_link(facts, c)) for a, verb, b, c in rows][:_MOST]
    if listed:
        yield Heading(3, title)
        yield from table(("From", "Relation", "To", "Page"), listed, title)


def page_link(facts: SectionFacts, path: str) -> str:
    """A link to the page of a file, nothing where it has none."""
    page = facts.context.pages.get(path)
    return link(plain(page.rpartition("/")[2]), page) if page else ""


def _documents(facts: SectionFacts) -> Iterator[Block]:
    names = [facts.path, facts.path.rpartition("/")[2]]
    names = [each for each in names if each != "__init__.py"]
    names += [facts.facts.module] if "." in facts.facts.module else []
    wanted = re.compile(
        rb"(?<![\w.])(?:" + b"|".join(re.escape(each.encode()) for each in names) + rb")(?![\w])"
    )
    found = [
        path
        for path in facts.context.around.documents
        if path != facts.path and wanted.search(facts.context.around.text(path))
    ]
    if found and names:
        yield Heading(3, "Documents that name it")
        yield from table(("Document",), [(code(each),) for each in found[:_MOST]])
