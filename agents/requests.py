"""A task in, the request of the Messages API for it out, and the most that it could cost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from forwardbook.agents import tools as toolbox
from forwardbook.agents.analyst import Task
from forwardbook.agents.ledger import Price

Json = dict[str, object]
SUBMIT: Final = "submit"


@dataclass(frozen=True, slots=True)
class Preview:
    """A request that was not sent, and worst cases in billionths of a dollar: of it, and of all turns."""

    text: str
    first: int
    whole: int


def request_body(task: Task, messages: Sequence[Json]) -> Json:
    """What is sent, what is the same for every task of a role first."""
    submit: Json = {
        "name": SUBMIT,
        "description": "Submit the answer. It is checked; if it is refused, the reason comes back: mend it "
        "and submit again.",
        "input_schema": task.schema,
    }
    served: list[Json] = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
        for tool in task.tools
    ]
    return {
        "max_tokens": task.limits.max_tokens,
        "system": [{"type": "text", "text": task.prompt.system, "cache_control": {"type": "ephemeral"}}],
        "tools": [*served, submit],
        "messages": [*messages],
        "cache_control": {"type": "ephemeral"},
    }


def first_body(task: Task) -> Json:
    """The first request of a task."""
    return request_body(task, [{"role": "user", "content": task.prompt.text}])


def batch_body(task: Task) -> Json:
    """The request of a task as it stands in a batch: there is nobody to serve tools."""
    return first_body(replace(task, tools=()))


def preview(task: Task, price: Price, *, batch: bool = False) -> Preview:
    """The first request as it would be sent, and the most that it and the whole task could cost.

    In a batch the first costs half; a conversation may follow where its answer does not hold.
    """
    body = batch_body(task) if batch else first_body(task)
    text = json.dumps(body, ensure_ascii=False, indent=1)
    size = len(json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    grown = toolbox.LONGEST + task.limits.max_tokens * 4
    worst = sum(price.worst(size + turn * grown, task.limits.max_tokens) for turn in range(task.limits.turns))
    first = price.worst(size, task.limits.max_tokens)
    return Preview(text, half(first), half(first) + worst) if batch else Preview(text, first, worst)


def half(nano: int) -> int:
    """The price of a request in a batch, rounded up."""
    return -(-nano // 2)
