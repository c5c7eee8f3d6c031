"""The architecture analyst: a configuration that no rule knows in, a task for the tree of its modules out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from forwardbook.agents.analyst import Task, TaskLimits
from forwardbook.agents.prompt import render
from forwardbook.agents.served import SHOWN, digest, source_tool
from forwardbook.agents.tools import bounded

ROLE: Final = "architecture_analyst"


class Part(BaseModel):
    """A module, how often it stands there, and the field of the configuration behind each of its sizes."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str = Field(max_length=200)
    class_name: str = Field(max_length=200)
    repeat: int | str = Field(default=1, description="A number, or the name of a field.")
    sizes: dict[str, str] = Field(default_factory=dict, description="Size to field of the configuration.")
    parts: tuple[Part, ...] = ()


class Tree(BaseModel):
    """The modules of a model in the order in which they run."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    parts: tuple[Part, ...] = Field(min_length=1, max_length=200)
    unknown: tuple[str, ...] = ()


def task(
    config: Mapping[str, JsonValue],
    source: str,
    classes: Sequence[str],
    texts: Mapping[str, str],
    limits: TaskLimits | None = None,
) -> Task:
    """The task; its checker holds every field and class that is named against what there is."""
    known = frozenset(classes)

    async def check(value: BaseModel) -> str:
        assert isinstance(value, Tree)
        return "\n".join(line for part in value.parts for line in problems_of(part, config, known))

    shown = json.dumps(config, indent=1, sort_keys=True)
    facts = {"config": bounded(shown, SHOWN), "source": source, "classes": sorted(known)[:400]}
    context = digest(shown, *sorted(known), *(f"{name}={text}" for name, text in sorted(texts.items())))
    return Task(
        ROLE, render(ROLE, facts), Tree, check, (source_tool(texts),), context, limits or TaskLimits()
    )


def problems_of(part: Part, config: Mapping[str, JsonValue], classes: frozenset[str]) -> list[str]:
    """What a part names that is not there, a line each."""
    found = []
    if part.class_name not in classes:
        found.append(f"{part.name}: no class is called {part.class_name}")
    if isinstance(part.repeat, str) and not _is_count(config.get(part.repeat)):
        found.append(f"{part.name}: {part.repeat} is no field of the configuration that is a whole number")
    if isinstance(part.repeat, int) and part.repeat < 1:
        found.append(f"{part.name}: it stands there {part.repeat} times")
    for size, name in part.sizes.items():
        if not _is_count(config.get(name)):
            found.append(f"{part.name}, {size}: {name} is no field that is a whole number")
    return [*found, *(line for one in part.parts for line in problems_of(one, config, classes))]


def _is_count(value: JsonValue) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
