"""What an operation's schema says, read once: torch makes new objects of it each time it is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: its name, whether it is given by name only, and whether the operation writes into it."""

    name: str
    by_name: bool
    written: bool


@dataclass(frozen=True, slots=True)
class Schema:
    """The names of an operation, its arguments in order, and what its results hang on."""

    name: str
    """Without the namespace, as `mm`."""
    ruled: str
    """As rules call it: `aten.mm`."""
    arguments: tuple[Argument, ...]
    mutable: bool
    dynamic: bool
    """Whether the shape of the result depends on values."""

    def named(self, args: Sequence[object], kwargs: Mapping[str, object]) -> Iterator[tuple[str, object]]:
        """The arguments that a call gives, by name, in the order of the schema."""
        for position, spec in enumerate(self.arguments):
            if position < len(args) and not spec.by_name:
                yield spec.name, args[position]
            elif spec.name in kwargs:
                yield spec.name, kwargs[spec.name]


_READ: dict[torch._ops.OpOverload, Schema] = {}


def schema_of(func: torch._ops.OpOverload) -> Schema:
    """The schema of an operation."""
    found = _READ.get(func)
    if found is None:
        stated = func._schema
        arguments = tuple(
            Argument(one.name, one.kwarg_only, one.alias_info is not None and one.alias_info.is_write)
            for one in stated.arguments
        )
        found = _READ[func] = Schema(
            stated.name.split("::")[1],
            stated.name.replace("forwardbook_symbolic::", "aten::").replace("::", "."),
            arguments,
            stated.is_mutable,
            torch.Tag.dynamic_output_shape in func.tags,
        )
    return found
