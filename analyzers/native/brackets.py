"""Turns the position of a bracket into that of its partner, and an argument list into its arguments."""

from __future__ import annotations

import re
from functools import lru_cache

_BRACKET = re.compile(rb"[(){}\[\]]")
_PARTNER = {0x29: 0x28, 0x7D: 0x7B, 0x5D: 0x5B}
_TEMPLATE = re.compile(rb"[\w:, *&]{0,200}>")
_SPLIT = re.compile(rb"[(){}\[\]<>,]")


def closing(flat: bytes, opening: int) -> int:
    """The position of the bracket that closes the one at `opening`; `opening` where none does."""
    return _pairs(flat).get(opening, opening)


@lru_cache(maxsize=2)
def _pairs(flat: bytes) -> dict[int, int]:
    """Every bracket that is closed with its partner; a `}` closes what is open since its `{`."""
    found: dict[int, int] = {}
    open_ones: list[int] = []
    for bracket in _BRACKET.finditer(flat):
        at = bracket.start()
        left = _PARTNER.get(flat[at])
        if left is None:
            open_ones.append(at)
        elif open_ones and flat[open_ones[-1]] == left:
            found[open_ones.pop()] = at
        elif left == 0x7B:
            while open_ones and flat[open_ones[-1]] != left:
                open_ones.pop()
            if open_ones:
                found[open_ones.pop()] = at
    return found


def arguments(flat: bytes, opening: int, close: int) -> list[tuple[int, int]]:
    """The byte ranges between the commas of a list in brackets; angle brackets count where they pair up."""
    ranges = []
    start, depth, angles = opening + 1, 0, 0
    for found in _SPLIT.finditer(flat, opening + 1, close):
        sign = found[0]
        if sign in b"([{":
            depth += 1
        elif sign in b")]}":
            depth -= 1
        elif sign == b"<" and not depth and _TEMPLATE.match(flat, found.end()):
            angles += 1
        elif sign == b">" and angles:
            angles -= 1
        elif sign == b"," and not depth and not angles:
            ranges.append((start, found.start()))
            start = found.end()
    if flat[start:close].strip() or ranges:
        ranges.append((start, close))
    return ranges
