"""A class and a call of it; what it costs as a person writes that down who has read its source.

Formulas are texts of the formula language (`//` leaves no rest, `floor(a / b)` rounds), in the names of the
class itself: its constructor's arguments, the fields of its config, the sizes of the tensors that it takes.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Final

from forwardbook.formula import Expr, parse

if TYPE_CHECKING:
    from torch import nn

COUNTER: Final = "torch's counter"
UNFUSED: Final = "torch's counter, fused kernels off"
PRODUCTS: Final = "products in torch's profiler"


class Sizes(dict[str, int]):
    """Sizes by name, also as attributes."""

    def __getattr__(self, name: str) -> int:
        return self[name]


Inputs = tuple[tuple[object, ...], dict[str, object]]
"""Arguments of a call by position and by name."""
Build = Callable[[ModuleType, str, Sizes], "nn.Module"]
"""The module that defines a class, the name of the class and sizes in; an instance out."""


@dataclass(frozen=True)
class Case:
    """One call of one class, with all that it calls; attention is dense."""

    name: str
    """The full name of the class."""
    flops: str
    """Contractions only: a multiply-accumulate counts 2."""
    why: str
    """How the count comes about."""
    build: Build
    inputs: Callable[[Sizes], Inputs]
    points: tuple[Mapping[str, int], Mapping[str, int]]
    """Sizes at which the formulas are held against a run, beside those that definitions give."""
    call: str = "default"
    """Which call it is; `decode` is one new position after kv_len positions in a cache."""
    relations: Mapping[str, str] = field(default_factory=dict)
    """Sizes that the class binds to others: a row is as wide as its heads together."""
    where: Mapping[str, str] = field(default_factory=dict)
    """Abbreviations, each in names of the class and of those before it."""
    weights: str = ""
    """Bytes of the parameters and buffers touched; empty where nobody wrote it down."""
    pointwise_ops: str = ""
    """By the table of docs/rules.md; empty where nobody wrote it down."""
    judge: str = COUNTER
    """How flops are counted in a run."""

    @property
    def formulas(self) -> dict[str, str]:
        """The formulas that were written down, by quantity."""
        found = {"flops": self.flops, "weights": self.weights, "pointwise_ops": self.pointwise_ops}
        return {quantity: text for quantity, text in found.items() if text}

    @property
    def definitions(self) -> dict[str, str]:
        """Relations and abbreviations."""
        return {**self.relations, **self.where}

    def expression(self, quantity: str) -> Expr:
        """A formula with all definitions put in."""
        known: dict[str, Expr] = {}
        for name, text in self.definitions.items():
            known[name] = parse(text, exact=True).subs(known)
        return parse(self.formulas[quantity], exact=True).subs(known)

    @property
    def length(self) -> int:
        """Characters of the formula of flops as it stands."""
        return len(self.flops)

    @property
    def full_length(self) -> int:
        """Characters of the formula of flops and of the abbreviations that it uses."""
        needed, pending = dict[str, str](), [self.flops]
        while pending:
            used = parse(pending.pop(), exact=True).symbols()
            new = {name: text for name, text in self.where.items() if name in used and name not in needed}
            needed |= new
            pending += new.values()
        return self.length + sum(len(f", {{{name}}} = {text}") for name, text in needed.items())

    def sizes(self, place: int) -> Sizes:
        """All sizes of one of the points; bytes of an element are those of float32."""
        found = Sizes(self.points[place], w_dtype_bytes=4)
        for name, text in self.definitions.items():
            found[name] = parse(text, exact=True).evaluate(found)
        return found

    def value(self, quantity: str, sizes: Sizes) -> int:
        """What a formula gives."""
        return parse(self.formulas[quantity], exact=True).evaluate(sizes)

    def instance(self, sizes: Sizes) -> nn.Module:
        """The class itself, built directly, on the CPU and in eval mode."""
        home, _, kind = self.name.rpartition(".")
        return self.build(importlib.import_module(home), kind, sizes).eval()
