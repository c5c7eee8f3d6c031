"""An exception of analysed code in; out its type and line, and nothing that the code put into it."""

from __future__ import annotations

import linecache
import sysconfig
import traceback
from collections.abc import Collection
from pathlib import Path
from typing import Final

from forwardbook.errors import ForwardbookError, message_of, own_type

OURS: Final = str(Path(__file__).parent.parent)  # as its modules are named, whatever links lead there
_ENGINES: Final = tuple(f"{OURS}/{room}/" for room in ("analyzers", "pipeline", "profiling"))
_PYTHON: Final = sysconfig.get_path("stdlib")
_LONGEST: Final = 2000  # characters of a message of ours


def raised(error: BaseException, files: Collection[str]) -> str:
    """`ValueError at line 12`: the innermost line in one of the files, none where there is no such line.

    The type is one of Python's own, that or the nearest above it, since code names its own as it likes.
    """
    spots = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and isinstance(error.filename, str) and isinstance(error.lineno, int):
        spots.append((error.filename, error.lineno))
    lines = [line for file, line in spots if file in files and 0 < line <= len(linecache.getlines(file))]
    return f"{own_type(error)} at line {lines[-1]}" if lines else own_type(error)


def kept(error: BaseException, files: Collection[str] = ()) -> str:
    """What of an exception may be stored, published or told to a model.

    Of an error of ours its message; of any other, and of ours where other code made it, what `raised` says.
    """
    return message_of(error, _LONGEST) if is_of_engines(error) else raised(error, files)


def first_line_kept(error: BaseException) -> str:
    """The first line of what may be kept."""
    return next(iter(kept(error).splitlines()), "")


def is_of_engines(error: BaseException) -> bool:
    """Whether an engine of ours raised an error of ours, and no other code had a part of ours raise it."""
    if not isinstance(error, ForwardbookError) or not type(error).__module__.startswith("forwardbook."):
        return False
    files = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]
    others = [place for place, file in enumerate(files) if not _is_passed_through(file)]
    inner = [file for file in files[others[-1] + 1 if others else 0 :] if file.startswith(OURS)]
    if not files:
        return True
    return files[-1].startswith(OURS) and (not others or inner[0].startswith(_ENGINES))


def _is_passed_through(file: str) -> bool:
    """Whether code of a file is ours or Python's own."""
    return file.startswith((OURS, "<frozen")) or (file.startswith(_PYTHON) and "-packages" not in file)
