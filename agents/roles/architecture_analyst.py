"""The architecture analyst: a configuration that no rule knows in, a task for the structure behind it out."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from forwardbook.agents.analyst import Task, TaskLimits
from forwardbook.agents.prompt import render
from forwardbook.agents.roles.parameter_analyst import numbers_of
from forwardbook.agents.served import SHOWN, digest, source_tool
from forwardbook.agents.tools import Arguments, Tool, bounded
from forwardbook.errors import FormulaError
from forwardbook.formula import parse

ROLE: Final = "architecture_analyst"
LARGEST: Final = 10**7
"""Above this a whole number of a configuration is no size of a layer."""


class Setting(BaseModel):
    """One field of the class's own configuration, and where its value comes from; one of the three."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str = Field(max_length=100)
    copied: str = Field(default="", max_length=200, description="The field whose value it takes as it is.")
    formula: str = Field(default="", max_length=500, description="Whole numbers over fields in braces.")
    literal: bool | float | str | None = Field(default=None, description="A word or switch of the sources.")


class Part(BaseModel):
    """A class of modules and how often it stands in the whole model."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    class_name: str = Field(max_length=200)
    count: str = Field(max_length=200, description="Whole numbers over fields of the configuration.")


class Structure(BaseModel):
    """The class that builds the model, its configuration, and the modules that must come of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    model_class: str = Field(max_length=200)
    settings: tuple[Setting, ...] = Field(min_length=1, max_length=200)
    parts: tuple[Part, ...] = Field(min_length=1, max_length=200)
    ignored: tuple[str, ...] = Field(default=(), max_length=200, description="Fields without a bearing.")
    reasoning: str = Field(max_length=4000)


class ClassWanted(Arguments):
    """Which class."""

    name: str = Field(max_length=200)


class Tried(Arguments):
    """A structure to try."""

    structure: Structure


Build = Callable[[Structure, Mapping[str, JsonValue]], Awaitable[str]]
"""Builds a structure with the values of its settings; in words what does not fit, empty where all does."""
FieldsOf = Callable[[str], Awaitable[str]]
"""The fields of a class's configuration with their defaults, as text."""


def task(
    config: Mapping[str, JsonValue],
    source: str,
    classes: Sequence[str],
    texts: Mapping[str, str],
    build: Build,
    fields_of: FieldsOf,
    limits: TaskLimits | None = None,
) -> Task:
    """The task; its checker holds names against what there is, then `build` builds it and counts."""
    known = frozenset(classes)

    async def check(value: BaseModel) -> str:
        assert isinstance(value, Structure)
        return "\n".join(problems_of(value, config, known)) or await build(value, values_of(value, config))

    async def fields(arguments: Arguments) -> str:
        assert isinstance(arguments, ClassWanted)
        if arguments.name not in known:
            return f"no class is called {arguments.name}"
        return await fields_of(arguments.name)

    async def tried(arguments: Arguments) -> str:
        assert isinstance(arguments, Tried)
        return await check(arguments.structure) or "it is built, and every count is as you say"

    shown = json.dumps(config, indent=1, sort_keys=True)
    facts = {
        "config": bounded(shown, SHOWN),
        "source": source,
        "classes": sorted(known),
        "others": sorted(texts),
    }
    context = digest(shown, *sorted(known), *(f"{name}={text}" for name, text in sorted(texts.items())))
    tools = (
        source_tool(texts),
        Tool("config_fields", "Fields of a class's configuration, with defaults.", ClassWanted, fields),
        Tool("check_structure", "Builds a structure without submitting it.", Tried, tried, seconds=300),
    )
    return Task(ROLE, render(ROLE, facts), Structure, check, tools, context, limits or TaskLimits())


def problems_of(value: Structure, config: Mapping[str, JsonValue], classes: frozenset[str]) -> Iterator[str]:
    """What a structure names that is not there, and what of the configuration it does not account for."""
    if value.model_class not in classes:
        yield f"no class of models is called {value.model_class}"
    numbers, fields = numbers_of(config), frozenset(_paths(config))
    used: set[str] = set(value.ignored)
    if unknown := sorted(set(value.ignored) - fields):
        yield f"ignored: {', '.join(unknown)}: no such field of the configuration"
    for one in value.settings:
        given = [bool(one.copied), bool(one.formula), one.literal is not None]
        if sum(given) != 1:
            yield f"{one.name}: give one of copied, formula and literal"
        elif one.copied and one.copied not in fields:
            yield f"{one.name}: {one.copied} is no field of the configuration"
        elif one.formula and (problem := _problem(one.formula, numbers)):
            yield f"{one.name}: {problem}"
        used |= {one.copied} | _symbols(one.formula)
    for part in value.parts:
        if problem := _problem(part.count, numbers):
            yield f"{part.class_name}: {problem}"
        used |= _symbols(part.count)
    if left := sorted(name for name in numbers if name not in used and not _covered(name, used)):
        yield (
            f"what becomes of {', '.join(left)}? Use each in a setting or a count, or name it in `ignored` "
            "if the structure does not depend on it"
        )


def values_of(value: Structure, config: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The configuration of the class, for a structure without problems."""
    numbers = numbers_of(config)
    return {
        one.name: _at(config, one.copied)
        if one.copied
        else parse(one.formula).evaluate(numbers)
        if one.formula
        else one.literal
        for one in value.settings
    }


def count_of(part: Part, config: Mapping[str, JsonValue]) -> int:
    """How often a class stands in the whole model."""
    return parse(part.count).evaluate(numbers_of(config))


def _problem(text: str, numbers: Mapping[str, int]) -> str:
    try:
        formula = parse(text)
        if unknown := sorted(formula.symbols() - numbers.keys()):
            return f"{', '.join(unknown)} is no field of the configuration that is a whole number"
        value = formula.evaluate(numbers)
    except FormulaError as error:
        return str(error)
    return "" if -LARGEST <= value <= LARGEST else f"{text} is {value}, which is no size"


def _symbols(text: str) -> frozenset[str]:
    try:
        return parse(text).symbols() if text else frozenset()
    except FormulaError:
        return frozenset()


def _paths(config: Mapping[str, JsonValue], prefix: str = "") -> Iterator[str]:
    for key, value in config.items():
        yield f"{prefix}{key}"
        if isinstance(value, dict):
            yield from _paths(value, f"{prefix}{key}.")


def _covered(name: str, used: set[str]) -> bool:
    """Whether a part of the configuration that holds the field is used or ignored as a whole."""
    parts = name.split(".")
    return any(".".join(parts[:end]) in used for end in range(1, len(parts)))


def _at(config: Mapping[str, JsonValue], path: str) -> JsonValue:
    found: JsonValue = dict(config)
    for part in path.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found
