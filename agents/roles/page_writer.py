"""The page writer: facts of a source file in, a task for prose whose claims the verifier judges out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from forwardbook.agents.analyst import Task, TaskLimits, Verify
from forwardbook.agents.prompt import render
from forwardbook.agents.served import SHOWN, digest, source_tool
from forwardbook.agents.tools import Arguments, Tool, bounded

ROLE: Final = "page_writer"


class ProseBlock(BaseModel):
    """One block: a heading or paragraph, a list, or a Mermaid diagram."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    kind: Literal["heading", "paragraph", "bullets", "diagram"]
    text: str = Field(default="", max_length=6000)
    items: tuple[str, ...] = Field(default=(), max_length=40)

    @model_validator(mode="after")
    def _is_filled(self) -> ProseBlock:
        if self.kind == "bullets" and (not self.items or self.text):
            raise ValueError("bullets have items and no text")
        if self.kind != "bullets" and (not self.text.strip() or self.items):
            raise ValueError(f"a {self.kind} has text and no items")
        return self


class Prose(BaseModel):
    """What the writer submits."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    blocks: tuple[ProseBlock, ...] = Field(min_length=1, max_length=60)


class Draft(Arguments):
    """Blocks to try."""

    blocks: tuple[ProseBlock, ...] = Field(min_length=1, max_length=60)


@dataclass(frozen=True)
class Question:
    """The facts of one file."""

    path: str
    lines: int
    source: str
    definitions: Sequence[Mapping[str, object]] = ()
    calls: Sequence[str] = ()
    digest: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)


def task(question: Question, check: Verify, limits: TaskLimits | None = None) -> Task:
    """The task; `check` puts the blocks on the page and says which claims the source contradicts."""
    prompt = render(
        ROLE,
        {
            "path": question.path,
            "lines": question.lines,
            "definitions": list(question.definitions)[:300],
            "calls": list(question.calls)[:200],
            "source": bounded(question.source, SHOWN),
        },
    )
    texts = {**question.texts, question.path: question.source}
    return Task(
        role=ROLE,
        prompt=prompt,
        answer=Prose,
        verify=check,
        tools=(source_tool(texts), check_page(check)),
        context=digest(question.digest, *(f"{name}={text}" for name, text in sorted(texts.items()))),
        limits=limits or TaskLimits(),
        consults=True,
    )


def check_page(check: Verify) -> Tool:
    """The tool that verifies blocks without submitting them."""

    async def run(arguments: Arguments) -> str:
        assert isinstance(arguments, Draft)
        return await check(Prose(blocks=arguments.blocks)) or "no claim is contradicted"

    return Tool(
        "check_page",
        "Holds every claim of your blocks against the source: spans, names, relations, diagrams. "
        "Says which are contradicted and what is true instead.",
        Draft,
        run,
        seconds=300,
    )
