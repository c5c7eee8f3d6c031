"""Turns the nodes of classes, enums, fields and type names into drafts and attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forwardbook.analyzers.index.facts import Attribute, Kind
from forwardbook.analyzers.native.declarators import declared_name, name_parts
from forwardbook.analyzers.native.drafts import Draft, Scope
from forwardbook.analyzers.native.headers import Headers
from forwardbook.analyzers.native.masking import Masks

if TYPE_CHECKING:
    from tree_sitter import Node

_KINDS: dict[str, Kind] = {
    "class_specifier": "class",
    "struct_specifier": "struct",
    "union_specifier": "union",
    "enum_specifier": "enum",
}


def class_draft(node: Node, outer: Scope, scopes: list[Scope], headers: Headers) -> Draft | None:
    """A class, struct, union or enum with its bases; of an enum the values are its attributes."""
    masks = headers.masks
    name = node.child_by_field_name("name") or _typedef_name(node)
    body = node.child_by_field_name("body")
    if name is None or body is None or not (parts := name_parts(masks.text(name.start_byte, name.end_byte))):
        return None
    start = headers.start(node.start_byte)
    decorated, lines = headers.wrapped(start, node.end_byte, scopes)
    draft = Draft(
        name=parts[-1],
        names=outer.names + parts,
        kind=_KINDS[node.type],
        span=headers.span(start, node.end_byte),
        decorated=headers.span(decorated, node.end_byte),
        start=start,
        end=node.end_byte,
        body=body.start_byte,
        signature=masks.text(start, body.start_byte),
        decorators=lines,
        bases=_bases(node, masks),
        docstring=headers.docstring(decorated),
        is_public=not outer.hidden and (outer.kind != "class" or outer.access == "public"),
    )
    if node.type == "enum_specifier":
        draft.attributes += _values(body, masks)
    return draft


def _typedef_name(node: Node) -> Node | None:
    """The name that `typedef struct {...} Name;` gives."""
    following = node.next_named_sibling
    return following if following is not None and following.type == "type_identifier" else None


def _bases(node: Node, masks: Masks) -> tuple[str, ...]:
    """The bases as written, without `public` and the like; of an enum its type."""
    if node.type == "enum_specifier":
        base = node.child_by_field_name("base")
        return (masks.text(base.start_byte, base.end_byte),) if base is not None else ()
    clause = next((child for child in node.children if child.type == "base_class_clause"), None)
    if clause is None:
        return ()
    unnamed = ("access_specifier", "comment", "virtual", "attribute_declaration")
    return tuple(
        masks.text(child.start_byte, child.end_byte)
        for child in clause.named_children
        if child.type not in unnamed
    )


def _values(body: Node, masks: Masks) -> list[Attribute]:
    """The values of an enum."""
    found = []
    for child in body.named_children:
        name = child.child_by_field_name("name") if child.type == "enumerator" else None
        if name is not None:
            value = child.child_by_field_name("value")
            text = masks.text(value.start_byte, value.end_byte) if value is not None else ""
            found.append(
                Attribute(masks.text(name.start_byte, name.end_byte), masks.line(name.start_byte), "", text)
            )
    return found


def typedef_draft(node: Node, outer: Scope, scopes: list[Scope], headers: Headers) -> Draft | None:
    """The name of `using X = ...` or `typedef ... X`; nothing where a struct's own draft has the name."""
    masks = headers.masks
    if node.type == "alias_declaration":
        name = node.child_by_field_name("name")
    else:
        declarator, kind = node.child_by_field_name("declarator"), node.child_by_field_name("type")
        if (
            kind is not None
            and kind.child_by_field_name("body") is not None
            and not kind.child_by_field_name("name")
        ):
            return None
        name = declared_name(declarator) if declarator is not None else None
    if name is None:
        return None
    text = masks.text(name.start_byte, name.end_byte)
    decorated, lines = headers.wrapped(node.start_byte, node.end_byte, scopes)
    return Draft(
        name=text,
        names=(*outer.names, text),
        kind="typedef",
        span=headers.span(node.start_byte, node.end_byte),
        decorated=headers.span(decorated, node.end_byte),
        start=node.start_byte,
        end=node.end_byte,
        body=node.end_byte,
        signature=masks.text(node.start_byte, min(node.end_byte, node.start_byte + 400)).rstrip("; "),
        decorators=lines,
        docstring=headers.docstring(decorated),
        is_public=not outer.hidden and (outer.kind != "class" or outer.access == "public"),
    )
