"""The decorated definitions of one scope in, the calls that decorating them makes out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from forwardbook.analyzers.calls.values import ClassValue, FunctionValue, Place
from forwardbook.analyzers.index.facts import Call, Definition, Edge

if TYPE_CHECKING:
    from forwardbook.analyzers.calls.resolver import Resolver


def edges(
    resolver: Resolver, scope: Place, definitions: Iterable[Definition], calls: tuple[Call, ...]
) -> Iterator[Edge]:
    """A call of each decorator that the repository defines, or of the function that its call returns."""
    for definition in definitions:
        for number, text in enumerate(definition.decorators):
            line = _line(definition, number, text, calls)
            if line is None:
                continue
            values = resolver.text(scope, text)
            for value in values.alternatives:
                if isinstance(value, FunctionValue) or ("(" not in text and isinstance(value, ClassValue)):
                    yield Edge(
                        path=scope.path,
                        caller=scope.qualname,
                        line=line,
                        how="exact" if len(values.alternatives) == 1 and values.known else "possible",
                        callee_path=value.place.path,
                        callee=value.place.qualname,
                        reason=f"it decorates `{definition.qualname}`",
                    )


def _line(definition: Definition, number: int, text: str, calls: tuple[Call, ...]) -> int | None:
    """The line of a decorator, None where several stand over more lines than there are of them."""
    first, last = definition.decorated.start, definition.span.start
    if not number or last - first == len(definition.decorators):
        return first + number
    called, opened, _ = text.partition("(")
    lines = {call.line for call in calls if call.target == called and first <= call.line < last}
    return lines.pop() if opened and len(lines) == 1 else None
