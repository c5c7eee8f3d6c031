"""The text of a file in, whether LibCST's recursive parser can safely take it out."""

from __future__ import annotations

import re
from typing import Final

from forwardbook.analyzers.index.literals import STRING

LONGEST: Final = 200_000  # characters; LibCST needs about 600 bytes of memory for each
_DEEPEST: Final = 100  # brackets within brackets; beyond some hundreds memory grows with the square
_OPERATORS: Final = 400  # in one statement: each may nest, and thousands would overflow the parser's stack
_ELIFS: Final = 400
_TOKEN: Final = re.compile(
    rf"(?<![fFtT])(?:{STRING})"
    r"|#[^\n]*|(?P<open>[\[({])|(?P<close>[\])}])|(?P<comma>,)|(?P<end>[\n;])|(?P<elif>\belif\b)"
    r"|(?P<word>\b(?:not|lambda|else|await|and|or)\b)|(?P<operator>[-+~*/%@&|^.=<>])",
    re.DOTALL,
)


def parses_safely(text: str) -> bool:
    """Whether nothing in a file nests so deep that a recursive parser might overflow its stack or memory."""
    if len(text) > LONGEST:
        return False
    depth = operators = words = elifs = 0
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "open":
            depth, operators = depth + 1, operators + 1
        elif kind == "close":
            depth = max(0, depth - 1)
        elif kind == "operator":
            operators += 1
        elif kind == "word":
            words += 1
        elif kind == "comma":
            operators = 0
        elif kind == "elif":
            elifs += 1
        elif kind == "end" and depth == 0:
            operators = words = 0
        if depth > _DEEPEST or operators > _OPERATORS or words > _OPERATORS or elifs > _ELIFS:
            return False
    return True
