"""What a recorded run leaves behind: operations with cost and place, module calls, lives of storages."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

import torch

from forwardbook.analyzers.ops.operation import Size
from forwardbook.analyzers.symbolic.attention import Attention
from forwardbook.cost import Cost

NUMBER: Final = re.compile(r"\.(\d+)(?=\.|$)")  # of a place in a list, in a path below a model

@dataclass(frozen=True, slots=True)
class Place:
    """The expression that a frame was evaluating: file, qualified function name and source range."""

    file: str
    function: str
    line: int
    end_line: int
    col: int
    end_col: int


@dataclass(frozen=True, slots=True)
class OperationRecord:
    """One dispatched operation: its cost, the frames of the innermost call (outermost first), divisions.

    `touched` holds, per storage that the operation read, which view of it and how many bytes; `rewritten` the
    same of states (caches and the like) that it wrote into.
    """

    name: str
    cost: Cost
    frames: tuple[Place, ...]
    call: int
    marks: int
    touched: tuple[tuple[int, object, Size], ...]
    attention: Attention | None = None
    rewritten: tuple[tuple[int, object, Size], ...] = ()


def general(path: str) -> str:
    """A path below a model with the places in lists left open, `layers.*.mlp`."""
    return NUMBER.sub(".*", path)


@dataclass(slots=True)
class CallRecord:
    """One call of a module: what ran between `start` and `stop`, called from `site` in its parent."""

    index: int
    module: torch.nn.Module
    path: str
    parent: int
    site: tuple[Place, ...]
    start: int
    stop: int = -1
    guards: tuple[int, int] = (0, 0)
    consumed: tuple[int, int] = (0, 0)
    events: tuple[int, int] = (0, 0)
    arguments: dict[int, Size] = field(default_factory=dict)
    results: dict[int, Size] = field(default_factory=dict)
    kept: frozenset[int] = frozenset()
    """Storages of the state that the caller is left with, where it handed one over."""
    given: str = ""
    """Which parameters of its forward() had a value, in one line."""
    told: tuple[str, ...] = ()
    """What its holder told its constructor beside the config: choices that are not the default."""
    root: type[torch.nn.Module] | None = None
    """The class of the outermost module that was called; nothing of a call by itself."""
    failed: bool = False

    @property
    def kind(self) -> type[torch.nn.Module]:
        return type(self.module)


@dataclass(frozen=True, slots=True)
class Event:
    """A storage born (`size` bytes) or gone (`size` is what it held, `alive` False).

    `operation` is the place in the trace of the one that bore it, or that came next when it died.
    """

    storage: int
    size: Size
    alive: bool
    operation: int = -1


@dataclass(frozen=True, slots=True)
class Unruled:
    """An operation that no rule states the cost of, and where it was issued."""

    name: str
    file: str
    line: int
    call: int


@dataclass(slots=True)
class Trace:
    """A whole recorded run."""

    operations: list[OperationRecord] = field(default_factory=list)
    calls: list[CallRecord] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    unruled: list[Unruled] = field(default_factory=list)
    assumed: Counter[str] = field(default_factory=Counter)
    data: dict[str, int] = field(default_factory=dict)
    """Sizes that only data decides, and what they were in a measured run."""
    weights: dict[int, Size] = field(default_factory=dict)
    tensors: dict[int, int] = field(default_factory=dict)
    """The storage of each parameter and buffer, by the identity of the tensor."""
    capacity: dict[int, Size] = field(default_factory=dict)
    copied: dict[int, list[tuple[int, Size]]] = field(default_factory=dict)
    """For storages into which states were copied unchanged: from which, and how many bytes."""

    def of(self, call: CallRecord) -> list[OperationRecord]:
        """The operations of one call, those of its submodules included."""
        return self.operations[call.start : call.stop]

    def ancestors(self, index: int) -> list[int]:
        """The call and those it ran in, innermost first."""
        chain = []
        while index >= 0:
            chain.append(index)
            index = self.calls[index].parent
        return chain
