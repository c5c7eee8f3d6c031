"""The exit codes: one for each kind of end, the same in every command."""

from __future__ import annotations

from typing import Final

REFUSED: Final = 1
"""An error, which a message tells; or the answer of a command that checks something is no."""
USAGE: Final = 2
"""Arguments or options that cannot be understood; nothing was done."""
INCOMPLETE: Final = 3
"""All is done but what is named: a tool is not installed, a page of explained code does not hold."""
FAULT: Final = 70
"""A fault of forwardbook; the message says where its traceback is."""
INTERRUPTED: Final = 130
"""Ctrl-C."""
