"""What tests of agents share: a small task with a checker, and both live backends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from pydantic import BaseModel

from forwardbook.agents.analyst import Answer, Failure, Task, TaskLimits
from forwardbook.agents.api import ApiAnalyst
from forwardbook.agents.ledger import Ledger, prices
from forwardbook.agents.prompt import Prompt
from forwardbook.agents.sdk import SdkAnalyst
from forwardbook.agents.settings import Settings
from forwardbook.agents.tools import Arguments, Paged, Tool, paged

from .server import Scripted

MODEL = "claude-sonnet-5-5"


class Sum(BaseModel):
    """The answer of the small task."""

    total: int
    reasoning: str = ""


async def holds(value: BaseModel) -> str:
    """The small checker."""
    assert isinstance(value, Sum)
    return "" if value.total == 4 else f"predicted {value.total}, measured 4"


async def _facts(arguments: Arguments) -> str:
    assert isinstance(arguments, Paged)
    return paged("two and two\n" * 2000, arguments.page)


FACTS = Tool("facts", "The numbers to add.", Paged, _facts)


def small(number: int = 0, **limits: Any) -> Task:
    """The small task; `number` tells one from another."""
    prompt = Prompt("You add numbers.", f"Add the numbers of task {number}.", "v1")
    return Task("adder", prompt, Sum, holds, (FACTS,), "context", TaskLimits(**limits))


def api(url: str, ledger: Ledger | None = None, **settings: Any) -> ApiAnalyst:
    """The plain backend against a scripted service."""
    made = Settings(base_url=url, model=MODEL, **{"retries": 0, **settings})
    return ApiAnalyst(made, "test-key", ledger or Ledger(), prices()[MODEL], backoff=0.01)


def sdk(url: str, ledger: Ledger | None = None, **settings: Any) -> SdkAnalyst:
    """The agent backend against a scripted service."""
    made = Settings(base_url=url, model=MODEL, **{"retries": 0, **settings})
    return SdkAnalyst(made, "test-key", ledger or Ledger(), prices()[MODEL])


def ask(analyst: Any, *tasks: Task) -> list[Answer | Failure]:
    """The answers to tasks that are asked at once."""

    async def run() -> list[Answer | Failure]:
        try:
            return list(await asyncio.gather(*map(analyst.ask, tasks)))
        finally:
            if hasattr(analyst, "close"):
                await analyst.close()

    return asyncio.run(run())


Served = Callable[..., Scripted]
Run = Callable[..., Coroutine[Any, Any, Any]]


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    """A key in the environment."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")
    return "test-key"
