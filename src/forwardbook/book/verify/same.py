"""Two pieces of code as written in; whether they are the same but for layout out."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from forwardbook.printable import printable

_SPACE = re.compile(r"\s+")
_LAST_COMMA = re.compile(r",([)\]}])")
_COMMENT = re.compile(r"(?<![\"'\w])#[^\n\"']*$", re.MULTILINE)


def squeezed(text: str) -> str:
    """The text as pages show it, without whitespace and without commas before a closing bracket."""
    return _LAST_COMMA.sub(r"\1", printable(_SPACE.sub("", text)))


def same_text(shown: str, source: str) -> bool:
    """Whether two texts differ in whitespace alone; `…` (or a last `...`) stands for what was left out."""
    a, b = squeezed(shown), squeezed(source)
    if a == b:
        return True
    if "…" in a:
        head, _, tail = a.partition("…")
        return b.startswith(head) and b.endswith(tail) and len(head) + len(tail) <= len(b)
    return a.endswith("...") and len(a) > 3 and b.startswith(a[:-3])


@lru_cache(maxsize=4096)
def unparsed(expression: str) -> str:
    """An expression of Python in one form of writing; as it stands where it is none."""
    try:
        return ast.unparse(ast.parse(expression.strip(), mode="eval"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return squeezed(expression)


def same_expression(shown: str, source: str) -> bool:
    """Whether two expressions are the same but for layout and quotes."""
    return same_text(shown, source) or unparsed(shown) == unparsed(source)


@lru_cache(maxsize=4096)
def _header(signature: str) -> str:
    text = _COMMENT.sub("", signature).strip().removesuffix("...").strip().rstrip(":").strip()
    try:
        return ast.unparse(ast.parse(text + ": ..."))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return squeezed(text)


def same_signature(shown: str, source: str, python: bool) -> bool:
    """Whether two signatures are the same but for layout."""
    trimmed = shown.strip() if python else shown.strip().rstrip("{;").strip()
    if squeezed(trimmed.rstrip(":")) == squeezed(source.rstrip(":{;")):
        return True
    return python and _header(shown) == _header(source)
