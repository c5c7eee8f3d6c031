"""Turns the facts of a native file into its calls, each with the definition it stands in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from forwardbook.analyzers.index.facts import Call, Definition, FileFacts

_FUNCTIONS = ("function", "method", "kernel", "macro")


class Owned(NamedTuple):
    """A call, the qualified name of the definition around it (empty: the file), and that definition."""

    call: Call
    function: str
    around: Definition | None

    @property
    def name(self) -> str:
        """The last part of the callee: `free` of `allocator->free`."""
        return last_part(self.call.target)

    def argument(self, number: int) -> str:
        """An argument as written, empty where there are fewer."""
        given = self.call.arguments
        return given[number] if number < len(given) else ""


def last_part(target: str) -> str:
    """The last part of a callee as written."""
    return target.replace("->", ".").replace("::", ".").rpartition(".")[2]


def owned_calls(facts: FileFacts) -> Iterator[Owned]:
    """Every call of the file: at its own level first, then by definition."""
    for call in facts.calls:
        yield Owned(call, "", None)
    for definition in facts.definitions:
        for call in definition.calls:
            yield Owned(call, definition.qualname, definition)


def variable(text: str) -> str:
    """The name of what an argument passes: `(void**)&this->data` is `data`."""
    text = text.rpartition(")")[2] if text.startswith(("(", "reinterpret_cast", "static_cast")) else text
    text = text.strip().strip("()&* ")
    return text.removeprefix("this->").removesuffix(".get()").strip("()&* ")


def function_at(facts: FileFacts, line: int) -> Definition | None:
    """The innermost function or macro around a line."""
    around = [one for one in facts.definitions if one.kind in _FUNCTIONS and line in one.span]
    return max(around, key=lambda one: one.span.start, default=None)
