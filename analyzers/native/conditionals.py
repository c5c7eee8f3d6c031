"""Turns `#if` groups whose branches open and close brackets unevenly into plain text, of equal length."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from forwardbook.analyzers.native.masking import Masks, spaces

_CONDITION = re.compile(
    rb"^[ \t]*#[ \t]*(?P<word>ifdef|ifndef|if|elifdef|elifndef|elif|else|endif)\b"
    rb"(?P<rest>(?:\\\r?\n|[^\n])*)",
    re.MULTILINE,
)

_NEAR = 4_000


@dataclass(slots=True)
class _Group:
    """One `#if` to `#endif`: the byte ranges of its directives, in order, and of the groups within it."""

    directives: list[tuple[int, int]] = field(default_factory=list)
    never: bool = False

    def branches(self) -> list[tuple[int, int]]:
        """The byte ranges between the directives."""
        return [(a[1], b[0]) for a, b in zip(self.directives, self.directives[1:], strict=False)]


def uneven_ranges(masks: Masks) -> list[tuple[int, int]]:
    """The byte ranges to blank so that every bracket of the text has its partner.

    Of a group of statements whose branches are even by themselves nothing is taken; of another the directives
    and all branches but the first (the second after `#if 0`).
    """
    blanked: list[tuple[int, int]] = []
    open_groups: list[_Group] = []
    flat = masks.flat
    for found in _CONDITION.finditer(masks.bare):
        word = found["word"]
        if word.startswith(b"if"):
            open_groups.append(
                _Group([found.span()], word == b"if" and found["rest"].strip() in (b"0", b"false"))
            )
        elif open_groups:
            open_groups[-1].directives.append(found.span())
            if word == b"endif":
                blanked += _taken(open_groups.pop(), flat, blanked)
    return blanked


def _taken(group: _Group, flat: bytes, blanked: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """What one group loses."""
    branches = group.branches()
    if not _in_list(flat, group.directives[0][0]) and all(
        _even(flat, start, end, blanked) for start, end in branches
    ):
        return []
    kept = 1 if group.never and len(branches) > 1 else 0
    return [*group.directives, *(branch for number, branch in enumerate(branches) if number != kept)]


def _even(flat: bytes, start: int, end: int, blanked: list[tuple[int, int]]) -> bool:
    """Whether brackets pair up between two bytes, what is blanked already left out."""
    piece = flat[start:end]
    inner = [(a, b) for a, b in reversed(blanked) if start <= a and b <= end] if blanked else []
    if inner:
        text = bytearray(piece)
        for a, b in inner:
            text[a - start : b - start] = spaces(piece[a - start : b - start])
        piece = bytes(text)
    stripped = piece.strip()
    if stripped.endswith(b"else") or stripped.startswith((b"else", b":", b",", b"&&", b"||")):
        return False
    return piece.count(b"{") == piece.count(b"}") and piece.count(b"(") == piece.count(b")")


def _in_list(flat: bytes, at: int) -> bool:
    """Whether a byte lies between round brackets or in an initializer, where no statement can stand."""
    piece = flat[max(0, at - _NEAR) : at]
    if piece.rstrip().endswith((b",", b"(", b"&&", b"||", b"=", b"+", b"<<", b"?")):
        return True
    last = max(piece.rfind(sign) for sign in (b";", b"{", b"}"))
    after = piece[last + 1 :]
    if last < 0 or piece[last] == 0x3B:
        return after.count(b"(") > after.count(b")")
    if piece[last] == 0x7D:
        return after.lstrip().startswith(b",") or after.count(b"(") > after.count(b")")
    return piece[:last].rstrip().endswith((b"=", b",", b"(", b"{")) or after.count(b"(") > after.count(b")")
