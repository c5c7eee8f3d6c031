"""Diagrams of a repository: imports, classes and calls in, flowcharts, class and sequence diagrams out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from forwardbook.analyzers.index.facts import Definition, Edge, FileFacts
from forwardbook.book.blocks import Block, Diagram, Heading, Paragraph
from forwardbook.book.mermaid.classes import Box, Relation, class_diagram
from forwardbook.book.mermaid.flowchart import flowchart
from forwardbook.book.mermaid.labels import call_text
from forwardbook.book.mermaid.sequence import MAX_MESSAGES, Message, sequence_diagram
from forwardbook.book.repository.sentences import CLASSES
from forwardbook.book.repository.survey import Place, Survey

MOST_ARROWS: Final = 60
MOST_CLASSES: Final = 14
MOST_MEMBERS: Final = 12


def import_flowchart(imports: Counter[tuple[str, str]], most: int = MOST_ARROWS) -> Iterator[Block]:
    """Which folder imports which; the most used arrows where there are too many."""
    if not imports:
        return
    arrows = sorted(pair for pair, _ in imports.most_common(most))
    if len(imports) > most:
        yield Paragraph("The most frequent imports are drawn.")
    nodes = tuple(dict.fromkeys(name for pair in arrows for name in pair))
    yield Diagram(flowchart(nodes, tuple((source, target, "imports") for source, target in arrows)))


def import_flowchart_of_files(survey: Survey, files: tuple[FileFacts, ...]) -> Iterator[Block]:
    """Which file imports which."""
    inside = {each.path for each in files}
    pairs = Counter(
        (each.path, target)
        for each in files
        for target in survey.graph.imports_of(each.path)
        if target in inside and target != each.path
    )
    if not pairs:
        yield Paragraph("None of these files imports another.")
    yield from import_flowchart(pairs)


def class_diagrams(survey: Survey, files: tuple[FileFacts, ...]) -> Iterator[Block]:
    """The public classes of the files and what they inherit from, split where they are many."""
    places = [
        Place(facts.path, each)
        for facts in files
        for each in facts.definitions
        if each.kind in CLASSES and each.is_public and not each.parent
    ]
    seen = Counter(place.definition.qualname for place in places)
    places = [place for place in places if seen[place.definition.qualname] == 1]
    if not places:
        return
    yield Heading(3, "Classes")
    for start in range(0, min(len(places), 4 * MOST_CLASSES), MOST_CLASSES):
        yield Diagram(_classes(survey, places[start : start + MOST_CLASSES]))
    if len(places) > 4 * MOST_CLASSES:
        yield Paragraph("Further classes are left out of the diagrams.")


def _classes(survey: Survey, places: list[Place]) -> str:
    boxes = tuple(_box(survey, place) for place in places)
    relations = []
    for place in places:
        for base in survey.graph.bases(place.path, place.definition.qualname):
            match base:
                case (str(path), str(qualname)) if survey.place(path, qualname):
                    relations.append(Relation(place.definition.qualname, "inherits from", qualname))
    return class_diagram(boxes, tuple(dict.fromkeys(relations)))


def _box(survey: Survey, place: Place) -> Box:
    one = place.definition
    inside = [each for each in survey.repository.files[place.path].definitions if each.parent == one.qualname]
    methods = tuple(
        dict.fromkeys(_method(each) for each in inside if each.is_public and each.kind not in CLASSES)
    )
    attributes = tuple(each.name for each in one.attributes if not each.name.startswith("_"))
    return Box(one.qualname, attributes[:MOST_MEMBERS], methods[:MOST_MEMBERS])


def _method(definition: Definition) -> str:
    names = tuple(each.name for each in definition.parameters if each.name not in ("self", "cls"))
    return call_text(definition.name, names)


def call_sequences(survey: Survey, edges: tuple[Edge, ...]) -> Iterator[Block]:
    """Calls between files as messages, in diagrams of a readable length."""
    sent = [each for each in edges if each.how == "exact" and survey.place(each.callee_path, each.callee)]
    messages = tuple(
        dict.fromkeys(
            Message(each.path, each.callee_path, f"{each.callee.rpartition('.')[2]}()") for each in sent
        )
    )
    for start in range(0, min(len(messages), 4 * MAX_MESSAGES), MAX_MESSAGES):
        yield Diagram(sequence_diagram(messages[start : start + MAX_MESSAGES]))
