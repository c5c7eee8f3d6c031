"""The parameter analyst: parameters without a value in, a task for formulas over the configuration out."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from forwardbook.agents.analyst import Task, TaskLimits
from forwardbook.agents.prompt import render
from forwardbook.agents.served import SHOWN, digest, source_tool
from forwardbook.agents.tools import bounded
from forwardbook.errors import FormulaError
from forwardbook.formula import parse

ROLE: Final = "parameter_analyst"
Place = tuple[str, str]
"""The owner of a parameter and its name."""
Confirm = Callable[[Mapping[Place, int]], Awaitable[str]]
"""Holds values against what is proved; in words what does not fit, empty where they are confirmed."""


async def _believed(values: Mapping[Place, int]) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Missing:
    """A parameter of a layer that nothing gave a value; `known` where it can be counted all the same.

    `built` is what the layer says of itself as it was built.
    """

    name: str
    owner: str
    meaning: str = ""
    built: str = ""
    known: int | None = None


class Filled(BaseModel):
    """One parameter's value and where it comes from."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    owner: str
    name: str
    formula: str = Field(max_length=500, description="Over fields of the configuration in braces.")
    source: str = Field(max_length=500)


class Values(BaseModel):
    """What was found; what is not found is left out."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    values: tuple[Filled, ...] = Field(default=(), max_length=400)


def task(
    model: str,
    missing: Sequence[Missing],
    config: Mapping[str, JsonValue],
    texts: Mapping[str, str],
    limits: TaskLimits | None = None,
    confirm: Confirm = _believed,
) -> Task:
    """The task; its checker evaluates every formula, then `confirm` holds the values against the proof."""
    wanted = {(one.owner, one.name): one for one in missing}
    numbers = numbers_of(config)

    async def check(value: BaseModel) -> str:
        assert isinstance(value, Values)
        problems = [line for one in value.values if (line := problem_of(one, wanted, numbers))]
        return "\n".join(problems) or await confirm(evaluated(value, numbers))

    shown = json.dumps(config, indent=1, sort_keys=True)
    facts = {"model": model, "missing": list(missing), "config": bounded(shown, SHOWN)}
    context = digest(shown, *(f"{name}={text}" for name, text in sorted(texts.items())))
    facts["others"] = sorted(texts)
    limits = limits or TaskLimits(seconds=300)
    return Task(ROLE, render(ROLE, facts), Values, check, (source_tool(texts),), context, limits)


def numbers_of(config: Mapping[str, JsonValue], prefix: str = "") -> dict[str, int]:
    """The whole numbers of a configuration by name; those of its parts as `part.name`."""
    found: dict[str, int] = {}
    for key, value in config.items():
        if isinstance(value, dict):
            found |= numbers_of(value, f"{prefix}{key}.")
        elif isinstance(value, int) and not isinstance(value, bool):
            found[f"{prefix}{key}"] = value
    return found


def evaluated(values: Values, numbers: Mapping[str, int]) -> dict[Place, int]:
    """The number of each value that has no problem."""
    return {(one.owner, one.name): parse(one.formula).evaluate(numbers) for one in values.values}


def problem_of(one: Filled, wanted: Mapping[tuple[str, str], Missing], numbers: Mapping[str, int]) -> str:
    """Why a value does not stand; empty where it does."""
    place = f"{one.name} of {one.owner}"
    asked = wanted.get((one.owner, one.name))
    if asked is None:
        return f"{place}: nobody asked for it"
    try:
        formula = parse(one.formula)
        if unknown := sorted(formula.symbols() - numbers.keys()):
            return f"{place}: {', '.join(unknown)} is no field of the configuration that is a whole number"
        value = formula.evaluate(numbers)
    except FormulaError as error:
        return f"{place}: {error}"
    if value < 0:
        return f"{place}: {one.formula} is {value}"
    if asked.known is not None and value != asked.known:
        return f"{place}: {one.formula} is {value}, but {asked.known} was counted"
    return ""
