"""A checklist in Markdown in; each item `met` by the checks that passed, or `not met` and why, out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from forwardbook.book.inline import plain
from forwardbook.book.repository.checks import CHECKS, Finding
from forwardbook.book.repository.survey import Survey

_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?(.+)$")
_FENCE = re.compile(r"^\s*(```|~~~)")
_NAME = re.compile(
    r"`([^`]+)`|((?:[\w.]+/)+[\w./]*|/[\w./]+|\w+\.(?:md|py|cu|cpp|h|toml|yaml|json)\b|\w*_\w+)"
)
_WORD = re.compile(r"[a-z][a-z0-9+]*")
_FILLER: Final = frozenset(
    [
        "a",
        "about",
        "all",
        "also",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "by",
        "can",
        "code",
        "covers",
        "do",
        "every",
        "everything",
        "explain",
        "explained",
        "explains",
        "find",
        "for",
        "from",
        "give",
        "given",
        "has",
        "have",
        "how",
        "i",
        "in",
        "include",
        "includes",
        "including",
        "into",
        "is",
        "it",
        "its",
        "list",
        "lists",
        "me",
        "must",
        "of",
        "on",
        "one",
        "or",
        "our",
        "part",
        "please",
        "should",
        "show",
        "shown",
        "shows",
        "so",
        "specific",
        "such",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "this",
        "those",
        "through",
        "to",
        "under",
        "us",
        "very",
        "we",
        "what",
        "when",
        "where",
        "which",
        "who",
        "why",
        "with",
        "work",
        "would",
        "you",
        "your",
        "complete",
        "describe",
        "described",
        "each",
        "existing",
        "important",
        "main",
        "key",
        "other",
        "high",
        "exact",
        "name",
        "named",
        "names",
        "need",
        "needed",
        "performed",
        "contain",
        "contains",
        "doc",
        "docs",
        "provide",
        "provided",
        "read",
        "reader",
        "say",
        "says",
        "tell",
        "tells",
        "understand",
        "way",
    ]
)


@dataclass(frozen=True, slots=True)
class Answer:
    """One item of a checklist and what became of it; `evidence` is inline Markdown."""

    item: str
    is_met: bool
    checks: tuple[str, ...]
    evidence: str


def items(checklist: str) -> tuple[str, ...]:
    """The list items of a Markdown file, those inside fences left out."""
    found: list[str] = []
    inside = False
    for line in checklist.splitlines():
        if _FENCE.match(line):
            inside = not inside
        elif not inside and (item := _ITEM.match(line)):
            found.append(item[1].strip())
    return tuple(found)


def answer(item: str, survey: Survey, found: Mapping[str, Finding]) -> Answer:
    """The answer to one item: every word that matters must be one that a passed check answers for."""
    names = [first or second for first, second in _NAME.findall(item)]
    known = _known(survey)
    unknown = [name for name in names if not _is_known(name, known)]
    words = [word for word in _WORD.findall(_NAME.sub(" ", item).lower()) if word not in _FILLER]
    asked = [name for name, each in CHECKS.items() if any(word in each.words for word in words)]
    open_ = [
        word
        for word in words
        if not any(word in CHECKS[name].words for name in asked)
        and word not in known
        and word.removesuffix("s") not in known
    ]
    failed = [name for name in asked if not found[name].holds]
    if unknown:
        return Answer(item, False, tuple(asked), f"the repository has no {plain(', '.join(unknown))}")
    if open_:
        return Answer(
            item, False, tuple(asked), f"no check answers for: {plain(', '.join(dict.fromkeys(open_)))}"
        )
    if failed:
        evidence = "; ".join(f"{name}: {found[name].evidence}" for name in failed)
        return Answer(item, False, tuple(asked), evidence)
    if not asked and names:
        asked = ["api"] if found["api"].holds else []
    if not asked:
        return Answer(item, False, (), "no check answers for this")
    return Answer(item, True, tuple(asked), "; ".join(f"{name}: {found[name].evidence}" for name in asked))


def _known(survey: Survey) -> frozenset[str]:
    """What the repository calls things: folders, files, modules and definitions, in lower case."""
    parts = {part.lower() for path in survey.repository.files for part in (*path.split("/"), path)}
    parts |= {part.partition(".")[0] for part in parts}
    parts |= {each.name.lower() for facts in survey.code for each in facts.definitions}
    parts |= {each.qualname.lower() for facts in survey.code for each in facts.definitions}
    return frozenset(parts | {facts.module.lower() for facts in survey.code} | {survey.name.lower()})


def _is_known(name: str, known: frozenset[str]) -> bool:
    bare = name.strip().strip("/").removesuffix("()").lower()
    if not bare or bare in known or bare.rpartition(".")[2] in known and "." in bare:
        return True
    return "/" in bare and any(path.startswith(f"{bare}/") or f"/{bare}/" in f"/{path}/" for path in known)
