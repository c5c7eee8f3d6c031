"""Docstrings in, the one sentence out that says what something is, as inline Markdown."""

from __future__ import annotations

import re
from typing import Final

from forwardbook.analyzers.index.facts import Definition, FileFacts
from forwardbook.book.inline import clip, prose

WIDTH: Final = 160
_LICENCE = re.compile(r"copyright|licen[cs]e|spdx|all rights reserved", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(])")


def sentence(docstring: str, width: int = WIDTH) -> str:
    """The first sentence of a docstring, escaped; empty where it says nothing."""
    for passage in re.split(r"\n\s*\n", docstring.strip()):
        words = " ".join(passage.split())
        if words and not _LICENCE.search(words) and not re.fullmatch(r"[\W_]+", words):
            return prose(clip(_SENTENCE.split(words)[0], width))
    return ""


def says(definition: Definition, width: int = WIDTH) -> str:
    """What a definition says of itself in one sentence."""
    return sentence(definition.docstring, width)


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
