"""Docstrings in, the one sentence out that says what something is, as inline Markdown."""

from __future__ import annotations

import re
from typing import Final

from forwardbook.analyzers.index.facts import Definition, FileFacts
from forwardbook.book.inline import clip, plain, prose

CLASSES: Final = frozenset({"class", "struct", "union", "enum"})
WIDTH: Final = 160
_LICENCE = re.compile(r"copyright|licen[cs]e|spdx|all rights reserved", re.IGNORECASE)
_NO_SENTENCE = re.compile(r"```|~~~|>>>|\.\. |:\w+:|[-*+|#] ?|Args:|Arguments:|Parameters|Returns:|Example")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(])")


def sentence(docstring: str, width: int = WIDTH) -> str:
    """The first sentence of a docstring, escaped; empty where it says nothing."""
    for passage in re.split(r"\n\s*\n", docstring.strip()):
        words = " ".join(passage.split())
        if words and not _LICENCE.search(words) and not _NO_SENTENCE.match(words):
            return prose(clip(_SENTENCE.split(words)[0], width))
    return ""


def says(definition: Definition, width: int = WIDTH) -> str:
    """What a definition says of itself in one sentence, else what it extends or takes."""
    said = sentence(definition.docstring, width)
    if said:
        return said
    if definition.kind in CLASSES:
        return f"extends {plain(', '.join(definition.bases))}" if definition.bases else ""
    stars = {"*": "*", "**": "**"}
    names = [
        f"{stars.get(each.kind, '')}{each.name}"
        for each in definition.parameters
        if each.name not in ("self", "cls")
    ]
    return f"takes {plain(clip(', '.join(names), width))}" if names else ""


def about(facts: FileFacts, width: int = WIDTH) -> str:
    """What a file says of itself in one sentence, else what it mainly defines."""
    said = sentence(facts.docstring, width)
    if said:
        return said
    tops = [each.name for each in facts.definitions if not each.parent and each.is_public]
    if not tops:
        return "Defines nothing public." if facts.definitions else ""
    shown = ", ".join(prose(name) for name in tops[:4])
    return f"Defines {shown}{' and more' if len(tops) > 4 else ''}."
