"""The text of a diagram in; participants, messages, classes, members, nodes and arrows out."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from typing import Final, Literal

Family = Literal["sequence", "class", "flowchart", "other"]

_FAMILY = re.compile(r"^\s*(sequenceDiagram|classDiagram(?:-v2)?|flowchart|graph)\b")
_NAME: Final = r"[A-Za-z0-9_][\w.]*"
_PARTICIPANT = re.compile(rf"^\s*(?:create\s+)?(?:participant|actor)\s+({_NAME})(?:\s+as\s+(.*?))?\s*$")
_MESSAGE = re.compile(
    rf"^\s*({_NAME})\s*(<<-->>|<<->>|-->>|->>|--x|-x|--\)|-\)|-->|->)\s*[+-]?\s*({_NAME})\s*:\s*(.*?)\s*$"
)
_NOTE = re.compile(rf"^\s*[Nn]ote\s+(?:over|left of|right of)\s+({_NAME}(?:\s*,\s*{_NAME})?)\s*:\s*(.*)$")
_LIFE = re.compile(rf"^\s*(activate|deactivate|destroy)\s+({_NAME})\s*$")
_CLASS = re.compile(
    r"^\s*class\s+(`[^`]+`|[\w.~]+)\s*(?:\[\"([^\"]*)\"\])?\s*(?:<<[^>]*>>)?\s*(?::::\w+)?\s*(\{)?\s*(\})?\s*$"
)
_CLASS_ARROW = re.compile(
    r"^\s*(`[^`]+`|[\w.~]+)\s*(?:\"[^\"]*\"\s*)?(<\|--|<\|\.\.|--\|>|\.\.\|>|\*--|--\*|o--|--o|<--|-->|<\.\.|\.\.>|--|\.\.)"
    r"\s*(?:\"[^\"]*\"\s*)?(`[^`]+`|[\w.~]+)\s*(?::\s*(.*?))?\s*$"
)
_CLASS_MEMBER = re.compile(r"^\s*(`[^`]+`|[\w.~]+)\s*:\s*(.+?)\s*$")
_NODE = re.compile(
    r"\s*([A-Za-z0-9_][\w.-]*?)(?=\s|$|[\[({>&:]|-->|---|-\.|==|~~~|--)"
    r"(?:(\[\(|\(\[|\[\[|\(\(\(|\(\(|\[/|\[\\|\{\{|\[|\(|\{|>)\s*(\"[^\"]*\"|[^\"\]})]*?)\s*"
    r"(?:\)\]|\]\)|\]\]|\)\)\)|\)\)|/\]|\\\]|\}\}|\]|\)|\}))?(?::::\w+)?\s*"
)
_LINK = re.compile(
    r"(?:<?(?:--+|==+|-\.+-?)(?:\s*([^-=|>.][^|>]*?)\s*(?:--+|==+|\.+-))?[>xo]?|~~~)\s*(?:\|\s*\"?([^|\"]*)\"?\s*\|)?\s*"
)
_ENTITY = re.compile(r"#(\w+);")
_BREAK = re.compile(r"\s*<br\s*/?>\s*")


@dataclass(frozen=True, slots=True)
class Participant:
    """Whoever sends and receives; `label` is what is shown."""

    line: int
    name: str
    label: str


@dataclass(frozen=True, slots=True)
class Arrow:
    """`source` to `target` with its text; `form` is the arrow as written."""

    line: int
    source: str
    form: str
    target: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Life:
    """The begin or end of a participant's activity."""

    line: int
    name: str
    begins: bool


@dataclass(frozen=True, slots=True)
class Member:
    """A line inside a class, as written."""

    line: int
    owner: str
    text: str


@dataclass(slots=True)
class Diagram:
    """What a diagram says: `participants` are also classes or nodes; `mentioned` are names in notes."""

    family: Family
    participants: list[Participant] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)
    members: list[Member] = field(default_factory=list)
    mentioned: list[tuple[int, str]] = field(default_factory=list)
    lives: list[Life] = field(default_factory=list)

    def label(self, name: str) -> str:
        """The first label of a name, else the name."""
        return next((one.label for one in self.participants if one.name == name), name)


