"""The head of a file in, whether it says that it is generated (by what, from what) or experimental out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

UNNAMED: Final = "unnamed generator"
_HEAD: Final = 4_000  # characters
_COMMENT: Final = re.compile(r"^\s*(?:#|//|/\*|\*|<!--|--|\.\.)")
_GENERATED: Final = re.compile(
    r"@generated\b|\bauto(?:matically)?[- ]?generated\b|\bcode generated\b"
    r"|^\W*(?:this (?:file|code|module|header) (?:was|is|has been) )?generated (?:by|from|with|using)\b",
    re.IGNORECASE | re.MULTILINE,
)
_MENTIONED: Final = re.compile(r"\bgenerated\b", re.IGNORECASE)
_UNTOUCHABLE: Final = re.compile(
    r"\bdo(?:n't| not) (?:edit|modify|change)\b"
    r"|\b(?:edits?|changes?) (?:\w+ ){0,8}(?:lost|overwritten|overridden)\b",
    re.IGNORECASE,
)
_BY: Final = re.compile(
    r"(?:\b|\bauto)generated\b[^\n.]{0,30}?\b(?:by|with|using)\s+(?:the\s+)?([^\n;,]{1,80})", re.IGNORECASE
)
_FROM: Final = re.compile(
    r"(?:\b|\bauto)generated\b[^\n]{0,60}?\bfrom\s+[`'\"<]?([\w\\-]*[./][\w./\\-]+)"
    r"|\bsource:\s+(\S+)",
    re.IGNORECASE,
)
_EXPERIMENTAL_FOLDERS: Final = frozenset({"experimental", "_experimental", "prototype", "prototypes"})
_EXPERIMENTAL: Final = re.compile(
    r"\bexperimental\b(?! (?:results?|data|setup|evidence|validation|evaluation|design|settings?|protocol))"
    r"|\bwork in progress\b|\bproof of concept\b|\bAPI (?:is|may be) (?:unstable|subject to change)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Marks:
    """What a file says about itself at its head; empty strings where it says nothing."""

    generated_by: str = ""
    generated_from: str = ""
    experimental: bool = False


def marks(path: str, text: str, docstring: str = "") -> Marks:
    """What the comments at the head of a file, and the first paragraph of its docstring, say about it."""
    comments = _head_comments(text)
    first = docstring.partition("\n\n")[0]
    head = f"{comments}\n{first}"
    experimental = not _EXPERIMENTAL_FOLDERS.isdisjoint(path.lower().split("/")[:-1]) or bool(
        _EXPERIMENTAL.search(first)
    )
    generated = _GENERATED.search(comments) or _GENERATED.match(first)
    if not generated and not (_MENTIONED.search(head) and _UNTOUCHABLE.search(head)):
        return Marks(experimental=experimental)
    by, source = _BY.search(head), _FROM.search(head)
    name = (
        re.split(r"\.(?:\s|$)|\s+(?:from|at|on)\s|\s*(?:-->|\*/)", by[1])[0].strip(" \t`'\"*-") if by else ""
    )
    origin = (source[1] or source[2]).rstrip(".") if source else ""
    return Marks(name or UNNAMED, origin, experimental)


def _head_comments(text: str) -> str:
    """The comment lines before the first line of code; blank lines between them do not end them."""
    found = []
    for line in text[:_HEAD].splitlines():
        if line.strip() and not _COMMENT.match(line):
            break
        found.append(line)
    return "\n".join(found)
