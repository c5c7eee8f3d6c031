"""Text of anybody in; out the same text with nothing in it that a terminal obeys.

Names, messages, source and output of other people may hold escape sequences (colours, titles, links),
carriage returns, backspaces and marks that turn the direction of writing. Each is spelled `\\u001b`, which
JSON reads as the same character.
"""

from __future__ import annotations

import re
from typing import Final

_OBEYED: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tabulator and line feed
    "\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e"  # that have no shape and change others'
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff"  # halves of pairs
    "\U000110bd\U000110cd\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)


def printable(text: str) -> str:
    """The text with control characters, marks of direction and halves of surrogate pairs spelled out."""
    return _OBEYED.sub(_spelled, text)


def is_printable(text: str) -> bool:
    """Whether nothing in the text would be spelled out."""
    return _OBEYED.search(text) is None


def _spelled(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place]:02x}{units[place + 1]:02x}" for place in range(0, len(units), 2))
