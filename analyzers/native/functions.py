"""Turns the node of a function, with or without a body, into a draft of its definition."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from forwardbook.analyzers.index.facts import Kind, Span
from forwardbook.analyzers.native.declarators import (
    Declared,
    function_declarator,
    name_parts,
    parameters_of,
    returned_type,
)
from forwardbook.analyzers.native.drafts import Draft, Scope
from forwardbook.analyzers.native.headers import Headers

if TYPE_CHECKING:
    from tree_sitter import Node

_MACRO = re.compile(r"_*[A-Z][A-Z0-9_]*\Z")
_GLOBAL = re.compile(rb"\b__global__\b")
_STATIC = re.compile(rb"\bstatic\b")


def function_draft(node: Node, outer: Scope, scopes: list[Scope], headers: Headers) -> Draft | None:
    """A function with its body, or nothing for a block under a macro."""
    body = node.child_by_field_name("body")
    initial = next((child for child in node.children if child.type == "field_initializer_list"), None)
    first = initial or body
    if first is None:  # `= default;`, `= delete;`
        first = next((child for child in node.children if child.type.endswith("_clause")), None)
    header_end = first.start_byte if first is not None else node.end_byte
    draft = _draft(node, header_end, outer, scopes, headers)
    if draft is not None and body is not None:
        draft.end = headers.body_end(body.start_byte, node.end_byte)
        draft.span = headers.span(draft.start, draft.end)
        draft.decorated = Span(draft.decorated.start, draft.span.end)
    return draft


def prototype_draft(node: Node, outer: Scope, scopes: list[Scope], headers: Headers) -> Draft | None:
    """A function that is declared only, or nothing where the declaration is about something else."""
    end = node.end_byte
    default = node.child_by_field_name("default_value")  # `= 0`
    if default is not None:
        end = max(headers.masks.flat.rfind(b"=", node.start_byte, default.start_byte), node.start_byte)
    draft = _draft(node, end, outer, scopes, headers)
    if draft is None:
        return None
    draft.is_declaration = True
    draft.signature = draft.signature.rstrip("; ")
    return draft


def _draft(node: Node, header_end: int, outer: Scope, scopes: list[Scope], headers: Headers) -> Draft | None:
    """The draft of a declaration whose header ends at a byte."""
    masks = headers.masks
    declared = function_declarator(node, masks)
    if declared is None or not (parts := name_parts(declared.name)):
        return None
    in_class = outer.kind == "class"
    returns = returned_type(node, declared, masks)
    if not returns and not _builds(parts, outer):
        return None
    start = headers.start(node.start_byte)
    decorated, lines = headers.wrapped(start, node.end_byte, scopes)
    decorated = headers.start(decorated)
    header = masks.data[start:header_end]
    before = masks.flat[start : declared.start]
    return Draft(
        name=parts[-1],
        names=outer.names + parts,
        kind=_kind(before, parts, in_class),
        span=headers.span(start, node.end_byte),
        decorated=headers.span(decorated, node.end_byte),
        start=start,
        end=node.end_byte,
        body=start + len(header),
        signature=masks.text(start, header_end),
        parameters=parameters_of(declared.node, masks),
        returns="" if _MACRO.match(returns) and _constructs(parts, outer) else returns,
        decorators=(*lines, *headers.decorators(start, declared.start), *_ending(node, header_end, headers)),
        docstring=headers.docstring(decorated),
        is_public=_public(outer, before, declared),
    )


def _ending(node: Node, header_end: int, headers: Headers) -> tuple[str, ...]:
    """`= default`, `= delete` or `= 0` where that stands in place of a body."""
    text = headers.masks.text(header_end, min(node.end_byte, header_end + 24)).rstrip("; ")
    return ("= " + text[1:].strip(),) if text.startswith("=") else ()


def _kind(before: bytes, parts: tuple[str, ...], in_class: bool) -> Kind:
    """A kernel where `__global__` stands before the name, a method in a class or after the name of one."""
    if _GLOBAL.search(before):
        return "kernel"
    return "method" if in_class or (len(parts) > 1 and parts[-2][:1].isupper()) else "function"


def _constructs(parts: tuple[str, ...], outer: Scope) -> bool:
    """Whether a name is that of a constructor of its class."""
    scope = parts[-2] if len(parts) > 1 else outer.names[-1] if outer.kind == "class" and outer.names else ""
    return parts[-1] == scope


def _builds(parts: tuple[str, ...], outer: Scope) -> bool:
    """Whether a function without a return type is one: a constructor, a destructor, `main` of old C."""
    if parts[-1].startswith("~") or _constructs(parts, outer):
        return True
    return outer.kind != "class" and not _MACRO.match(parts[-1]) and parts[-1] == "main"


def _public(outer: Scope, before: bytes, declared: Declared) -> bool:
    """Whether others can call it: not private, not in an unnamed namespace, not `static` in its file."""
    if outer.kind == "class":
        return outer.access == "public" and (outer.draft is None or outer.draft.is_public)
    return not outer.hidden and not _STATIC.search(before)
