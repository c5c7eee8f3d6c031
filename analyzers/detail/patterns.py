"""A file in, the design patterns that its code follows out, each with the rule and the lines that show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from forwardbook.analyzers.detail.class_patterns import (
    context_manager,
    delegation,
    fluent,
    iterator,
    mixin,
    observer,
    singleton,
    template_method,
    visitor,
)
from forwardbook.analyzers.detail.facts import Pattern
from forwardbook.analyzers.detail.function_patterns import (
    decorator,
    factory,
    generator_context,
    memoised,
    monkey_patch,
    plugins,
    producer_consumer,
    registry,
    strategy,
)
from forwardbook.analyzers.detail.open_file import OpenFile
from forwardbook.analyzers.detail.scopes import Scope

_OF_CLASSES: Final[tuple[Callable[[OpenFile, Scope], Iterator[Pattern]], ...]] = (
    context_manager,
    visitor,
    singleton,
    iterator,
    observer,
    mixin,
    template_method,
    fluent,
    delegation,
)
_OF_FUNCTIONS: Final[tuple[Callable[[OpenFile, Scope], Iterator[Pattern]], ...]] = (
    generator_context,
    factory,
    decorator,
    memoised,
)
_OF_FILES: Final[tuple[Callable[[OpenFile], Iterator[Pattern]], ...]] = (
    registry,
    producer_consumer,
    strategy,
    monkey_patch,
    plugins,
)


def patterns(file: OpenFile) -> tuple[Pattern, ...]:
    """Every pattern that a rule recognises, by the line of its first evidence."""
    found = [each for rule in _OF_FILES for each in rule(file)]
    found += [each for scope in file.classes for rule in _OF_CLASSES for each in rule(file, scope)]
    found += [each for scope in file.functions for rule in _OF_FUNCTIONS for each in rule(file, scope)]
    return tuple(sorted(found, key=lambda each: (each.evidence[0].line, each.name)))
