"""What stands before a step of a chain in, what the step gives out: an attribute, or the result of a call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forwardbook.analyzers.calls.values import Values, union, unknown

if TYPE_CHECKING:
    from forwardbook.analyzers.calls.resolver import Resolver


def attribute(resolver: Resolver, values: Values, name: str) -> Values:
    """An attribute of each alternative."""
    parts = [resolver.member(value, name) for value in values.alternatives]
    return with_rest(values, parts)


def with_rest(values: Values, parts: list[Values]) -> Values:
    """What the alternatives gave together, unknown where they are not all, no surer than they were."""
    if not values.known:
        parts = [*parts, unknown(values.reason)]
    return union(parts).labelled(values.how)


def called(resolver: Resolver, values: Values) -> Values:
    """What calling each alternative gives."""
    return with_rest(values, [resolver.result(value) for value in values.alternatives])
