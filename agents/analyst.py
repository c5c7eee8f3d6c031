"""What an analyst is asked and what it gives back: a task in, a checked answer or a kind of failure out."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, get_args

from pydantic import BaseModel, JsonValue

from forwardbook.agents.prompt import Prompt
from forwardbook.agents.tools import Call, Tool

FailureKind = Literal[
    "auth",  # the key is missing, unknown or not allowed this model
    "rate",  # too many requests
    "overloaded",  # the service is at its limit
    "server",  # a fault of the service
    "connection",  # refused, dropped, or cut in the middle of an answer
    "timeout",  # no answer within the limit
    "refused",  # the model declined to answer
    "cut",  # the answer reached the limit of tokens
    "turns",  # no answer within the limit of turns
    "budget",  # the next request could cost more than is left
    "invalid",  # what was submitted never passed the checker, or nothing was submitted
    "malformed",  # the service answered with what is no message
    "too_long",  # the prompt does not fit the model
    "unresolved",  # no model was asked: the static engine has no answer
    "unrecorded",  # a recording was asked for and there is none, or it was changed
    "internal",  # a fault of ours
]
KINDS: Final[tuple[FailureKind, ...]] = get_args(FailureKind)
RETRIED: Final = frozenset({"rate", "overloaded", "server", "connection", "timeout"})
"""Kinds after which asking once more may help."""

Verify = Callable[[BaseModel], Awaitable[str]]
"""Holds an answer against the truth; the reason why it fails, empty where it holds."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What was used: requests, tokens by kind, and billionths of a dollar."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read: int = 0
    cache_write: int = 0
    nano_usd: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.requests + other.requests,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.nano_usd + other.nano_usd,
        )

    @property
    def tokens_in(self) -> int:
        """All that was read, from the cache or not."""
        return self.input_tokens + self.cache_read + self.cache_write

    @property
    def usd(self) -> float:
        """Dollars, for people."""
        return self.nano_usd / 1e9


@dataclass(frozen=True, slots=True)
class TaskLimits:
    """How long and how much one task may take; `max_tokens` bounds one response."""

    seconds: float = 600.0
    turns: int = 16
    max_tokens: int = 8000
    attempts: int = 5
    """How many answers may fail the checker before the task is given up."""


@dataclass(frozen=True)
class Task:
    """One question: prompt, shape of the answer, tools, limits, and the checker that decides.

    `context` is a digest of what is behind the tools (sources, versions): it is part of a recording's key.
    `static` answers without a model, where the static engine can.
    """

    role: str
    prompt: Prompt
    answer: type[BaseModel]
    verify: Verify
    tools: tuple[Tool, ...] = ()
    context: str = ""
    limits: TaskLimits = field(default_factory=TaskLimits)
    consults: bool = False
    """Whether servers that the user names for documentation may be asked."""
    static: Callable[[], BaseModel | None] = lambda: None

    @property
    def schema(self) -> dict[str, JsonValue]:
        """The JSON schema of the answer."""
        return schema_of(self.answer)


@dataclass(frozen=True, slots=True)
class Answer:
    """A value that passed the checker, who gave it, and what it took."""

    value: BaseModel
    model: str
    spent: Spent = Spent()
    calls: tuple[Call, ...] = ()
    attempts: tuple[str, ...] = ()
    """What the checker said of each answer before this one."""
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no answer, and what was spent all the same."""

    kind: FailureKind
    detail: str
    spent: Spent = Spent()
    calls: tuple[Call, ...] = ()
    attempts: tuple[str, ...] = ()


class Analyst(Protocol):
    """Whoever answers tasks."""

    @property
    def model(self) -> str:
        """The name of the model; `static` where there is none."""
        ...

    async def ask(self, task: Task) -> Answer | Failure:
        """The answer, or the kind of failure; raises nothing but cancellation."""
        ...


def schema_of(answer: type[BaseModel]) -> dict[str, JsonValue]:
    """The JSON schema of a model with no key left open, as services that follow schemas want it."""
    schema = answer.model_json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        if part.get("type") == "object":
            part.setdefault("additionalProperties", False)
    return schema


def compact(value: JsonValue) -> str:
    """JSON that is the same for the same value."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
