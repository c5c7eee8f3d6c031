"""The text of a file in, whether LibCST's recursive parser can safely take it out."""

from __future__ import annotations

import re
from typing import Final

from forwardbook.analyzers.index.literals import STRING

LONGEST: Final = 200_000  # characters; LibCST needs about 600 bytes of memory for each
_DEEPEST: Final = 100  # brackets within brackets; beyond some hundreds memory grows with the square
_NESTED: Final = 400  # brackets and operators, each perhaps within the last; thousands overflow the stack
_ELIFS: Final = 400
_TOKEN: Final = re.compile(
    rf"(?<![fFtT])(?:{STRING})"
    r"|#[^\n]*|(?P<open>[\[({])|(?P<close>[\])}])|(?P<comma>,)|(?P<end>[\n;])|(?P<elif>\belif\b)"
    r"|(?P<lambda>\blambda\b)|(?P<operator>[-+~*/%@&|^.=<>]|\b(?:not|else|await|and|or)\b)",
    re.DOTALL,
)


def parses_safely(text: str) -> bool:
    """Whether nothing in a file nests so deep that a recursive parser might overflow its stack or memory.

    A comma ends what nests beside it, within the same brackets; lambdas, whose own commas do not, are counted
    through a whole statement.
    """
    if len(text) > LONGEST:
        return False
    elifs = lambdas = nested = 0
    levels = [0]  # what may nest in each bracket that is open
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "open":
            levels[-1] += 1
            nested += 1
            levels.append(0)
        elif kind == "close" and len(levels) > 1:
            nested -= levels.pop()
        elif kind == "operator":
            levels[-1] += 1
            nested += 1
        elif kind == "lambda":
            lambdas += 1
        elif kind == "elif":
            elifs += 1
        elif kind == "comma" or (kind == "end" and len(levels) == 1):
            nested -= levels[-1]
            levels[-1] = 0
            lambdas = lambdas if kind == "comma" else 0
        if len(levels) > _DEEPEST or nested + lambdas > _NESTED or elifs > _ELIFS:
            return False
    return True
