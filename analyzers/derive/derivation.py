"""Derives classes alone: one regime for each way in which a run calls one, in the class's own names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import torch

from forwardbook.analyzers.derive.boundary import Boundary, Watch, constructors
from forwardbook.analyzers.derive.compose import Parts, parts_of
from forwardbook.analyzers.derive.handed import Leaf
from forwardbook.analyzers.derive.local import Local
from forwardbook.analyzers.derive.names import Read, names_of
from forwardbook.analyzers.derive.solve import definition, informative, printed
from forwardbook.analyzers.instances.recipe import Recipe, Sizes, full_name
from forwardbook.analyzers.symbolic.ledger import number_of
from forwardbook.analyzers.symbolic.patterns import Pattern, patterns
from forwardbook.analyzers.symbolic.recorder import Widths
from forwardbook.analyzers.symbolic.run import SymbolicRun, first_that_runs, run_measured, run_symbolically
from forwardbook.formula import Condition, Expr

ROUNDS: Final = 16
"""How many names may be defined by others, one a run: a class has fewer sizes."""
FLOAT32: Final = 4
"""Bytes of an element, while it is asked whether a class runs at all."""


@dataclass(frozen=True)
class Derivation:
    """What a class costs when it is called so, in names that are its own and free of each other."""

    local: Local
    run: SymbolicRun
    pattern: Pattern
    parts: Parts

    @property
    def quantities(self) -> dict[str, Expr]:
        """The eight quantities in names that are free of each other."""
        return {name: Expr.of(size) for name, size in self.pattern.summary.quantities().items()}

    @property
    def formulas(self) -> dict[str, Expr]:
        """The same as a person writes them: `hidden_size` for `num_heads * head_dim`."""
        return {name: printed(value, self.local.definitions) for name, value in self.quantities.items()}

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """What sizes from 2 on must meet beside the definitions."""
        return tuple(informative(self.pattern.conditions))

    @property
    def hints(self) -> dict[str, int]:
        """The free names, with their numbers in the run."""
        known = self.local.names.hints
        return {name: hint for name, hint in known.items() if name not in self.local.definitions}


def derive(boundary: Boundary, read: Read) -> Derivation:
    """The class at a boundary, alone; `read` gives a size in the caller's names.

    Each run shows what sizes must be: one is another, or a multiple of another. It is made of that then, and
    the class runs again, until no run shows more.

    Raises:
        Exception: whatever the class raises when it is built or called.
    """
    names, sizes = names_of(boundary, read)
    local = Local(boundary, names, sizes)

    def refuses(numbers: Mapping[str, int]) -> bool:
        try:
            run_measured(local.recipe(), numbers, torch.float32, Widths(FLOAT32, FLOAT32, FLOAT32))
        except Exception:  # noqa: BLE001 - analysed code may raise anything at sizes of our own choice
            return True
        return False

    for _ in range(ROUNDS):
        run = run_symbolically(local.recipe())
        pattern = patterns(run, local.target)[0]
        if definition(local, pattern.conditions, run.root, refuses) is None:
            break
    return Derivation(local, run, pattern, parts_of(run, local.watch, run.trace.calls[0]))


@dataclass(frozen=True)
class Call:
    """What a class calls, and the names there in its own."""

    child: Derivation
    bindings: Mapping[str, Expr]

    def quantities(self) -> dict[str, Expr]:
        """What the call costs, in names of the class that makes it."""
        return {name: value.subs(self.bindings) for name, value in self.child.quantities.items()}


@dataclass
class Derivations:
    """The derivations of one model or of many: what is called in the same way is derived once."""

    known: dict[object, Derivation | str] = field(default_factory=dict)

    def call(self, boundary: Boundary | str, read: Read) -> Call | str:
        """The call at a boundary, or why its class could not be derived alone."""
        if isinstance(boundary, str):
            return boundary
        names, sizes = names_of(boundary, read)
        key = _key(boundary, sizes)
        if key not in self.known:
            try:
                self.known[key] = derive(boundary, read)
            except Exception as error:  # noqa: BLE001 - analysed code may raise anything
                self.known[key] = f"running it alone: {type(error).__name__}"
        child = self.known[key]
        return child if isinstance(child, str) else Call(child, child.local.bindings(names.callers))

    def calls(self, derivation: Derivation) -> list[Call | str]:
        """The calls that a class makes, in order."""
        read = derivation.run.expressions.of
        return [self.call(child.boundary, read) for child in derivation.parts.children]


def _key(boundary: Boundary, sizes: Mapping[str, Expr]) -> object:
    """What tells a way to call a class from others: equal ones have equal formulas."""

    def told(path: str, leaf: Leaf) -> object:
        if isinstance(leaf, torch.SymInt):
            return sizes.get(f"built.{path}", sizes.get(f"called.{path}"))
        strides = leaf.stride()
        layout = sorted(range(leaf.dim()), key=lambda place: -number_of(strides[place]))
        shape = (sizes.get(f"called.{path}.{place}") for place in range(leaf.dim()))
        return str(leaf.dtype), tuple(layout), tuple(shape)

    return full_name(boundary.kind), boundary.constructor.key(told), boundary.forward.key(told)


def run_of_model(recipe: Recipe) -> tuple[SymbolicRun, Watch]:
    """One run of a model with symbols for its sizes, and what it showed of the classes within.

    Raises:
        Exception: whatever the model raises.
    """
    watches: list[Watch] = []

    def build(sizes: Sizes) -> torch.nn.Module:
        watch = Watch()
        with constructors(watch):
            module = recipe.build(sizes)
        watch.follow(module)
        watches.append(watch)
        return module

    _, run = first_that_runs(replace(recipe, build=build), run_symbolically)
    return run, watches[-1]
