"""Source text on one line and the line it is said to be on in; whether it begins there, as it stands, out."""

from __future__ import annotations

import re
from typing import Final

_SPACE = re.compile(r"\s+")
_LINES: Final = 60  # of one statement
_OPENED: Final = ("(", "[", "{", "\\")


def squeezed(text: str) -> str:
    """The text without whitespace and without commas before a closing bracket."""
    return re.sub(r",([)\]}])", r"\1", _SPACE.sub("", text))


def begins_at(lines: list[str], text: str, line: int) -> bool:
    """Whether the text, up to its `…`, begins on that line, or after a bracket that the line opens last."""
    wanted = squeezed(text).partition("…")[0].rstrip(",")
    near = [squeezed(each) for each in lines[max(line - 1, 0) : line - 1 + _LINES]]
    if not wanted or not near:
        return False
    at = "".join(near).find(wanted)
    for each in near:
        if 0 <= at < len(each):
            return True
        if at < 0 or not (not each or each.endswith(_OPENED) or each.startswith("#")):
            return False
        at -= len(each)
    return False


def lines_of(data: bytes, encoding: str) -> list[str]:
    """The lines of a file as they are counted on pages."""
    try:
        text = data.decode(encoding, "replace")
    except LookupError:
        text = data.decode("utf-8", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
