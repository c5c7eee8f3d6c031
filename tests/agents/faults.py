"""The fault table: what a service or a connection may do, and the kind of failure that it must end in."""

from typing import Final

from forwardbook.agents.analyst import FailureKind

from .script import Broken, Cut, Drop, Fail, Hang, Raw, Step, say

FAULTS: Final[dict[str, tuple[Step, FailureKind]]] = {
    "429": (Fail(429, "rate_limit_error"), "rate"),
    "529": (Fail(529, "overloaded_error"), "overloaded"),
    "500": (Fail(500, "api_error"), "server"),
    "401": (Fail(401, "authentication_error"), "auth"),
    "403": (Fail(403, "permission_error"), "auth"),
    "404": (Fail(404, "not_found_error"), "auth"),
    "too long": (Fail(400, "invalid_request_error", "prompt is too long: 300000 tokens"), "too_long"),
    "413": (Fail(413, "request_too_large"), "too_long"),
    "dropped": (Drop(), "connection"),
    "malformed": (Raw(200, "{oops"), "malformed"),
    "html": (Raw(200, "<html>hello</html>", "text/html"), "malformed"),
    "empty": (Raw(200, ""), "malformed"),
    "empty object": (Raw(200, "{}"), "malformed"),
    "empty stream": (Raw(200, "", "text/event-stream"), "malformed"),
    "cut stream": (Cut(), "connection"),
    "error event": (Broken(), "overloaded"),
    "hang": (Hang(30), "timeout"),
    "refusal": (say("no", stop="refusal"), "refused"),
    "max tokens": (say("and so on", stop="max_tokens"), "cut"),
    "text only": (say("four"), "invalid"),
}
