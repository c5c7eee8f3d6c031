"""The nouns of this room: sizes asked for by name, made inputs, recipes, what a person may give for one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pydantic import JsonValue

from forwardbook.errors import ForwardbookError

if TYPE_CHECKING:
    import torch
    from torch import nn

Inputs = tuple[tuple[object, ...], dict[str, object]]


class Sizes(Protocol):
    """Answers a size asked for by name: the hint itself, a drawn integer, or a symbolic integer.

    The same name always gets the same answer."""

    def __call__(self, name: str, hint: int, meaning: str = "", source: str = "") -> int: ...


def hinted(name: str, hint: int, meaning: str = "", source: str = "") -> int:
    """The `Sizes` that answers with the hint itself."""
    return hint


def full_name(cls: type) -> str:
    """What a class is called wherever one is asked for: the path of its module, and its name there."""
    return f"{cls.__module__}.{cls.__qualname__}"


class InputMaker(Protocol):
    """Makes input tensors; integer tensors hold small real values because forward() may branch on them."""

    def floats(self, shape: Sequence[int], dtype: torch.dtype | None = None) -> torch.Tensor:
        """Random values in [0, 1)."""
        ...

    def integers(self, shape: Sequence[int], high: int, low: int = 0) -> torch.Tensor:
        """int64 counting low, low + 1, ..., high - 1 and again, in memory order."""
        ...

    def ones(self, shape: Sequence[int], dtype: torch.dtype | None = None) -> torch.Tensor:
        """All one, and known to be."""
        ...

    def full(self, shape: Sequence[int], value: int) -> torch.Tensor:
        """int64, every element the value."""
        ...

    def made_up(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor, whose values are made up: they stand for any that a user's have."""
        ...


@dataclass(frozen=True)
class Recipe:
    """How to build a module, and inputs, so that a call of the target class runs.

    `build` and `inputs` ask for every size they need; they are called under the caller's device
    (`with torch.device("meta")`). `calls_as` is the class whose calls count: the target, or what a lazy
    target becomes. `build` may return a larger model in which the class is called. `alternatives` are further
    ways to make inputs, to be tried in order when the call raises on the first."""

    target: str
    library: str
    build: Callable[[Sizes], nn.Module]
    inputs: Callable[[Sizes, nn.Module, InputMaker], Inputs]
    scenario: str = "default"
    conditions: tuple[str, ...] = ()
    calls_as: str = ""
    alternatives: tuple[Callable[[Sizes, nn.Module, InputMaker], Inputs], ...] = ()
    choices: Mapping[str, JsonValue] = field(default_factory=dict)
    """Arguments of the target's constructor and forward() that are no sizes, with their plain values."""
    least: Mapping[str, int] = field(default_factory=dict)
    """Of sizes the least that the call is derived for, 1 or 0; where it is another call, by a regime."""
    numbers: Mapping[str, int] = field(default_factory=dict)
    """Sizes of the call that are these numbers, which it does not ask for."""
    needs_values: str = ""
    """Why a plain meta run cannot do (it reads values of its tensors); empty when it can."""
    fixed: tuple[str, ...] = ()
    """What its call fixes that no name in a formula tells, as `start=4`."""
    hints: Mapping[str, int] = field(default_factory=dict)
    """The sizes of a first run by name, where they are known beforehand."""

    def __post_init__(self) -> None:
        if not self.calls_as:
            object.__setattr__(self, "calls_as", self.target)


@dataclass(frozen=True)
class InstanceOptions:
    """What a person gave: `--config file.json`, `--init in_features=64`, `--input x=B,S,H`.

    `input_values` says how inputs are written."""

    config_file: Path | None = None
    init: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    root: Path | None = None
    """The folder to import from, for classes that are in no installed package."""

    def __bool__(self) -> bool:
        return bool(self.config_file or self.init or self.inputs)


class NoRecipe(ForwardbookError):
    """A class nobody told us how to build or call: names what is needed and how to give it (`advice`)."""

    tells_cause = True

    def __init__(
        self,
        target: str,
        found: str,
        arguments: Sequence[str] = (),
        inputs: Sequence[str] = (),
        advice: Sequence[str] = (),
    ) -> None:
        self.target, self.arguments, self.inputs = target, tuple(arguments), tuple(inputs)
        lines = [f"building an instance of {target} to run: {found}"]
        if arguments:
            lines.append("  its constructor needs: " + ", ".join(arguments))
        if inputs:
            lines.append("  its forward() takes:   " + ", ".join(inputs))
        super().__init__("\n".join([*lines, *advice]))
