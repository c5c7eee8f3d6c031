"""Message Batches of a scripted service: created, polled, their results in any order, with faults."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .script import Fail, Json, Say, Step, message_of

if TYPE_CHECKING:
    from .server import Scripted

START = "2026-01-01T00:00:00Z"
Result = Say | Fail | str | None
"""A message, an error, a word such as `expired`, or no line at all."""


@dataclass
class Batches:
    """`plays` gives the result of each request; a batch ends when it was looked at `looks` times."""

    plays: Callable[[Json], Result] | None = None
    looks: int = 1
    create: list[Step] = field(default_factory=list)
    """Faults before a batch is made; `poll` and `fetch` before a look, and before its results."""
    poll: list[Step] = field(default_factory=list)
    fetch: list[Step] = field(default_factory=list)
    address: str = ""
    """Where results are said to lie, if not here."""
    made: list[list[Json]] = field(default_factory=list)
    cancelled: int = 0
    looked: int = 0

    def answer(self, method: str, path: str, body: Json, server: Scripted) -> Json | str | Step | None:
        """What the service answers; None where it was not about batches."""
        parts = path.split("?")[0].strip("/").split("/")
        match method, parts[3:] if parts[:3] == ["v1", "messages", "batches"] else None:
            case "POST", []:
                if self.create:
                    return self.create.pop(0)
                self.made.append(body["requests"])
                return self._batch(False, server)
            case "POST", [_, "cancel"]:
                self.cancelled += 1
                return self._batch(False, server)
            case "GET", [_]:
                if self.poll:
                    return self.poll.pop(0)
                self.looked += 1
                return self._batch(self.looked > self.looks, server)
            case "GET", [_, "results"]:
                if self.fetch:
                    return self.fetch.pop(0)
                return "".join(
                    f"{json.dumps(line)}\n" for one in reversed(self.made[-1]) if (line := self._line(one))
                )
        return None

    def _batch(self, ended: bool, server: Scripted) -> Json:
        where = f"{self.address or server.url}/v1/messages/batches/msgbatch_{len(self.made)}/results"
        return {
            "id": f"msgbatch_{len(self.made)}",
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": {"processing": 0, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0},
            "created_at": START,
            "expires_at": START,
            "ended_at": START if ended else None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": where if ended else None,
        }

    def _line(self, request: Json) -> Json | None:
        assert self.plays is not None
        result = self.plays(request["params"])
        if result is None:
            return None
        if isinstance(result, Say):
            told: Json = {"type": "succeeded", "message": message_of(result, request["params"])}
        elif isinstance(result, Fail):
            error = {"type": "error", "error": {"type": result.type, "message": result.message}}
            told = {"type": "errored", "error": error}
        else:
            told = {"type": result}
        return {"custom_id": request["custom_id"], "result": told}
