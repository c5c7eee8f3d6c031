"""The steps of a scripted service: what it answers, as values, and as one message or a stream of events."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Say:
    """A response: blocks of text, thinking or tool use, why it stopped, and its usage."""

    blocks: tuple[Json, ...]
    stop: str = ""
    input_tokens: int = 1000
    output_tokens: int = 100
    cache_read: int = 0
    cache_write: int = 0
    delay: float = 0.0


@dataclass(frozen=True)
class Fail:
    """An error of the service."""

    status: int
    type: str
    message: str = "scripted"
    retry_after: str = ""


@dataclass(frozen=True)
class Raw:
    """Any bytes as the body."""

    status: int
    body: str
    content_type: str = "application/json"


@dataclass(frozen=True)
class Drop:
    """The connection is closed without an answer."""


@dataclass(frozen=True)
class Hang:
    """No answer for so many seconds."""

    seconds: float


@dataclass(frozen=True)
class Cut:
    """A stream that ends in the middle of its text."""

    text: str = "half of an ans"


@dataclass(frozen=True)
class Broken:
    """A stream that holds an error event."""

    type: str = "overloaded_error"


Step = Say | Fail | Raw | Drop | Hang | Cut | Broken
Play = Step | Callable[[Json], Step]


def say(*blocks: str | Json, stop: str = "", **usage: Any) -> Say:
    """A response of texts and tool uses."""
    made = tuple({"type": "text", "text": each} if isinstance(each, str) else each for each in blocks)
    return Say(made, stop, **usage)


def use(name: str, arguments: Mapping[str, Any]) -> Json:
    """A call of a tool."""
    return {"type": "tool_use", "name": name, "input": dict(arguments)}


def thinking(text: str) -> Json:
    """A block of thought, which the next request must repeat."""
    return {"type": "thinking", "thinking": text, "signature": "scripted"}


def tool_results(body: Json) -> str:
    """The text of all tool results of a request."""
    found = []
    for message in body["messages"]:
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block.get("type") == "tool_result":
                content = block["content"]
                parts = content if isinstance(content, list) else [{"text": content}]
                found += [str(part.get("text", "")) for part in parts]
    return "\n".join(found)


def message_of(step: Say, body: Json) -> Json:
    """A whole response; tool uses get new identities each time."""
    blocks = [
        {**block, "id": f"toolu_{uuid.uuid4().hex[:16]}"} if block["type"] == "tool_use" else block
        for block in step.blocks
    ]
    stop = step.stop or ("tool_use" if any(b["type"] == "tool_use" for b in blocks) else "end_turn")
    return {
        "id": f"msg_{uuid.uuid4().hex[:16]}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "none"),
        "content": blocks,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {
            "input_tokens": step.input_tokens,
            "output_tokens": step.output_tokens,
            "cache_read_input_tokens": step.cache_read,
            "cache_creation_input_tokens": step.cache_write,
        },
    }


def events_of(message: Json) -> Sequence[tuple[str, Json]]:
    """A response as the events of a stream."""
    usage = message["usage"]
    start = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    events: list[tuple[str, Json]] = [("message_start", {"type": "message_start", "message": start})]
    for index, block in enumerate(message["content"]):
        empty, deltas = _deltas(block)
        begin = {"type": "content_block_start", "index": index, "content_block": empty}
        events.append(("content_block_start", begin))
        for delta in deltas:
            piece = {"type": "content_block_delta", "index": index, "delta": delta}
            events.append(("content_block_delta", piece))
        events.append(("content_block_stop", {"type": "content_block_stop", "index": index}))
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    last = {"type": "message_delta", "delta": end, "usage": {"output_tokens": usage["output_tokens"]}}
    return [*events, ("message_delta", last), ("message_stop", {"type": "message_stop"})]


def _deltas(block: Json) -> tuple[Json, list[Json]]:
    match block["type"]:
        case "text":
            return {**block, "text": ""}, [{"type": "text_delta", "text": block["text"]}]
        case "thinking":
            thought = {"type": "thinking_delta", "thinking": block["thinking"]}
            signed = {"type": "signature_delta", "signature": block["signature"]}
            return {**block, "thinking": "", "signature": ""}, [thought, signed]
        case _:
            text = json.dumps(block["input"])
            half = len(text) // 2
            parts = [{"type": "input_json_delta", "partial_json": p} for p in (text[:half], text[half:])]
            return {**block, "input": {}}, parts