def read_diagram(text: str) -> Diagram:
    """The values of a diagram; lines that are of none of the known forms are passed over."""
    lines = text.replace("\r\n", "\n").split("\n")
    family = _family(lines)
    diagram = Diagram(family)
    if family == "sequence":
        _read_sequence(lines, diagram)
    elif family == "class":
        _read_classes(lines, diagram)
    elif family == "flowchart":
        _read_flowchart(lines, diagram)
    return diagram


def plain_text(label: str) -> str:
    """A label with Mermaid's escapes undone and its line breaks as `\\n`."""
    text = html.unescape(_BREAK.sub("\n", label))
    return _ENTITY.sub(lambda found: _entity(found[1]), text).strip()


def _entity(name: str) -> str:
    return html.unescape(f"&#{name};" if name.isdigit() else f"&{name};")


def _family(lines: list[str]) -> Family:
    for line in lines:
        if found := _FAMILY.match(line):
            word = found[1]
            return "sequence" if word.startswith("s") else "class" if word.startswith("c") else "flowchart"
        if line.strip() and not line.lstrip().startswith(("%%", "---", "title:", "config:")):
            return "other"
    return "other"


def _read_sequence(lines: list[str], diagram: Diagram) -> None:
    for number, line in enumerate(lines, 1):
        if found := _MESSAGE.match(line):
            source, form, target, text = found.groups()
            diagram.arrows.append(Arrow(number, source, form, target, text))
        elif found := _PARTICIPANT.match(line):
            diagram.participants.append(Participant(number, found[1], found[2] or found[1]))
        elif found := _NOTE.match(line):
            diagram.mentioned.extend((number, name.strip()) for name in found[1].split(","))
        elif found := _LIFE.match(line):
            diagram.mentioned.append((number, found[2]))
            diagram.lives += [Life(number, found[2], found[1] == "activate")] if found[1] != "destroy" else []


def _read_classes(lines: list[str], diagram: Diagram) -> None:
    owner = ""
    for number, line in enumerate(lines, 1):
        stripped = line.strip()
        if owner:
            if stripped == "}":
                owner = ""
            elif stripped and not stripped.startswith(("<<", "%%")):
                diagram.members.append(Member(number, owner, stripped))
        elif found := _CLASS.match(line):
            name = _class_name(found[1])
            diagram.participants.append(Participant(number, name, found[2] or found[1].strip("`")))
            owner = name if found[3] and not found[4] else ""
        elif found := _CLASS_ARROW.match(line):
            left, form, right, text = found.groups()
            diagram.arrows.append(Arrow(number, _class_name(left), form, _class_name(right), text or ""))
        elif (found := _CLASS_MEMBER.match(line)) and not stripped.startswith(("note", "acc", "direction")):
            diagram.members.append(Member(number, _class_name(found[1]), found[2]))


def _class_name(written: str) -> str:
    return written.strip("`").partition("~")[0]


_FLOW_WORDS = re.compile(
    r"^\s*(?:subgraph|end|direction|classDef|class|style|linkStyle|click|flowchart|graph|acc\w+|%%|---|title)\b"
)


def _read_flowchart(lines: list[str], diagram: Diagram) -> None:
    for number, line in enumerate(lines, 1):
        if line.strip() and not _FLOW_WORDS.match(line) and not line.lstrip().startswith("%%"):
            for statement in line.split(";") if '"' not in line else [line]:
                _read_chain(number, statement, diagram)


def _read_chain(number: int, statement: str, diagram: Diagram) -> None:
    position, left, link = 0, [], None
    known = {one.name for one in diagram.participants}
    while position < len(statement):
        group, position = _read_group(number, statement, position, diagram, known)
        if not group:
            return
        if link is not None:
            diagram.arrows.extend(Arrow(number, a, link[0], b, link[1]) for a in left for b in group)
        left = group
        found = _LINK.match(statement, position)
        if found is None or found.end() == position:
            return
        link = (found[0].strip().split("|")[0].strip(), (found[1] or found[2] or "").strip().strip('"'))
        position = found.end()


def _read_group(
    number: int, statement: str, position: int, diagram: Diagram, known: set[str]
) -> tuple[list[str], int]:
    group: list[str] = []
    while found := _NODE.match(statement, position):
        name, opened, label = found[1], found[2], found[3]
        group.append(name)
        if opened or name not in known:
            shown = (label or "").strip().strip('"') if opened else name
            diagram.participants.append(Participant(number, name, shown))
            known.add(name)
        position = found.end()
        if not statement.startswith("&", position):
            break
        position += 1
    return group, position
