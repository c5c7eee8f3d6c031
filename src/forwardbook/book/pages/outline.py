"""The components of a file that is described by its definitions alone: native code, broken Python."""

from __future__ import annotations

from collections.abc import Iterator

from forwardbook.analyzers.index.facts import Definition, Raised
from forwardbook.book.blocks import Block, Code, Details, Heading, Paragraph, Quote
from forwardbook.book.inline import cite, clip, code, codes, prose
from forwardbook.book.pages.section import (
    CLASSES,
    MANY,
    SectionFacts,
    expression,
    first_sentence,
    section,
    sentence,
    table,
)
from forwardbook.book.signatures import wrapped

_PUBLIC = "Public interface"
_FENCES = {"c": "c", "cpp": "cpp", "cuda": "cuda", "python": "python"}
_MAIN = CLASSES | {"kernel"}
_IN_DEPTH = frozenset({"function", "method", "kernel", "property", *CLASSES, "enum"})


def outline(facts: SectionFacts) -> tuple[Block, ...]:
    """An overview, then the public definitions one by one, then the others in a table."""
    public = [each for each in facts.facts.definitions if each.is_public]
    rest = [each for each in facts.facts.definitions if not each.is_public]
    blocks = [*_overview(facts, public, _PUBLIC), *_bindings(facts)]
    always = _IN_DEPTH if len(public) <= MANY else _MAIN
    for each in public:
        if (
            (each.kind in always or each.docstring)
            and each.kind in _IN_DEPTH
            and not (facts.facts.generated_by and each.parent)
        ):
            blocks += _one(facts, each)
    if not facts.facts.generated_by:
        blocks += _overview(facts, rest, "Internal components")
    return section("Components", blocks or [Paragraph("The file defines no class and no function.")])


def _overview(facts: SectionFacts, listed: list[Definition], title: str) -> Iterator[Block]:
    rows = [
        (code(each.qualname), _kind(each), facts.over(each.span), prose(first_sentence(each.docstring)))
        for each in listed
    ]
    if rows:
        yield Heading(3, title)
        folded = "" if title == _PUBLIC else title
        yield from table(("Symbol", "Kind", "Where", "What it does"), rows, folded)


def _kind(one: Definition) -> str:
    return f"{one.kind} (declared)" if one.is_declaration else one.kind


def _one(facts: SectionFacts, one: Definition) -> Iterator[Block]:
    yield Heading(3 if not one.parent else 4, code(one.qualname))
    template = [each for each in one.decorators if each.startswith("template")]
    if not one.signature:
        yield Paragraph(sentence(f"{cite(one.qualname, facts.shown, one.span)}: {_kind(one)}"))
    else:
        language = _FENCES.get(facts.facts.language, "cpp")
        text = wrapped(one.signature.rstrip(";{ ")) + (": ..." if language == "python" else ";")
        yield Code(language, text, f"{facts.shown}:{one.span.start}-{one.span.end}")
    if template:
        yield Paragraph(f"**Template**: {', '.join(expression(each, 100) for each in template)}.")
    if one.docstring.strip():
        yield Quote(clip(one.docstring.strip().split("\n\n")[0], 500))
        if len(one.docstring.split()) > 90:
            yield Details("Comment in full", (Code("text", one.docstring.strip()),))
    bases = [each for each in one.bases if each.replace("::", "").replace("_", "").isalnum()]
    if bases and one.kind in CLASSES:
        yield Paragraph(f"{code(one.qualname)} inherits from {codes(bases)}.")
    yield from _attributes(facts, one)
    rows = [
        (_exception(each), expression(each.condition, 90) or "always", facts.at(each.line))
        for each in one.raised
        if each.exception
    ]
    yield from table(("Raises", "When", "Where"), rows, "Raised exceptions")


def _exception(one: Raised) -> str:
    return code(one.exception.partition("(")[0].strip()) or "the exception caught"


def _attributes(facts: SectionFacts, one: Definition) -> Iterator[Block]:
    rows = [
        (code(each.name), expression(each.annotation, 50), expression(each.value, 40), facts.at(each.line))
        for each in one.attributes
    ]
    yield from table(("Attribute", "Type", "Value", "Where"), rows, "Attributes")


def _bindings(facts: SectionFacts) -> Iterator[Block]:
    """What the file makes callable from Python."""
    rows = [
        (
            code(f"{each.module}.{each.name}" if each.module else each.name),
            expression(each.function, 60),
            facts.at(each.line),
        )
        for each in facts.facts.bindings
    ]
    if rows:
        yield Heading(3, "Bound for Python")
        yield Paragraph("These names are callable from Python and lead to the functions beside them:")
        yield from table(("Name in Python", "Function", "Where"), rows, "Bindings")
        relations = [(code(facts.path), "binds", code(_name(each.function)), facts.at(each.line))
                     for each in facts.facts.bindings if _name(each.function)]  # fmt: skip
        yield from table(("From", "Relation", "To", "Where"), relations, "Bindings as relations")


def _name(function: str) -> str:
    name = function.lstrip("&* ").partition("<")[0].strip()
    return name if name.replace("::", "").replace("_", "").isalnum() else ""
