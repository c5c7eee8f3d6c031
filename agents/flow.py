"""Tasks in, what became of them out: each answer is checked once more, each failure leaves diagnostics."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, replace

from pydantic import JsonValue, ValidationError

from forwardbook.agents.analyst import Analyst, Answer, Failure, Task
from forwardbook.agents.recordings import key_of
from forwardbook.agents.tools import problems
from forwardbook.errors import own_type


async def settle(task: Task, analyst: Analyst) -> Answer | Failure:
    """The answer of an analyst if it passes schema and checker here, whoever gave it and however."""
    return await _held(task, await analyst.ask(task))


async def _held(task: Task, given: Answer | Failure) -> Answer | Failure:
    if isinstance(given, Failure):
        return given
    try:
        value = task.answer.model_validate(given.value.model_dump(mode="json"))
    except ValidationError as error:
        return _refused(given, f"it does not follow the schema: {problems(error)}")
    try:
        reason = await task.verify(value)
    except Exception as error:  # noqa: BLE001 - a checker that fails has not confirmed anything
        reason = f"the checker failed: {own_type(error)}"
    return _refused(given, reason) if reason else replace(given, value=value)


async def settle_all(tasks: Sequence[Task], analyst: Analyst) -> list[Answer | Failure]:
    """All tasks at once, as many as the analyst lets in; then its connections are given back.

    An analyst with `ask_all` gets them together, such as one that sends batches.
    """
    try:
        together = getattr(analyst, "ask_all", None)
        if together is not None:
            given = await together(tasks)
            return list(await asyncio.gather(*map(_held, tasks, given)))
        return list(await asyncio.gather(*(settle(task, analyst) for task in tasks)))
    finally:
        close = getattr(analyst, "close", None)
        if close is not None:
            await close()


def _refused(answer: Answer, reason: str) -> Failure:
    return Failure("invalid", reason, answer.spent, answer.calls, (*answer.attempts, reason))


def diagnostics(task: Task, model: str, failure: Failure) -> dict[str, JsonValue]:
    """What a person needs to look into a failure: who was asked what, how often, and the checker's words."""
    return {
        "unresolved": failure.detail,
        "kind": failure.kind,
        "role": task.role,
        "model": model,
        "prompt_version": task.prompt.version,
        "recording": key_of(task, model),
        "attempts": [*failure.attempts],
        "calls": [asdict(call) for call in failure.calls],
        "usage": {**asdict(failure.spent), "usd": round(failure.spent.usd, 6)},
    }
