"""The one family of exceptions: whatever this package raises on purpose derives from ForwardbookError."""


class ForwardbookError(Exception):
    """What was being done, to which class or line, what was found, and what to do next, in one message."""


def message_of(error: BaseException, longest: int) -> str:
    """So many characters of the message of an exception, which may have a str() of its own that raises."""
    try:
        return str(error)[:longest]
    except BaseException as second:  # anything at all, SystemExit included
        return f"(its message raised {type(second).__name__})"


class FormulaError(ForwardbookError):
    """A formula cannot be built, read or evaluated; the message names the formula and what is missing."""
