"""An exception of the client or an odd response in, the kind of failure behind it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forwardbook.agents.analyst import Failure
from forwardbook.agents.faults import kind_of, shown

if TYPE_CHECKING:
    from anthropic import APIStatusError
    from anthropic.types import Message

UNHEARD = frozenset({"connection", "timeout", "malformed"})
"""Kinds after which nobody knows what the service did, and what it bills."""


class Told(Exception):
    """One try of a request failed; `after` is how long the service wants us to wait."""

    def __init__(self, failure: Failure, after: float = 0.0) -> None:
        super().__init__(failure.detail)
        self.failure, self.after = failure, after


def told_of(error: Exception) -> Told:
    """What went wrong with a request.

    Raises:
        Exception: the error itself, where it is none of a request.
    """
    import anthropic
    import httpx2

    match error:
        case anthropic.APITimeoutError():
            return Told(Failure("timeout", "the request timed out"))
        case anthropic.APIConnectionError():
            return Told(Failure("connection", shown(str(error.__cause__ or error))))
        case anthropic.APIStatusError():
            return _of_status(error)
        case anthropic.AnthropicError():
            return Told(Failure("malformed", f"{type(error).__name__}: {shown(str(error))}"))
        case ValueError() | TypeError() | AttributeError() | AssertionError() | LookupError():
            return Told(Failure("malformed", f"the answer is no message ({type(error).__name__})"))
        case httpx2.TimeoutException():
            return Told(Failure("timeout", "the answer stopped coming"))
        case httpx2.TransportError():
            return Told(Failure("connection", f"the answer was cut: {type(error).__name__}"))
    raise error


def _of_status(error: APIStatusError) -> Told:
    body = error.body if isinstance(error.body, dict) else {}
    inner = body.get("error")
    type_ = str(inner.get("type", "")) if isinstance(inner, dict) else ""
    status = error.status_code if error.status_code != 200 else None
    detail = f"{error.status_code} {type_}: {shown(error.message)}"
    try:
        after = float(error.response.headers.get("retry-after", "0"))
    except ValueError:
        after = 0.0
    return Told(Failure(kind_of(status, error.message, type_), detail), after)


def whole(message: Message) -> Message:
    """The message, if it is one with an end.

    Raises:
        Told: it is empty or was cut.
    """
    if not message.content and message.stop_reason not in ("refusal", "end_turn", "max_tokens"):
        raise Told(Failure("malformed", "the answer is an empty message"))
    if message.usage is None or message.stop_reason is None:
        raise Told(Failure("connection", "the answer was cut before its end"))
    return message


def stopped(message: Message) -> Failure | None:
    """Why a message holds no whole answer; None where it may."""
    if message.stop_reason == "refusal":
        return Failure("refused", "the model declined to answer")
    if message.stop_reason in ("max_tokens", "model_context_window_exceeded"):
        return Failure("cut", f"a response reached the limit ({message.stop_reason})")
    return None
