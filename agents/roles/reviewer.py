"""The reviewer: a finished page and its source in, a task for a list of doubts out; each quotes the page."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from forwardbook.agents.analyst import Task, TaskLimits
from forwardbook.agents.prompt import render
from forwardbook.agents.served import SHOWN, digest, source_tool
from forwardbook.agents.tools import bounded

ROLE: Final = "reviewer"


class Doubt(BaseModel):
    """Words of the page, why they are doubted, and the lines of the source that say otherwise."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    quote: str = Field(min_length=4, max_length=600)
    why: str = Field(min_length=4, max_length=600)
    line_start: int = Field(ge=1)
    line_end: int = Field(ge=1)


class Review(BaseModel):
    """All doubts; none where the page bears out."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    doubts: tuple[Doubt, ...] = Field(default=(), max_length=60)


def task(page: str, path: str, source: str, lines: int, limits: TaskLimits | None = None) -> Task:
    """The task; its checker refuses a quote that is not on the page and lines that the file does not have."""

    async def check(value: BaseModel) -> str:
        assert isinstance(value, Review)
        flat = " ".join(page.split())
        found = []
        for one in value.doubts:
            if " ".join(one.quote.split()) not in flat:
                found.append(f"the page does not say {one.quote[:80]!r}")
            if not one.line_start <= one.line_end <= lines:
                found.append(f"lines {one.line_start}-{one.line_end}: {path} has {lines} lines")
        return "\n".join(found)

    facts = {"page": bounded(page, SHOWN), "source": bounded(source, SHOWN)}
    tools = (source_tool({path: source}),)
    return Task(ROLE, render(ROLE, facts), Review, check, tools, digest(page, source), limits or TaskLimits())
