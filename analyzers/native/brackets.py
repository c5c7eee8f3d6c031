"""Turns the position of a bracket into that of its partner, and an argument list into its arguments."""

from __future__ import annotations

import re

_BRACKET = re.compile(rb"[(){}\[\]]")
_PARTNER = {0x29: 0x28, 0x7D: 0x7B, 0x5D: 0x5B}
_SPLIT = re.compile(rb"[(){}\[\]<>,]")
_NEAR = 1 << 16


def closing(flat: bytes, opening: int, within: int = _NEAR) -> int:
    """The position of the bracket closing the one at `opening`; `opening` where none does `within` bytes."""
    open_ones: list[int] = []
    for found in _BRACKET.finditer(flat, opening, min(len(flat), opening + within)):
        bracket = flat[found.start()]
        if bracket not in _PARTNER:
            open_ones.append(bracket)
        elif open_ones and open_ones[-1] == _PARTNER[bracket]:
            open_ones.pop()
            if not open_ones:
                return found.start()
        else:
            return opening
    return opening


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
        elif sign == b"<" and not depth and re.compile(rb"[\w:, *&]*>").match(flat, found.end()):
            angles += 1
        elif sign == b">" and angles:
            angles -= 1
        elif sign == b"," and not depth and not angles:
            ranges.append((start, found.start()))
            start = found.end()
    if flat[start:close].strip() or ranges:
        ranges.append((start, close))
    return ranges
