"""The API reference: a survey in; every public class, function and method with its exact lines out."""

from __future__ import annotations

from collections.abc import Iterator

from forwardbook.analyzers.index.facts import Definition, FileFacts
from forwardbook.book.blocks import Block, Code, Heading, Paragraph, Table
from forwardbook.book.inline import cite, code, where
from forwardbook.book.repository.sentences import about, says
from forwardbook.book.repository.survey import NATIVE, Place, Survey, is_below, public
from forwardbook.book.signatures import wrapped

HEAD = ("Symbol", "Kind", "Where", "What it does")


def api_reference(survey: Survey) -> Iterator[Block]:
    """A table per source file, folder by folder; of the focus the signatures too."""
    for facts in survey.code:
        listed = public(facts)
        if listed:
            yield Heading(3, module_title(facts))
            yield Paragraph(f"{code(facts.path)}. {about(facts)}".strip())
            yield symbol_table(facts, listed)
            if survey.focus and is_below(facts.path, survey.focus):
                yield from (signature(Place(facts.path, each)) for each in listed if each.signature)


def tests_reference(survey: Survey) -> Iterator[Block]:
    """The classes and functions of each test file."""
    rows = [
        (code(each.qualname), each.kind, where(facts.path, each.span), says(each, 100))
        for facts in survey.tests
        for each in public(facts)
        if not each.parent
    ]
    if rows:
        yield Table(HEAD, tuple(rows))


def symbol_table(facts: FileFacts, listed: tuple[Definition, ...]) -> Table:
    """One row per definition, in the order of the source."""
    return Table(
        HEAD,
        tuple(
            (code(each.qualname), _kind(each), where(facts.path, each.span), says(each)) for each in listed
        ),
    )


def signature(place: Place) -> Code:
    """The signature as it stands in the source."""
    language = "python" if place.path.endswith((".py", ".pyi", ".ipynb")) else "cpp"
    span = place.definition.span
    ending = ": ..." if language == "python" else ";"
    text = wrapped(place.definition.signature.rstrip(" :;{")) + ending
    return Code(language, text, f"{place.path}:{span.start}-{span.end}")


def module_title(facts: FileFacts) -> str:
    """A file as a heading: its module name where it can be imported, else its path."""
    return code(facts.module if facts.module and facts.language not in NATIVE else facts.path)


def _kind(definition: Definition) -> str:
    words = "async " if definition.is_async else ""
    return f"{words}{definition.kind}"


def cited(place: Place) -> str:
    """A definition with its exact lines and what it says of itself."""
    one = place.definition
    said = says(one)
    return f"{cite(one.qualname, place.path, one.span)}{f': {said}' if said else ''}"
