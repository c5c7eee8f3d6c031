"""The architecture of a file: its classes in a class diagram, its imports in a flowchart."""

from __future__ import annotations

import re
from collections.abc import Iterator

from forwardbook.analyzers.index.facts import Definition
from forwardbook.book.blocks import Block, Diagram, Heading, Paragraph
from forwardbook.book.mermaid.classes import Box, Relation, class_diagram
from forwardbook.book.mermaid.flowchart import flowchart
from forwardbook.book.pages.section import CLASSES, SectionFacts, section

_MOST_CLASSES = 14  # boxes in one diagram
_MOST_MEMBERS = 10
_MOST_FILES = 12
_DOTTED = re.compile(r"[A-Za-z_][\w.]*")


def architecture(facts: SectionFacts) -> tuple[Block, ...]:
    """Classes, then dependencies."""
    return section("Architecture", (*_classes(facts), *_dependencies(facts)))


def _classes(facts: SectionFacts) -> Iterator[Block]:
    classes = [
        each for each in facts.definitions.values() if each.kind in CLASSES and not _is_local(facts, each)
    ]
    if not classes:
        return
    yield Heading(3, "Classes")
    for start in range(0, min(len(classes), 5 * _MOST_CLASSES), _MOST_CLASSES):
        some = classes[start : start + _MOST_CLASSES]
        boxes = tuple(_box(facts, each) for each in some)
        relations = [each for one in some for each in _inherits(facts, one)]
        relations += [each for one in some for each in _makes(facts, one, classes)]
        yield Diagram(class_diagram(boxes, tuple(dict.fromkeys(relations))))


def _is_local(facts: SectionFacts, one: Definition) -> bool:
    """Whether a function is around the class."""
    around = facts.definitions.get(one.parent) if one.parent else None
    return around is not None and (around.kind not in CLASSES or _is_local(facts, around))


def _box(facts: SectionFacts, one: Definition) -> Box:
    inside = [each for each in facts.inside(one) if each.kind in ("method", "function", "property")]
    named = [each for each in inside if each.name.isidentifier()]
    shown = [each for each in named if each.is_public or each.name in ("__init__", "__call__")]
    methods = dict.fromkeys(_method(each) for each in shown)
    attributes = dict.fromkeys(each.name for each in one.attributes if not each.name.startswith("_"))
    return Box(one.qualname, tuple(attributes)[:_MOST_MEMBERS], tuple(methods)[:_MOST_MEMBERS])


def _method(one: Definition) -> str:
    names = [f"{each.kind if each.kind in ('*', '**') else ''}{each.name}" for each in one.parameters]
    shown = [each for each in names if each not in ("self", "cls")]
    return f"{one.name}({', '.join(shown[:4])}{', …' if len(shown) > 4 else ''})"


def _inherits(facts: SectionFacts, one: Definition) -> Iterator[Relation]:
    for base in one.bases:
        words = re.sub(r"<.*>|\[.*\]", "", base).split()
        name = words[-1].replace("::", ".") if words else ""
        if (
            "=" not in base
            and _DOTTED.fullmatch(name)
            and name not in ("object", "ABC", "Generic", "Protocol")
        ):
            yield Relation(one.qualname, "inherits from", name)


def _makes(facts: SectionFacts, one: Definition, classes: list[Definition]) -> Iterator[Relation]:
    """Which classes of the file a class makes instances of."""
    names = {each.qualname for each in classes}
    inside = [each for each in facts.facts.definitions if each.qualname.startswith(f"{one.qualname}.")]
    for each in inside:
        for edge in facts.graph.edges_from(facts.path, each.qualname):
            made = edge.callee.removesuffix(".__init__")
            if (
                edge.how == "exact"
                and edge.callee_path == facts.path
                and made in names
                and made != one.qualname
            ):
                yield Relation(one.qualname, "instantiates", made)


def _dependencies(facts: SectionFacts) -> Iterator[Block]:
    needs, users = sorted(facts.graph.imports_of(facts.path)), sorted(facts.graph.imported_by(facts.path))
    needs = [each for each in needs if each != facts.path]
    users = [each for each in users if each != facts.path]
    packages = [each.name for each in facts.detail.dependencies if each.origin == "third party"][:_MOST_FILES]
    arrows = [(each, facts.path, "imports") for each in users[:_MOST_FILES]]
    arrows += [(facts.path, each, "imports") for each in (*needs[:_MOST_FILES], *packages)]
    if not arrows:
        return
    yield Heading(3, "Dependencies")
    yield Diagram(flowchart((facts.path,), tuple(arrows), packages))
    if len(needs) > _MOST_FILES or len(users) > _MOST_FILES:
        yield Paragraph("The diagram shows the first files of each side; all are listed under related files.")
