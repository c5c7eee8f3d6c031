"""The terminal: one console for what a person sees; formulas and source in, coloured text out."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from forwardbook.cli.console import EscapingConsole

PIPE_WIDTH: Final = 132
"""Columns where the output is no terminal, so that tables in files keep their shape."""

VERDICT_STYLES: Final = {
    "exact": "bold green",
    "bounded": "yellow",
    "assumed": "yellow",
    "pinned": "yellow",
    "wrong": "bold red",
    "unproved": "dim",
}


@lru_cache(maxsize=1)
def _highlighter() -> Syntax:
    return Syntax("", "python", theme="ansi_dark", background_color="default")


def console(*, stderr: bool = False) -> Console:
    """The console of standard output or error as it is now; marks of rich in a text are text."""
    found = EscapingConsole(highlight=False, markup=False, emoji=False, stderr=stderr)
    if found.is_terminal or stderr:
        return found
    return EscapingConsole(highlight=False, markup=False, emoji=False, width=PIPE_WIDTH)


def formula_text(formula: str) -> Text:
    """A formula for people: names coloured, without their braces."""
    text = Text(overflow="fold")
    for part in re.split(r"(\{[^}]*\})", formula):
        name = part.startswith("{")
        text.append(part[1:-1] if name else part, style="cyan" if name else "")
    return text


def code_text(code: str) -> Text:
    """A line of Python, coloured."""
    text = _highlighter().highlight(code)
    text.no_wrap, text.overflow = False, "fold"  # Syntax would cut what does not fit
    text.rstrip()
    return text


def verdict_text(verdict: str) -> Text:
    """A verdict in its colour."""
    return Text(verdict, style=VERDICT_STYLES.get(verdict, ""))
