"""A line and what was found there in, a problem that can be printed out."""

from __future__ import annotations

from forwardbook.analyzers.index.facts import Problem


def problem(line: int, what: object) -> Problem:
    """A problem on one line of printable text, whatever characters a message quotes from the file."""
    words = " ".join(str(what).split())
    if not words.isprintable():
        words = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in words)
    return Problem(max(0, line), words)
