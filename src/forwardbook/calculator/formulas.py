"""One regime as code: the formulas of a regime as methods that take sizes and give integers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

Number = TypeVar("Number")


@dataclass(frozen=True, slots=True)
class LineCost(Generic[Number]):
    """What one line of forward() computes and moves."""

    line: int
    end_line: int
    code: str
    flops: Number
    pointwise_ops: Number
    reads: Number
    writes: Number


@dataclass(frozen=True, slots=True)
class Costs(Generic[Number]):
    """All quantities of one call, and the regime that gave them (the regimes, where arrays met several)."""

    regime: str
    flops: Number
    pointwise_ops: Number
    reads: Number
    writes: Number
    weights: Number
    boundary: Number
    intermediates: Number
    peak: Number


class RegimeFormulas:
    """The formulas of one regime; each method takes the sizes it needs by name and ignores the others."""

    name: ClassVar[str]
    context: ClassVar[str] = ""
    parameters: ClassVar[tuple[str, ...]]
    conditions: ClassVar[tuple[str, ...]] = ()
    python_names: ClassVar[dict[str, str]] = {}
    """The Python name of each symbol that is not one itself, such as `text_config.hidden_size`."""

    choices: ClassVar[dict[str, object]] = {}
    """Arguments of the constructor and of forward() that are no sizes, with the values of its calls."""

    names: ClassVar[frozenset[str]]
    least_sizes: ClassVar[dict[str, int]]
    """Of each parameter: formulas are simplified for sizes from 1 on; 0 only where a condition allows it."""

    holds: ClassVar[Callable[..., tuple[bool, ...]]]
    """Whether each of `conditions` is true."""

    flops: ClassVar[Callable[..., int]]
    pointwise_ops: ClassVar[Callable[..., int]]
    reads: ClassVar[Callable[..., int]]
    writes: ClassVar[Callable[..., int]]
    weights: ClassVar[Callable[..., int]]
    boundary: ClassVar[Callable[..., int]]
    intermediates: ClassVar[Callable[..., int]]
    peak: ClassVar[Callable[..., int]]
    lines: ClassVar[Callable[..., tuple[LineCost[int], ...]]]

    @classmethod
    def arguments(cls, sizes: Mapping[str, Number]) -> dict[str, Number]:
        """The sizes under the names that the methods take."""
        return {cls.python_names.get(name, name): sizes[name] for name in cls.parameters}

    def __init_subclass__(cls) -> None:
        cls.names = frozenset(cls.parameters)
        cls.least_sizes = {name: 0 if f"{{{name}}} >= 0" in cls.conditions else 1 for name in cls.parameters}
