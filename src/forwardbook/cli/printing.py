"""Whatever a command prints: text of anybody in, text that a terminal only shows out.

A message beside the result has at most `LONGEST` characters, and names the file in which all of it is.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final, TextIO

from forwardbook.printable import printable

LONGEST: Final = 2000
"""Characters of one message."""
_ENDING: Final = 600  # of these, at the end of a long one
REST: Final = "messages.txt"
"""The file of what was too long, in the folder of diagnostics; each run writes its own anew."""
_KEPT: Final = 4_000_000  # characters of such a file
_begun: set[Path] = set()


def put(text: str, *, end: str = "\n", flush: bool = False) -> None:
    """A result, on standard output."""
    _write(text + end, sys.stdout, flush)


def say(text: str) -> None:
    """A message beside the result, on standard error."""
    _write(bounded(text) + "\n", sys.stderr, True)


def bounded(text: str) -> str:
    """The message; if it is long its beginning and its end, which says what to do, and where all of it is."""
    told = printable(text)
    if len(told) <= LONGEST:
        return told
    where = _kept(told)
    left = f"\n... {len(told):,} characters in all{f', the whole is in {where}' if where else ''} ...\n"
    return told[: LONGEST - len(left) - _ENDING] + left + told[-_ENDING:]


def _write(text: str, stream: TextIO | None, flush: bool) -> None:
    """Nothing where the stream is closed; what its encoding has not is spelled out."""
    if stream is None:
        return
    encoding = stream.encoding or "utf-8"
    stream.write(printable(text).encode(encoding, "backslashreplace").decode(encoding))
    if flush:
        stream.flush()


def _kept(text: str) -> str:
    """Where a long message was written to; empty where it could not be."""
    from forwardbook.workspace.folder import Workspace

    try:
        path = printed_folder(Workspace.find().root) / REST
        with path.open("a" if path in _begun else "w", encoding="utf-8") as file:
            file.write(text[:_KEPT] + "\n")
    except OSError:
        return ""
    _begun.add(path)
    return printable(str(path))


def printed_folder(root: Path) -> Path:
    """The folder of diagnostics of a workspace, made where it is missing."""
    folder = root / "diagnostics"
    folder.mkdir(exist_ok=True)
    return folder
