"""Texts that a model may ask for, chosen before it is asked: numbered source in, paged tools out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import Field

from forwardbook.agents.tools import Arguments, Paged, Tool, paged
from forwardbook.errors import ForwardbookError

SHOWN = 24_000
"""Characters of source that a prompt itself holds; the rest comes page by page."""


class NotServed(ForwardbookError):
    """A file that lies outside of what may be shown."""


class Wanted(Paged):
    """Which text, and which page of it."""

    name: str = Field(max_length=200)


class OpWanted(Arguments):
    """Which operation."""

    name: str = Field(max_length=100, description="Such as `addmm`, or a part of the name.")


def numbered(text: str, first: int = 1) -> str:
    """Source with the number of each line."""
    return "\n".join(f"{number:5}  {line}" for number, line in enumerate(text.splitlines(), first))


def lines_of(path: Path, roots: Iterable[Path], first: int = 1, last: int | None = None) -> str:
    """Numbered lines of a file that really lies below one of the roots, links followed.

    Raises:
        NotServed: it lies elsewhere or cannot be read.
    """
    real = path.resolve()
    if not any(real.is_relative_to(root.resolve()) for root in roots):
        raise NotServed(f"serving {path.name}: it leads out of the folders that may be shown")
    try:
        rows = real.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise NotServed(f"serving {path.name}: {error.strerror or error}") from error
    return numbered("\n".join(rows[first - 1 : last]), first)


def source_tool(texts: Mapping[str, str]) -> Tool:
    """The tool that serves the given texts by name and nothing else."""
    names = ", ".join(sorted(texts))[:2000]

    async def run(arguments: Arguments) -> str:
        assert isinstance(arguments, Wanted)
        text = texts.get(arguments.name)
        return (
            f"nothing is called {arguments.name}; there are: {names}"
            if text is None
            else (paged(text, arguments.page))
        )

    return Tool("source", "Source text by name, in pages. The task lists the names.", Wanted, run)


def rules_tool() -> Tool:
    """The tool that says what our rules count for an operation."""

    async def run(arguments: Arguments) -> str:
        from forwardbook.analyzers.ops import rules

        assert isinstance(arguments, OpWanted)
        wanted = arguments.name.lower()
        found = [
            f"{', '.join(record.names)}: {record.reason}"
            for record in rules()
            if any(wanted in name for name in record.names)
        ]
        return "\n".join(found[:30]) or f"no rule has {arguments.name!r} in its name"

    return Tool("op_rules", "What is counted for an operation, and why.", OpWanted, run)


def digest(*parts: str) -> str:
    """What is behind the tools, as one short text; a recording holds for exactly this."""
    joined = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()[:32]
