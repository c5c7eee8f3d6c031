"""A task and prices in; the most that a session about it can cost, in billionths of a dollar, out."""

from __future__ import annotations

from typing import Final

from forwardbook.agents.analyst import Task
from forwardbook.agents.ledger import Price

CONTEXT: Final = 200_000  # tokens that a model of today reads at most in one request
TURN_BYTES: Final = 60_000  # what a turn adds to the next request at most, results cut as they are


def worst_of(task: Task, price: Price) -> int:
    """The most that a session can cost: each turn reads all before it, as far as a model can, and answers."""
    return sum(_turn(task, price, turn) for turn in range(task.limits.turns))


def last_of(task: Task, price: Price) -> int:
    """The most that one response can cost: the program looks at its budget only after each."""
    return _turn(task, price, task.limits.turns - 1)


def _turn(task: Task, price: Price, turn: int) -> int:
    first = task.prompt.size + len(str(task.schema)) + sum(len(str(tool.signature)) for tool in task.tools)
    size = min(first + 4000 + turn * TURN_BYTES, 2 * (price.largest_prompt or CONTEXT), 2 * CONTEXT)
    return price.worst(size, task.limits.max_tokens)
