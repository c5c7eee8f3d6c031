"""An exception of analysed code in; out its type and line, and nothing that the code put into it."""

from __future__ import annotations

import builtins
import linecache
import traceback
from collections.abc import Collection
from typing import Final

_NAMES: Final = {
    one: one.__name__
    for one in vars(builtins).values()
    if isinstance(one, type) and issubclass(one, BaseException)
}


def raised(error: BaseException, files: Collection[str]) -> str:
    """`ValueError at line 12`: the innermost line in one of the files, none where there is no such line.

    The type is one of Python's own, that or the nearest above it, since code names its own as it likes.
    """
    spots = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and isinstance(error.filename, str) and isinstance(error.lineno, int):
        spots.append((error.filename, error.lineno))
    lines = [line for file, line in spots if file in files and 0 < line <= len(linecache.getlines(file))]
    return f"{own_type(error)} at line {lines[-1]}" if lines else own_type(error)


def own_type(error: BaseException) -> str:
    """The name of the nearest type of Python's own."""
    return next(_NAMES[one] for one in type(error).__mro__ if one in _NAMES)
