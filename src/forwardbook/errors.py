"""The one family of exceptions: whatever this package raises on purpose derives from ForwardbookError.

The message of one never holds what another's exception says: that is its cause, which only a person is told.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import ClassVar, Final


class ForwardbookError(Exception):
    """What was being done, to which class or line, what was found, and what to do next, in one message."""

    tells_cause: ClassVar[bool] = False
    """Whether a person reads below it what an exception of other code said, from which it was raised."""


def message_of(error: BaseException, longest: int) -> str:
    """So many characters of the message of an exception, which may have a str() of its own that raises."""
    try:
        return str(error)[:longest]
    except BaseException as second:  # anything at all, SystemExit included
        return f"(its message raised {type(second).__name__})"


def own_type(error: BaseException) -> str:
    """The name of the nearest type of Python's own, since code names its own as it likes."""
    return next(_NAMES[one] for one in type(error).__mro__ if one in _NAMES)


def causes_of(error: BaseException) -> Iterator[BaseException]:
    """What it was raised from, and what that was raised from; each once."""
    seen: list[BaseException] = [error]
    while (cause := seen[-1].__cause__) is not None and not any(cause is one for one in seen):
        seen.append(cause)
        yield cause


def in_full(error: BaseException, longest: int) -> str:
    """The message as a person reads it: what other code said is told below it, where the class says so."""
    said = message_of(error, longest)
    if not (isinstance(error, ForwardbookError) and error.tells_cause):
        return said
    cause = next((one for one in causes_of(error) if not isinstance(one, ForwardbookError)), None)
    told = message_of(cause, longest) if cause is not None else ""
    return said if cause is None or told in said else f"{said}\n  {type(cause).__name__}: {told}"


_NAMES: Final = {
    one: one.__name__
    for one in vars(builtins).values()
    if isinstance(one, type) and issubclass(one, BaseException)
}


class FormulaError(ForwardbookError):
    """A formula cannot be built, read or evaluated; the message names the formula and what is missing."""
