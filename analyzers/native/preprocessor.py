"""Turns the directives of a C++ file into includes, macros and constants, whatever the rest is."""

from __future__ import annotations

import re

from forwardbook.analyzers.index.facts import Attribute, Call, Import, Parameter
from forwardbook.analyzers.native.calls import shortened
from forwardbook.analyzers.native.drafts import Draft
from forwardbook.analyzers.native.headers import Headers
from forwardbook.analyzers.native.masking import Masks

_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*(?P<word>[a-z_]+)", re.MULTILINE)
_HEADER = re.compile(rb'[ \t]*(?:<(?P<angle>[^>\n]+)>|"(?P<quote>[^"\n]+)"|(?P<macro>\w+))')
_DEFINE = re.compile(rb"[ \t]*#[ \t]*define[ \t]+(?P<name>[A-Za-z_]\w*)(?P<open>\()?")
_CALL = re.compile(
    rb"(?<![\w.>:])(?P<name>~?[A-Za-z_]\w*(?:(?:::|\.|->)[A-Za-z_]\w*)*)\s*(?:<[\w:, ]*>)?\s*\("
)
_NOT_CALLED = {
    "if", "for", "while", "switch", "return", "sizeof", "defined", "alignof", "decltype", "catch",
    "__attribute__", "__launch_bounds__", "__declspec", "static_assert", "alignas", "asm", "do", "else",
}  # fmt: skip


def includes_of(masks: Masks) -> tuple[Import, ...]:
    """Every `#include`; guarded where it stands under a condition other than the guard of the whole file."""
    found: list[Import] = []
    depth, guards = 0, 0
    previous = b""
    for directive in _DIRECTIVE.finditer(masks.bare):
        word, end = directive["word"], directive.end()
        if word in (b"if", b"ifdef", b"ifndef"):
            depth += 1
        elif word == b"endif":
            depth = max(depth - 1, 0)
        elif word == b"define" and depth == 1 and not found and previous == b"ifndef":
            guards = 1
        elif word in (b"include", b"include_next", b"import"):
            found += _include(masks, end, depth > guards)
        previous = word
    return tuple(found)


def _include(masks: Masks, end: int, guarded: bool) -> list[Import]:
    """The header that follows the word `include`."""
    header = _HEADER.match(masks.code, end)
    if header is None:
        return []
    name = (header["quote"] or header["angle"] or header["macro"]).decode("utf-8", "replace").strip()
    return [Import(masks.line(end), name, level=1 if header["quote"] else 0, guarded=guarded)]


def macros_of(headers: Headers) -> tuple[list[Draft], list[Attribute]]:
    """Every macro, and those that stand for a value as constants; not the guard of the file."""
    masks = headers.masks
    drafts, constants = [], []
    for start, end in masks.defines:
        named = _DEFINE.match(masks.bare, start)
        if named is None or _is_guard(masks, start, end, named.end()):
            continue
        draft = _macro(headers, start, end, named)
        drafts.append(draft)
        value = masks.text(draft.body, end)
        if not named["open"] and value:
            constants.append(Attribute(draft.name, draft.span.start, "", shortened(value)))
    return drafts, constants


def _is_guard(masks: Masks, start: int, end: int, named_end: int) -> bool:
    """Whether a macro without a value repeats the `#ifndef` of the line before."""
    if masks.bare[named_end:end].strip():
        return False
    name = masks.bare[start:named_end].split()[-1]
    before = masks.bare[max(0, start - 200) : start].split()
    return len(before) >= 2 and before[-1] == name and before[-2].lstrip(b"#") == b"ifndef"


def _macro(headers: Headers, start: int, end: int, named: re.Match[bytes]) -> Draft:
    """One macro with its parameters and the calls in what it stands for."""
    masks = headers.masks
    body = named.end()
    parameters: tuple[Parameter, ...] = ()
    if named["open"]:
        close = masks.bare.find(b")", body, end)
        close = close if close >= 0 else end
        listed = (one.strip() for one in masks.text(body, close).split(","))
        parameters = tuple(Parameter(one, "*" if one.endswith("...") else "") for one in listed if one)
        body = min(close + 1, end)
    name = named["name"].decode()
    span = headers.span(start, end)
    return Draft(
        name,
        (name,),
        "macro",
        span,
        span,
        start,
        end,
        body,
        masks.text(start, body),
        parameters,
        docstring=headers.docstring(start) or headers.trailing(body),
        decorators=("__global__",) if b"__global__" in masks.bare[body:end] else (),
        calls=_calls(masks, body, end),
    )


def _calls(masks: Masks, start: int, end: int) -> list[Call]:
    """The calls in the text of a macro."""
    found = []
    for call in _CALL.finditer(masks.bare, start, end):
        name = call["name"].decode("utf-8", "replace")
        if name not in _NOT_CALLED and not masks.bare[: call.start()].endswith(b"#"):
            found.append(Call(masks.line(call.start()), masks.column(call.start()), name))
    return found
