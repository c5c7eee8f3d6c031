"""Classes with their members and relations in, the text of a Mermaid `classDiagram` out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from forwardbook.book.mermaid.labels import NAME_WIDTH, label

_ARROW: Final = {"inherits from": "<|--", "instantiates": "..>", "calls": "..>"}
_METHOD = re.compile(r"([\w~]+)\((.*)\)")


@dataclass(frozen=True, slots=True)
class Box:
    """One class: what it is called, and its attributes and methods as they are shown; `note` stands above."""

    name: str
    attributes: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Relation:
    """`source` inherits from, instantiates or calls `target`, both by name."""

    source: str
    verb: Literal["inherits from", "instantiates", "calls"]
    target: str


def class_diagram(boxes: tuple[Box, ...], relations: tuple[Relation, ...]) -> str:
    """The diagram; a class that only a relation names gets a box without members."""
    named = {each.name: each for each in boxes}
    for relation in relations:
        for name in (relation.source, relation.target):
            named.setdefault(name, Box(name))
    aliases = {name: f"C{number}" for number, name in enumerate(named, 1)}
    lines = ["classDiagram"]
    for name, box in named.items():
        lines += [f"    {line}" for line in _box(box, aliases[name])]
    lines += [f"    {_relation(each, aliases)}" for each in relations]
    return "\n".join(lines)


def _box(box: Box, alias: str) -> list[str]:
    head = f'class {alias}["{label(box.name, NAME_WIDTH)}"]'
    note = re.sub(r"\W+", " ", box.note).strip()
    inside = [f"<<{note}>>"] if note else []
    inside += [f"{_visibility(each)}{_member(each)}" for each in (*box.attributes, *box.methods)]
    return [head + " {", *(f"    {line}" for line in inside), "}"] if inside else [head]


def _visibility(member: str) -> str:
    return "-" if member.startswith("_") and not member.startswith("__") else "+"


def _member(member: str) -> str:
    """A member as Mermaid takes it: brackets only around the parameters of a method."""
    text = label(member, 70)
    found = _METHOD.fullmatch(text)
    head, inside = (found[1], found[2]) if found else (text, None)
    shown = re.sub(r"[()]", lambda each: f"#{ord(each[0])};", head)
    if inside is None:
        return shown
    return shown + "(" + re.sub(r"[()]", lambda each: f"#{ord(each[0])};", inside) + ")"


def _relation(relation: Relation, aliases: dict[str, str]) -> str:
    source, target = aliases[relation.source], aliases[relation.target]
    if relation.verb == "inherits from":
        return f"{target} {_ARROW[relation.verb]} {source}"
    return f"{source} {_ARROW[relation.verb]} {target} : {relation.verb}"
