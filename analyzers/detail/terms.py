"""The docstrings of a file in, the terms of its domain that they define out, with the defining words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from forwardbook.analyzers.detail.facts import Term
from forwardbook.analyzers.index.facts import FileFacts

_SHORT: Final = re.compile(r"\(`{0,2}([A-Z][A-Za-z0-9]{1,9})`{0,2}\)")
LONGEST: Final = 400  # characters; a longer sentence defines nothing a reader would look up
_BEFORE: Final = re.compile(r"\b([A-Z][A-Z0-9]{1,9})`{0,2}[ \t]*\(([A-Za-z][\w/ -]{4,60})\)")
_IS: Final = re.compile(
    r"^(?:An?|The)?[ \t]*[`*]{0,2}"
    r"((?:[A-Z][\w-]*[a-z0-9]?|[A-Z0-9]{2,})(?:[ \t]+[A-Z][\w-]*){0,2})[`*]{0,2}[ \t]+"
    r"(?:is|are|means|denotes|refers to|stands for|represents)[ \t]+(?:an?|the|one|any|what|that|how)\b"
)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])")
_NOT_TERMS: Final = frozenset(
    {
        *(
            "This",
            "That",
            "These",
            "Those",
            "It",
            "There",
            "Here",
            "If",
            "When",
            "While",
            "We",
            "You",
            "They",
        ),
        *(
            "He",
            "She",
            "What",
            "Which",
            "Where",
            "Who",
            "Whether",
            "Each",
            "Every",
            "All",
            "Any",
            "Some",
            "None",
        ),
        *(
            "One",
            "Note",
            "True",
            "False",
            "Otherwise",
            "Both",
            "Either",
            "Only",
            "Default",
            "Returns",
            "Return",
        ),
        *(
            "Function",
            "Method",
            "Class",
            "Module",
            "File",
            "Args",
            "Example",
            "Examples",
            "Here",
            "Value",
            "I",
        ),
        *(
            "Output",
            "Input",
            "Result",
            "Currently",
            "Default",
            "First",
            "Second",
            "Todo",
            "TODO",
            "NOTE",
            "Then",
        ),
    }
)


def terms(facts: FileFacts) -> tuple[Term, ...]:
    """The first definition of each term, module docstring first, then in source order."""
    texts = [("", 1, facts.docstring)]
    texts += [(each.qualname, each.span.start, each.docstring) for each in facts.definitions]
    found: dict[str, Term] = {}
    for where, line, text in texts:
        for term, meaning in _defined(text):
            found.setdefault(term.lower(), Term(term, meaning, line, where))
    return tuple(found.values())


def _defined(text: str) -> Iterator[tuple[str, str]]:
    if not text:
        return
    for sentence in _sentences(text):
        if len(sentence) > LONGEST:
            continue
        for match in _SHORT.finditer(sentence):
            words = _initials(sentence[: match.start()], match[1])
            if words:
                yield match[1], words
        for match in _BEFORE.finditer(sentence):
            if _initials(match[2], match[1]) == match[2].strip():
                yield match[1], match[2].strip()
        found = _IS.match(sentence)
        if found and found[1].split()[0] not in _NOT_TERMS:
            yield found[1].strip(), sentence


def _sentences(text: str) -> Iterator[str]:
    """The sentences of a docstring's prose: no doctest, indented block or entry of a list."""
    for paragraph in re.split(r"\n\s*\n", text[:20_000]):
        lines = paragraph.split("\n")
        if lines[0].lstrip().startswith((">>>", "..", ":", "-", "*")) or lines[0].startswith("    "):
            continue
        yield from _SENTENCE.split(" ".join(line.strip() for line in lines))


def _initials(words: str, short: str) -> str:
    """The last of the words whose initials are the acronym; empty where they are not."""
    letters = [each for each in short.rstrip("s").lower() if each.isalnum()]
    parts = words.split()[-2 * len(letters) - 2 :]
    for count in range(1, len(parts) + 1):
        tail = parts[-count:]
        pieces = [piece for part in tail for piece in re.split(r"[-/]", part) if piece]
        initials = [piece.lstrip("(`*")[:1].lower() for piece in pieces]
        plain = [piece[0].lower() for piece in pieces if piece.lower() not in ("of", "for", "and", "the")]
        if letters in (initials, plain):
            return " ".join(tail).lstrip("(`*\"'")
    return ""
