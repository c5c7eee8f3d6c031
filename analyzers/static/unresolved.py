"""The one way in which interpretation ends early: a place in the source and the reason."""

from __future__ import annotations

from forwardbook.errors import ForwardbookError


class Unresolved(ForwardbookError):
    """Source that the static derivation does not follow: file, line, what was met and why it stopped."""

    tells_cause = True

    def __init__(self, reason: str, file: str = "", line: int = 0, operation: str = "") -> None:
        super().__init__(f"{file or '<source>'}:{line}: {reason}")
        self.reason = reason
        self.file = file
        self.line = line
        self.operation = operation
