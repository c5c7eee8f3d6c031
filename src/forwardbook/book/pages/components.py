"""The components of a Python file: public ones in an overview and in depth, internal ones in a table."""

from __future__ import annotations

from collections.abc import Iterator

from forwardbook.analyzers.detail.facts import ClassDetail, FunctionDetail
from forwardbook.analyzers.index.facts import Definition, Import
from forwardbook.book.blocks import Block, Heading, Paragraph
from forwardbook.book.inline import code, prose
from forwardbook.book.pages.class_parts import class_parts
from forwardbook.book.pages.functions import function
from forwardbook.book.pages.metadata import module_text
from forwardbook.book.pages.section import SectionFacts, first_sentence, section, table


def components(facts: SectionFacts) -> tuple[Block, ...]:
    """Public names first; a generated file shows nothing else."""
    blocks = [*_overview(facts), *_exports(facts), *_depth(facts)]
    if not facts.facts.generated_by:
        blocks += _internal(facts)
    return section("Components", blocks or [Paragraph("The file defines no class and no function.")])


def _overview(facts: SectionFacts) -> Iterator[Block]:
    rows = [_row(facts, each) for each in facts.public]
    if rows:
        yield Heading(3, "Public interface")
        yield from table(("Symbol", "Kind", "Where", "What it does"), rows)


def _row(facts: SectionFacts, one: Definition) -> tuple[str, str, str, str]:
    words = "async " if one.is_async else ""
    said = prose(first_sentence(one.docstring))
    return code(one.qualname), f"{words}{one.kind}", facts.over(one.span), said


def _exports(facts: SectionFacts) -> Iterator[Block]:
    """What a package hands on from its modules."""
    if not facts.path.endswith("__init__.py"):
        return
    rows = [
        (
            code(each.alias or each.name),
            module_text(facts, "." * each.level + each.module),
            facts.at(_line(facts, each)),
        )
        for each in facts.facts.imports
        if each.name
        and each.name != "*"
        and (each.level or each.module.partition(".")[0] in facts.context.around.first_party)
    ]
    if rows:
        yield Heading(3, "Names taken from other modules")
        yield from table(("Name", "Taken from", "Where"), rows, "Names")


def _line(facts: SectionFacts, one: Import) -> int:
    """The line of the name itself, where an import takes several lines."""
    return facts.line_of(one.alias or one.name, one.line, 400)


def _depth(facts: SectionFacts) -> Iterator[Block]:
    shown: set[tuple[str, int]] = set()
    for each in _in_order(facts):
        place = (each.qualname, each.span.start)
        if place in shown:
            continue
        shown.add(place)
        if isinstance(each, ClassDetail):
            yield from class_parts(facts, each)
        else:
            yield from function(facts, each)


def _in_order(facts: SectionFacts) -> list[ClassDetail | FunctionDetail]:
    """Public classes and functions of the file's own level, in the order of the source."""
    detail = facts.detail
    names = {each.qualname for each in facts.public}
    functions = [each for each in detail.functions if not each.parent and each.qualname in names]
    classes = [each for each in detail.classes if each.is_public and _is_outer(facts, each)]
    found: list[ClassDetail | FunctionDetail] = [*classes, *functions]
    return sorted(found, key=lambda each: each.span.start)


def _is_outer(facts: SectionFacts, one: ClassDetail) -> bool:
    """Whether no function is around the class, and every class around it is public."""
    owner = one.qualname.rpartition(".")[0]
    while owner:
        around = facts.definitions.get(owner)
        if around is None or around.kind != "class" or not around.is_public:
            return False
        owner = owner.rpartition(".")[0]
    return True


def _internal(facts: SectionFacts) -> Iterator[Block]:
    rows = [_row(facts, each) for each in facts.facts.definitions if _is_internal(facts, each)]
    if rows:
        yield Heading(3, "Internal components")
        yield from table(("Symbol", "Kind", "Where", "What it does"), rows, "Internal components")


def _is_internal(facts: SectionFacts, one: Definition) -> bool:
    """Private names of the file's own level, and all that stands in private classes and in functions."""
    if not one.parent:
        return not one.is_public
    around = facts.definitions.get(one.parent)
    if around is None:
        return False
    return around.kind != "class" or _is_internal(facts, around) or one.kind == "class" and not one.is_public
