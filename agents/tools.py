"""What a model may call: a name, a schema and a function; arguments checked, time and length bounded."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from forwardbook.errors import own_type

PAGE: Final = 12_000
"""Characters of one page of a result."""
LONGEST: Final = 40_000
"""Characters of any result: what is longer is cut, whoever made it."""
SECONDS: Final = 120.0


class Arguments(BaseModel):
    """What a tool takes; a key that it does not know is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Paged(Arguments):
    """Arguments of a tool whose result may have several pages."""

    page: int = Field(default=1, ge=1, description="Which page of the result, from 1.")


@dataclass(frozen=True, slots=True)
class Tool:
    """`run` gets arguments of the type `takes` and gives text; it may be called several times at once."""

    name: str
    description: str
    takes: type[Arguments]
    run: Callable[[Arguments], Awaitable[str]]
    seconds: float = SECONDS

    @property
    def schema(self) -> dict[str, JsonValue]:
        """The JSON schema of the arguments."""
        return self.takes.model_json_schema()

    @property
    def signature(self) -> JsonValue:
        """All that a model sees of it."""
        return {"name": self.name, "description": self.description, "schema": self.schema}


@dataclass(frozen=True, slots=True)
class Call:
    """One call that a model made: arguments as JSON, and the digest of what came back."""

    tool: str
    arguments: str
    result: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What a model reads of a call."""

    text: str
    is_error: bool = False

    def call(self, tool: str, arguments: object) -> Call:
        """The record of the call."""
        digest = hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return Call(tool, json.dumps(arguments, sort_keys=True, default=str), digest, self.is_error)


async def call(tools: Mapping[str, Tool], name: str, arguments: object) -> Result:
    """The result of a call, whatever the model gave; of an exception it reads the type and nothing else."""
    tool = tools.get(name)
    if tool is None:
        return Result(f"there is no tool {name[:80]!r}; there are: {', '.join(sorted(tools))}", True)
    try:
        given = tool.takes.model_validate(arguments)
    except ValidationError as error:
        return Result(problems(error), True)
    try:
        async with asyncio.timeout(tool.seconds):
            text = await tool.run(given)
    except TimeoutError:
        return Result(f"{name} was not done after {tool.seconds:g} s", True)
    except Exception as error:  # noqa: BLE001 - its message may hold anything of this machine
        return Result(f"{name} failed: {own_type(error)}", True)
    return Result(bounded(text))


def problems(error: ValidationError) -> str:
    """What is wrong with a value, a line for each place; the value itself is not repeated."""
    lines = [
        f"{'.'.join(str(part) for part in one['loc']) or 'the whole'}: {one['msg']}" for one in error.errors()
    ]
    return "\n".join(lines[:20])


def bounded(text: str, longest: int = LONGEST) -> str:
    """The text, cut with a remark where it is too long."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]}\n[cut: {len(text) - longest} more characters]"


def paged(text: str, page: int, size: int = PAGE) -> str:
    """One page of a text, of whole lines where they are not too long; its first line says how many."""
    pages = _pages(text, size)
    if page > len(pages):
        return f"there is no page {page}: the last is {len(pages)}"
    if len(pages) == 1:
        return pages[0]
    return f"[page {page} of {len(pages)}]\n{pages[page - 1]}"


def _pages(text: str, size: int) -> list[str]:
    pages = [""]
    for line in text.splitlines(keepends=True) or [""]:
        for start in range(0, len(line), size):
            piece = line[start : start + size]
            if len(pages[-1]) + len(piece) > size:
                pages.append("")
            pages[-1] += piece
    return pages
