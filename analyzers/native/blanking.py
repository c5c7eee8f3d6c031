"""Turns C++ and CUDA text into what the grammar understands: attributes and unknown macros become spaces."""

from __future__ import annotations

import re
from dataclasses import dataclass

from forwardbook.analyzers.native.brackets import closing
from forwardbook.analyzers.native.conditionals import uneven_ranges
from forwardbook.analyzers.native.masking import Masks, spaces

_WITH_ARGUMENTS = re.compile(
    rb"\b(?:__cluster_dims__|__launch_bounds__|__block_size__|__maxnreg__|__attribute__|__attribute|__declspec"
    rb"|__align__|__nv_pure__|_Pragma|__pragma)\s*(?=\()"
)
_BARE_WORD = re.compile(rb"\b(?:__grid_constant__|__nv_pure__|__stdcall|__cdecl|__fastcall|__extension__)\b")

_MACRO = rb"(?<![\w:.>#$])_*(?:[A-Z][A-Z0-9]*_[A-Z0-9_]*|[A-Z][A-Z0-9]{3,})\b(?!\s*::)"
_ARGUMENTS = rb"(?:\s*\([^(){};]{0,80}\))?"
_NAME = rb"(?!(?:const|volatile|and|or|xor|final|override|noexcept)\b)[A-Za-z_][\w:]*(?:<[^;{}()=]{0,120}?>)?"
_BETWEEN = rb"(?:\s*[*&]+\s*|\s+)(?:const\s+)?"
_MACRO_FIRST = re.compile(
    rb"(?P<macro>" + _MACRO + _ARGUMENTS + rb"(?:\s+" + _MACRO + _ARGUMENTS + rb"){0,4})\s+(?="
    rb"(?:static|inline|constexpr|consteval|virtual|explicit|extern|friend|typename|struct|class|enum|union|template"
    rb"|void|bool|char|short|int|long|float|double|unsigned|signed|auto|decltype|thread_local"
    rb"|__global__|__device__|__host__|__constant__|__shared__|__forceinline__|__noinline__|__inline__"
    rb"|for|while|do|if|return|switch)\b"
    rb"|~|(?:const\s+)?" + _NAME + _BETWEEN + rb"(?!operator\b)[A-Za-z_~][\w:]*(?:<[\w, ]*>)?\s*[(\[={;]"
    rb"|(?:const\s+)?" + _NAME + _BETWEEN + rb"operator\b)"
)
_MACRO_IN_CLASS = re.compile(
    rb"\b(?:class|struct|union)\s+(?P<macro>"
    + _MACRO
    + _ARGUMENTS
    + rb")\s+(?=[A-Za-z_]\w*\s*(?:final\s*)?[:{;<])"
)
_TYPENAME = re.compile(rb"(?:=|\breturn|[(,](?=\s*typename\s+[\w:]{1,80}\s*[{(]))\s*(typename)\b")
_NOT_BEFORE = re.compile(
    rb"(?:\b(?:struct|class|union|enum|goto|typename|namespace|new|return|case|else)\s*|[,(=<+\-!%^|?/]\s*)\Z"
)


@dataclass(frozen=True, slots=True)
class Blanked:
    """What the grammar is given, and the byte ranges of the macros and attributes that are spaces in it.

    `even` is the text without comments, strings and directives in which every bracket has its partner.
    """

    text: bytes
    even: bytes
    ranges: tuple[tuple[int, int], ...]


def blank(masks: Masks) -> Blanked:
    """The text without attributes, unknown macros and uneven branches; every position stays valid."""
    words = sorted({*_attributes(masks.flat), *_macros(masks.flat)})
    noise = [found.span(1) for found in _TYPENAME.finditer(masks.flat)] if b"typename" in masks.flat else []
    uneven = uneven_ranges(masks)
    text = _without(masks.data, [*words, *noise, *uneven])
    return Blanked(text, _without(masks.flat, uneven), tuple(words))


def _without(text: bytes, ranges: list[tuple[int, int]]) -> bytes:
    """A text with some of its bytes as spaces."""
    if not ranges:
        return text
    changed = bytearray(text)
    for start, end in ranges:
        changed[start:end] = spaces(text[start:end])
    return bytes(changed)


def _attributes(flat: bytes) -> list[tuple[int, int]]:
    """The byte ranges of attributes the grammar does not know, with their arguments."""
    found = [(one.start(), closing(flat, one.end()) + 1) for one in _WITH_ARGUMENTS.finditer(flat)]
    return [*found, *(one.span() for one in _BARE_WORD.finditer(flat))]


def _macros(flat: bytes) -> list[tuple[int, int]]:
    """The byte ranges of macros in capitals that stand before a declaration or a statement."""
    before = (
        one
        for one in _MACRO_FIRST.finditer(flat)
        if not _NOT_BEFORE.search(flat[max(0, one.start() - 24) : one.start()])
    )
    return [one.span("macro") for one in (*before, *_MACRO_IN_CLASS.finditer(flat))]
