"""The text of a file in, as much of it as can be parsed within the memory that a reader may take out."""

from __future__ import annotations

import re
from typing import Final

from forwardbook.analyzers.index.literals import STRING

MOST: Final = 400_000  # tokens; a syntax tree takes about 600 bytes for each
_LONG: Final = MOST  # characters: a shorter file cannot hold more tokens
_TOKEN: Final = re.compile(rf"{STRING}|#[^\n]*|\w+|[^\w\s]", re.DOTALL)


def parsable_part(text: str) -> str:
    """The text, or its beginning with no more tokens than are read, ended where a statement ends."""
    if len(text) <= _LONG:
        return text
    for number, match in enumerate(_TOKEN.finditer(text)):
        if number >= MOST:
            end = match.start()
            return text[: max(text.rfind("\n", 0, end), text.rfind(";", 0, end)) + 1 or end]
    return text
