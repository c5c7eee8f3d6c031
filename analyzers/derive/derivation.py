"""Runs classes alone, in their own names: first a model as a whole, then each class as that called it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import torch

from forwardbook.analyzers.derive.boundary import Boundary, Watch
from forwardbook.analyzers.derive.handed import Leaf
from forwardbook.analyzers.derive.local import Local
from forwardbook.analyzers.derive.names import Read, names_of
from forwardbook.analyzers.derive.solve import definition, informative
from forwardbook.analyzers.instances.recipe import InputMaker, Inputs, Recipe, Sizes, full_name
from forwardbook.analyzers.symbolic.patterns import conditions_at
from forwardbook.analyzers.symbolic.recorder import Widths
from forwardbook.analyzers.symbolic.run import SymbolicRun, first_that_runs, run_measured, run_symbolically
from forwardbook.formula import Condition, Expr

Making = Callable[[Sizes, torch.nn.Module, InputMaker], Inputs]
"""How the inputs of a recipe are made."""
ROUNDS: Final = 16
"""How many names may be defined by others, one a run: a class has fewer sizes."""


@dataclass(frozen=True)
class Settled:
    """A class alone in names that are its own and free of each other, and the run that shows it."""

    local: Local
    run: SymbolicRun
    watch: Watch
    dtype: torch.dtype
    asked: tuple[Condition, ...]
    """What the run asked of sizes."""

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What was decided where only data can tell."""
        return tuple(sorted(self.run.trace.assumed))

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """What sizes from 2 on must meet beside the definitions; what Python took as a number is that."""
        read = self.run.expressions.of
        taken = dict.fromkeys(one.node for one in self.run.ledger.consumed if not one.real)
        numbers = [Condition(read(node), "==", Expr.const(int(node.number))) for node in taken]
        return tuple(informative([*self.asked, *(one for one in numbers if one.symbols())]))

    @property
    def hints(self) -> dict[str, int]:
        """The free names, with their numbers in the run; those that only data decides among them."""
        data = {name: note.hint for name, note in self.run.notes.items() if note.is_of_data}
        return self.local.free | data


def settle(boundary: Boundary, read: Read, dtype: torch.dtype, turn: int = 0) -> Settled:
    """The class at a boundary, alone; `read` gives a size in the caller's names.

    Where several names are equal `turn` says which of them a size is.

    Each run shows what sizes must be: one is another, or a multiple of another. It is made of that then, and
    the class runs again, until no run shows more.

    Raises:
        Exception: whatever the class raises when it is built or called.
    """
    names, sizes = names_of(boundary, read, turn)
    local = Local(boundary, names, sizes)
    width = dtype.itemsize

    def refuses(numbers: Mapping[str, int]) -> bool:
        try:
            run_measured(local.recipe(), numbers, dtype, Widths(width, width, width))
        except Exception:  # noqa: BLE001 - analysed code may raise anything at sizes of our own choice
            return True
        return False

    for _ in range(ROUNDS):
        settled = at_hints(local, dtype)
        asked, before = settled.asked, dict(local.definitions)
        while (name := definition(local, asked, settled.run, refuses)) is not None:
            asked = tuple(one.subs({name: local.definitions[name]}) for one in asked)
        if local.definitions == before:
            break
    return settled


def at_hints(
    local: Local,
    dtype: torch.dtype,
    hints: Mapping[str, int] | None = None,
    pinned: Mapping[str, int] | None = None,
) -> Settled:
    """One run of a class alone with symbols for its sizes, those of `hints` at other numbers than usual.

    Raises:
        Exception: whatever the class raises when it is built or called.
    """
    run = run_symbolically(local.recipe(watched=True), dtype, hints, pinned)
    asked = conditions_at(run, run.trace.calls[0].path, 0)
    return Settled(local, run, local.watch, dtype, asked or ())


def key_of(boundary: Boundary, sizes: Mapping[str, Expr]) -> object:
    """What tells a way to call a class from others: equal ones have equal formulas."""

    def told(path: str, leaf: Leaf) -> object:
        if isinstance(leaf, torch.SymInt):
            return sizes.get(f"built.{path}", sizes.get(f"called.{path}"))
        shape = (sizes.get(f"called.{path}.{place}") for place in range(leaf.rank))
        dtype = "" if leaf.dtype == boundary.dtype else str(leaf.dtype)
        return dtype, leaf.order, leaf.expanded, leaf.ones, tuple(shape)

    return full_name(boundary.kind), boundary.constructor.key(told), boundary.forward.key(told)


def watched(recipe: Recipe) -> tuple[Recipe, list[Watch]]:
    """The recipe, and a watch for each time that it is built; what fills a cache before is not seen."""
    watches: list[Watch] = []

    def build(sizes: Sizes) -> torch.nn.Module:
        watches.append(Watch())
        return watches[-1].built(lambda: recipe.build(sizes))

    def alone(inputs: Making) -> Making:
        def made(sizes: Sizes, module: torch.nn.Module, maker: InputMaker) -> Inputs:
            found = inputs(sizes, module, maker)
            watches[-1].calls.clear()
            return found

        return made

    alternatives = tuple(map(alone, recipe.alternatives))
    return replace(recipe, build=build, inputs=alone(recipe.inputs), alternatives=alternatives), watches


def run_of_model(recipe: Recipe, dtype: torch.dtype = torch.float32) -> tuple[SymbolicRun, Watch]:
    """One run of a model with symbols for its sizes, and what it showed of the classes within.

    Raises:
        Exception: whatever the model raises.
    """
    alone, watches = watched(recipe)
    _, run = first_that_runs(alone, lambda one: run_symbolically(one, dtype))
    return run, watches[-1]
