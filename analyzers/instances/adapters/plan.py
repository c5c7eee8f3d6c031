"""One set of inputs: an expression for each parameter, and what the names in them stand for."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from forwardbook.analyzers.instances.adapters.consumers import Consumer
from forwardbook.analyzers.instances.notation import Reader
from forwardbook.analyzers.instances.recipe import InputMaker, Inputs, Sizes

if TYPE_CHECKING:
    from torch import nn

FREE: dict[str, tuple[int, str]] = {
    "batch_size": (3, "independent samples in the input"),
    "seq_len": (16, "positions in the sequence"),
    "context_len": (10, "positions attended to"),
    "length": (64, "extent of a one-dimensional signal"),
    "height": (32, "rows of the image"),
    "width": (32, "columns of the image"),
    "depth": (32, "extent of the first dimension of a volume"),
    "frames": (8, "images in a film"),
    "features": (24, "elements of a sample"),
    "nodes": (18, "nodes of the graph"),
    "edges": (40, "edges of the graph"),
}


@dataclass(frozen=True)
class Free:
    """A size that no constructor knows: what it is called, its hint and meaning."""

    name: str
    hint: int
    meaning: str


NUMBERS = (4, 6, 2, 8, 3)
"""Hints for whole numbers that forward() takes: no two alike, most of them divide the sizes above."""


@dataclass(frozen=True)
class Given:
    """A size that the constructor was given, by the name it was asked for."""

    name: str
    hint: int


@dataclass(frozen=True)
class Names:
    """What the names in expressions stand for: sizes of the constructor, of a layer, or free ones.

    A free size whose usual name the constructor, or a whole number that forward() takes, uses for another is
    called `input_...`.
    """

    given: Mapping[str, int]
    numbers: tuple[str, ...] = ()
    """The parameters of forward() that are whole numbers."""
    table: dict[str, Free | Given | Consumer] = field(default_factory=dict)

    def argument(self, name: str) -> str:
        """The name in expressions of a size that the constructor was given."""
        alias = "given_" + name.replace(".", "__")
        self.table[alias] = Given(name, self.given[name])
        return alias

    def layer(self, consumer: Consumer) -> str:
        """The name in expressions of the width of a layer."""
        alias = f"layer_{consumer.path}_{consumer.attribute}".replace(".", "__")
        self.table[alias] = consumer
        return alias

    def free(self, name: str, hint: int | None = None) -> str:
        """The name in expressions of a free size; one for each hint that was asked for."""
        usual, meaning = FREE[name]
        hint = hint or usual
        called = f"input_{name}" if name in self.given or name in self.numbers else name
        alias = f"free_{called}"
        count = 2
        while alias in self.table and getattr(self.table[alias], "hint", hint) != hint:
            alias, count = f"free_{called}_{count}", count + 1
        self.table[alias] = Free(alias.removeprefix("free_"), hint, meaning)
        return alias

    def number(self, parameter: str) -> str:
        """The name in expressions of a whole number that forward() takes: a size of its own."""
        alias = f"number_{parameter}"
        hint = NUMBERS[self.numbers.index(parameter) % len(NUMBERS)]
        called = f"input_{parameter}" if parameter in self.given else parameter
        self.table[alias] = Free(called, hint, f"{parameter} of forward()")
        return alias


@dataclass(frozen=True)
class Plan:
    """The inputs of one call."""

    expressions: Mapping[str, str]
    names: Names
    positional: tuple[str, ...] = ()

    @property
    def fixed(self) -> tuple[str, ...]:
        """What the call fixes that no size tells: numbers, lists, shapes made of a number that it takes."""
        found = []
        for name, text in self.expressions.items():
            node = ast.parse(text, mode="eval").body
            is_number = isinstance(node, ast.Constant) and type(node.value) in (int, float)
            names = [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]
            of_number = isinstance(node, ast.Call) and any(one.startswith("number_") for one in names)
            if is_number or of_number or isinstance(node, ast.List | ast.Tuple):
                found.append(f"{name}={self._said(node)}")
        return tuple(found)

    def _said(self, node: ast.expr) -> str:
        """An expression as a person writes it: sizes as formulas call them, tensors by their shapes."""
        match node:
            case ast.List(elts=items) | ast.Tuple(elts=items):
                a, b = "[]" if isinstance(node, ast.List) else "()"
                return a + "; ".join(map(self._said, items)) + b
            case ast.Call(func=ast.Name(id=kind), args=dims):
                return ",".join(map(self._said, dims[1:] if kind in ("integers", "full") else dims))
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return f"{self._said(left)}*{self._said(right)}"
            case ast.Name(id=alias):
                known = self.names.table.get(alias)
                if isinstance(known, Consumer):
                    return f"{known.path}.{known.attribute}"
                return known.name if known is not None else alias
        return ast.unparse(node)

    def __call__(self, sizes: Sizes, module: nn.Module, maker: InputMaker) -> Inputs:
        """The tensors, their dimensions asked for by name."""

        def size(name: str) -> object:
            match self.names.table.get(name):
                case Free(name=called, hint=hint, meaning=meaning):
                    return sizes(called, hint, meaning, "forward")
                case Given(name=called, hint=hint):
                    return sizes(called, hint, "", "__init__")
                case Consumer() as consumer:
                    return consumer.size(module)
            raise ValueError(f"no size is called {name!r}")

        reader = Reader(size, maker)
        positional = tuple(reader.read(text) for text in self.positional)
        return positional, {name: reader.read(text) for name, text in self.expressions.items()}
