"""The one family of exceptions: whatever this package raises on purpose derives from ForwardbookError."""


class ForwardbookError(Exception):
    """What was being done, to which class or line, what was found, and what to do next, in one message."""


class FormulaError(ForwardbookError):
    """A formula cannot be built, read or evaluated; the message names the formula and what is missing."""
