"""INDEX.md: a survey and the other pages as written in; statistics and the answered checklist out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from forwardbook.book.blocks import Block, Bullets, Heading, Paragraph, Table
from forwardbook.book.inline import code, link, plain
from forwardbook.book.repository.checks import Pages, built_in, findings
from forwardbook.book.repository.counts import count_table
from forwardbook.book.repository.requirements import answer, items
from forwardbook.book.repository.survey import Survey

ANSWERS = {
    "README.md": "What is this, how do I begin, where is which topic?",
    "STRUCTURE.md": "What lies where, and who imports whom?",
    "SUMMARY.md": "What does each class and function look like, and what does a call lead to?",
    "QUICK_REFERENCE.md": "What is looked up most, on one page.",
}


def index(survey: Survey, pages: Pages, checklist: str | None = None) -> tuple[Block, ...]:
    """The index; `checklist` is the text of a Markdown file, without one the built-in list is answered."""
    return (
        Heading(1, f"Index of {plain(survey.name)}"),
        Paragraph(
            "Every statement of these documents that names a symbol, a line, a count or a relation "
            "was held against the source before it was written."
        ),
        Heading(2, "Documents"),
        *_documents(pages),
        Heading(2, "Statistics"),
        count_table(survey, survey.scope),
        *_readers(survey),
        Heading(2, "Requirements"),
        *_requirements(survey, pages, checklist),
        *_problems(survey),
    )


def _documents(pages: Pages) -> Iterator[Block]:
    rows = [
        (link(plain(name), name), ANSWERS.get(name, "One file or folder in depth."))
        for name in (*ANSWERS, *(name for name in pages if name not in ANSWERS))
        if name in pages
    ]
    yield Table(("Document", "What it answers"), tuple(rows))


def _readers(survey: Survey) -> Iterator[Block]:
    """How the source files could be read."""
    read = Counter(each.parser for each in (*survey.code, *survey.tests))
    if len(read) > 1:
        names = {
            "ast": "Python's own parser",
            "libcst": "LibCST, for newer syntax",
            "tree-sitter": "tree-sitter",
            "none": "not read",
        }
        yield Heading(3, "How files were read")
        yield Table(
            ("Reader", "Source files"), tuple((names[key], str(count)) for key, count in read.most_common())
        )


def _requirements(survey: Survey, pages: Pages, checklist: str | None) -> Iterator[Block]:
    found = findings(survey, pages)
    head = ("Requirement", "State", "Check", "Evidence")
    if checklist is None:
        yield Table(
            head,
            tuple(
                (each.says, _state(found[each.name].holds), each.name, found[each.name].evidence)
                for each in built_in(survey)
            ),
        )
        return
    answers = [answer(item, survey, found) for item in items(checklist)]
    if not answers:
        yield Paragraph("The checklist that was given holds no list items.")
        return
    met = sum(each.is_met for each in answers)
    yield Paragraph(
        f"{met} of {len(answers)} met. An item is met only if every check that it asks for passed."
    )
    yield Table(
        head,
        tuple(
            (plain(each.item), _state(each.is_met), ", ".join(each.checks) or "none", each.evidence)
            for each in answers
        ),
    )


def _state(is_met: bool) -> str:
    return "met" if is_met else "not met"


def _problems(survey: Survey) -> Iterator[Block]:
    lines = [
        f"{code(path)}: {f'line {each.line}: ' if each.line else ''}{plain(each.what)}"
        for path, facts in survey.files.items()
        for each in facts.problems
    ]
    lines += [f"{plain(path)}: {plain(why)}" for path, why in survey.repository.skipped]
    if lines:
        yield Heading(2, "What could not be read")
        yield Bullets(tuple(lines))
