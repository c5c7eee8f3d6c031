"""Turns the node of a declaration into the variables or members it binds, with their types and values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forwardbook.analyzers.index.facts import Attribute
from forwardbook.analyzers.native.calls import shortened
from forwardbook.analyzers.native.declarators import declared_name
from forwardbook.analyzers.native.masking import Masks

if TYPE_CHECKING:
    from tree_sitter import Node


def variables_of(node: Node, masks: Masks) -> list[Attribute]:
    """Every name that a declaration binds; none where it has no type."""
    kind = node.child_by_field_name("type")
    if kind is None:
        return []
    head = _head(node, kind, masks)
    found = []
    values = _member_values(node)
    for declarator in node.children_by_field_name("declarator"):
        name = declared_name(declarator)
        if name is None or masks.code[name.start_byte : name.end_byte].strip() == b"":
            continue
        value = declarator.child_by_field_name("value") if declarator.type == "init_declarator" else None
        value = value or values.get(declarator.start_byte)
        found.append(
            Attribute(
                masks.text(name.start_byte, name.end_byte),
                masks.line(name.start_byte),
                _type(head, declarator, name, masks),
                _text(value, masks) if value is not None else "",
            )
        )
    return found


def _member_values(node: Node) -> dict[int, Node]:
    """The values of members in a class (`int a = 1, b = 2;`) by the byte where the declarator begins."""
    if node.child_by_field_name("default_value") is None:
        return {}
    found, last = {}, 0
    for number, child in enumerate(node.children):
        role = node.field_name_for_child(number)
        if role == "declarator":
            last = child.start_byte
        elif role == "default_value":
            found[last] = child
    return found


def _head(node: Node, kind: Node, masks: Masks) -> str:
    """The type before the declarators; of a class written in place only its name."""
    body = kind.child_by_field_name("body")
    end = body.start_byte if body is not None else kind.end_byte
    first = node.child_by_field_name("declarator")
    if body is None and first is not None:
        end = first.start_byte
    return masks.text(node.start_byte, end)


def _type(head: str, declarator: Node, name: Node, masks: Masks) -> str:
    """The type of one name: the head with the pointer signs before and the sizes after the name."""
    inner = declarator
    if declarator.type == "init_declarator":
        inner = declarator.child_by_field_name("declarator") or declarator
    before = masks.text(declarator.start_byte, name.start_byte)
    after = masks.text(name.end_byte, inner.end_byte)
    return f"{head} {before}".strip() + after


def _text(node: Node, masks: Masks) -> str:
    """A value as written, cut where it is long."""
    return shortened(masks.text(node.start_byte, min(node.end_byte, node.start_byte + 400)))
