"""Key classes in; their signature, heirs, attributes and methods with exact lines out."""

from __future__ import annotations

from collections.abc import Iterator

from forwardbook.analyzers.index.facts import Definition
from forwardbook.book.blocks import Block, Bullets, Heading, Paragraph, Table
from forwardbook.book.inline import cite, code, plain, where
from forwardbook.book.repository.api import signature
from forwardbook.book.repository.sentences import says
from forwardbook.book.repository.survey import Place, Survey

MOST_ROWS = 40


def class_index(survey: Survey) -> Table:
    """The key classes with their exact lines, one row each."""
    rows = tuple(
        (
            code(place.definition.qualname),
            where(place.path, place.definition.span),
            plain(", ".join(place.definition.bases)) or "none",
            says(place.definition),
        )
        for place in survey.key_classes
    )
    return Table(("Class", "Where", "Bases", "What it does"), rows)


def class_section(survey: Survey, place: Place) -> Iterator[Block]:
    """One class in depth."""
    one = place.definition
    yield Heading(3, code(one.qualname))
    yield Paragraph(f"{cite(one.qualname, place.path, one.span)}. {says(one, 300)}".strip())
    if one.signature:
        yield signature(place)
    members = _members(survey, place)
    if one.attributes:
        shown = one.attributes[:MOST_ROWS]
        yield Table(
            ("Attribute", "Where", "Type", "Value"),
            tuple(
                (
                    code(f"{one.name}.{each.name}"),
                    where(place.path, each.line),
                    plain(each.annotation),
                    plain(each.value[:60] + ("…" if len(each.value) > 60 else "")),
                )
                for each in shown
            ),
        )
    if members:
        yield Table(
            ("Method", "Where", "What it does"),
            tuple((code(each.qualname), where(place.path, each.span), says(each, 120)) for each in members),
        )
    heirs = _heirs(survey, place)
    if heirs:
        yield Paragraph("Classes that extend it:")
        yield Bullets(
            tuple(cite(heir.definition.qualname, heir.path, heir.definition.span) for heir in heirs)
        )


def _members(survey: Survey, place: Place) -> list[Definition]:
    """Public methods and the constructor, in the order of the source."""
    facts = survey.repository.files[place.path]
    return [
        each
        for each in facts.definitions
        if each.parent == place.definition.qualname
        and (each.is_public or each.name in ("__init__", "__call__", "__enter__", "__exit__"))
    ][:MOST_ROWS]


def _heirs(survey: Survey, place: Place) -> list[Place]:
    found = (survey.place(*each) for each in survey.graph.subclasses(place.path, place.definition.qualname))
    return [each for each in found if each is not None][:MOST_ROWS]
