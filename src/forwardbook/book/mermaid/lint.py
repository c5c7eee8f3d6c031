"""The text of a diagram in; what parses and is still wrong out, by line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from forwardbook.book.mermaid.grammar import MAX_TEXT
from forwardbook.book.mermaid.reading import Diagram, read_diagram

MAX_MESSAGES: Final = 40
MAX_EDGES: Final = 500
"""Mermaid's own `maxEdges`: a diagram with more is not drawn."""
_WORDS: Final = """
    end loop alt else opt par and critical option break rect note activate deactivate participant actor box
    title autonumber create destroy links link over subgraph graph flowchart class classdef click style
    linkstyle direction default namespace
"""
RESERVED: Final = frozenset(_WORDS.split())
RESERVED_NODES: Final = frozenset(("end", "subgraph", "graph", "flowchart", "style", "click", "class"))
Rule = Literal["quotes", "newline", "undeclared", "semicolon", "reserved", "size", "twice"]

_LITERAL_NEWLINE = re.compile(r"(?<!\\)\\n")
_ENTITY = re.compile(r"[#&]\w+;")


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: `line` counts from 1 in the diagram's text."""

    line: int
    rule: Rule
    message: str


def lint(text: str, diagram: Diagram | None = None) -> tuple[Fault, ...]:
    """All faults of a diagram, by line."""
    diagram = diagram or read_diagram(text)
    faults = [*_newlines(text), *_sizes(text, diagram), *_reserved(diagram)]
    if diagram.family == "sequence":
        faults += [*_quotes(diagram), *_semicolons(text, diagram), *_undeclared(diagram), *_twice(diagram)]
    return tuple(sorted(faults, key=lambda fault: (fault.line, fault.rule, fault.message)))


def _newlines(text: str) -> list[Fault]:
    return [
        Fault(number, "newline", "\\n is shown as it stands; a line break is written <br/>")
        for number, line in enumerate(text.split("\n"), 1)
        if _LITERAL_NEWLINE.search(line) and not line.lstrip().startswith("%%")
    ]


def _sizes(text: str, diagram: Diagram) -> list[Fault]:
    faults = []
    count = len(diagram.arrows)
    if len(text) > MAX_TEXT:
        faults.append(Fault(1, "size", f"{len(text)} characters; Mermaid draws at most {MAX_TEXT}"))
    if count > MAX_EDGES:
        faults.append(Fault(1, "size", f"{count} edges; Mermaid draws at most {MAX_EDGES}"))
    elif diagram.family == "sequence" and count > MAX_MESSAGES:
        faults.append(
            Fault(1, "size", f"{count} messages; more than {MAX_MESSAGES} cannot be read at once")
        )
    return faults


def _reserved(diagram: Diagram) -> list[Fault]:
    """In sequence diagrams whatever the case of its letters, elsewhere as written."""
    sequence = diagram.family == "sequence"
    return [
        Fault(one.line, "reserved", f"{one.name} is a word of Mermaid's own and cannot name a participant")
        for one in diagram.participants
        if (one.name.lower() in RESERVED if sequence else one.name in RESERVED_NODES)
    ]


def _quotes(diagram: Diagram) -> list[Fault]:
    return [
        Fault(one.line, "quotes", f"the quotes around {one.label} are shown; write the alias without them")
        for one in diagram.participants
        if one.label.startswith(('"', "'")) and one.label.endswith(('"', "'"))
    ]


def _semicolons(text: str, diagram: Diagram) -> list[Fault]:
    lines = text.split("\n")
    places = [one.line for one in diagram.arrows] + [one.line for one in diagram.participants]
    return [
        Fault(line, "semicolon", "; ends the statement; write #59;")
        for line in places
        if ";" in _ENTITY.sub("", lines[line - 1]).rstrip().removesuffix(";")
    ]


def _undeclared(diagram: Diagram) -> list[Fault]:
    declared = {one.name for one in diagram.participants}
    named = [(one.line, name) for one in diagram.arrows for name in (one.source, one.target)]
    missing = sorted({pair for pair in named + diagram.mentioned if pair[1] not in declared})
    return [Fault(line, "undeclared", f"the participant {name} is not declared") for line, name in missing]


def _twice(diagram: Diagram) -> list[Fault]:
    seen: set[str] = set()
    faults = []
    for one in diagram.participants:
        if one.name in seen:
            faults.append(Fault(one.line, "twice", f"the participant {one.name} is declared twice"))
        seen.add(one.name)
    return faults
