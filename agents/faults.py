"""What a service or a connection did in, a kind of failure out; both backends map the same way."""

from __future__ import annotations

from typing import Final

from forwardbook.agents.analyst import FailureKind

STATUS: Final[dict[int, FailureKind]] = {
    401: "auth",
    403: "auth",
    404: "auth",  # a model that is unknown or not allowed
    408: "timeout",
    413: "too_long",
    429: "rate",
    504: "timeout",
    529: "overloaded",
}
_TYPES: Final[dict[str, FailureKind]] = {
    "authentication_error": "auth",
    "permission_error": "auth",
    "not_found_error": "auth",
    "rate_limit_error": "rate",
    "overloaded_error": "overloaded",
    "api_error": "server",
    "timeout_error": "timeout",
    "request_too_large": "too_long",
    "billing_error": "budget",
}
_DROPPED: Final = ("econnre", "connection", "socket", "epipe", "network", "unable to connect", "fetch failed")
SHOWN: Final = 300


def kind_of(status: int | None, text: str, type_: str = "") -> FailureKind:
    """The kind of an error of the service: its stated type where there is one, else its status."""
    if "prompt is too long" in text.lower():
        return "too_long"
    if type_ in _TYPES:
        return _TYPES[type_]
    if status in STATUS:
        return STATUS[status]
    if status is not None and status >= 500:
        return "server"
    return "internal" if status is not None and status >= 400 else "malformed"


def kind_of_text(text: str) -> FailureKind:
    """The kind of an error that has only words, as the command-line program gives them."""
    said = text.lower()
    if "timed out" in said or "timeout" in said or "etimedout" in said:
        return "timeout"
    if any(word in said for word in _DROPPED) and "json" not in said:
        return "connection"
    return "malformed"


def shown(text: str) -> str:
    """An error's words on one line, bounded."""
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"
