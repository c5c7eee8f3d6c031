"""Text of a source file in, text for a label of a Mermaid diagram out: it shows and can do nothing else."""

from __future__ import annotations

import re

from forwardbook.book.inline import clip

_SPECIAL = re.compile(r"[^\w .,()=+*/!?@\[\]…→-]")


NAME_WIDTH = 400
"""Names are not cut: who reads them must be able to find them."""


def label(text: str, width: int = 60) -> str:
    """The text on one line with all that Mermaid might read as its own written as `#code;`."""
    line = clip(text, width)
    return _SPECIAL.sub(lambda found: f"#{ord(found[0])};", line) or "#32;"


def call_text(name: str, arguments: tuple[str, ...], width: int = 64) -> str:
    """A call as written, `f(a, b)`; `…` stands for the rest of an argument, or for all that follow."""
    shown: list[str] = []
    room = width - len(name) - 2
    for argument in arguments:
        short = _cut(" ".join(argument.split()), 40)
        room -= len(short) + 2
        if room < 3 and (short != "…" or room < 0):
            shown.append("…")
            break
        shown.append(short)
    return f"{name}({', '.join(shown)})"


def _cut(argument: str, width: int) -> str:
    """The argument, cut where no bracket or quotation is open; nothing of it where a comma is outside."""
    if "'" in argument and '"' in argument:  # where one ends is not told apart that easily
        return "…"
    safe, depth, quote, before = 0, 0, "", ""
    for at, letter in enumerate(argument):
        if quote:
            quote = "" if letter == quote and before != "\\" else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == "," and depth == 0:
            return "…"
        before = letter
        ends_word = not (letter.isalnum() or letter in "_.")
        if at < width - 1 and not quote and depth == 0 and ends_word:
            safe = at + 1
    if len(argument) <= width and not quote and depth == 0:
        return argument
    return argument[:safe].rstrip() + "…"
