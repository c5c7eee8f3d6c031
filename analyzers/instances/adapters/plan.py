"""One set of inputs: an expression for each parameter, and what the names in them stand for."""

from __future__ import annotations

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


@dataclass(frozen=True)
class Given:
    """A size that the constructor was given, by the name it was asked for."""

    name: str
    hint: int


@dataclass(frozen=True)
class Names:
    """What the names in expressions stand for: sizes of the constructor, of a layer, or free ones.

    A free size whose usual name the constructor uses for another is called `input_...`.
    """

    given: Mapping[str, int]
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
        called = f"input_{name}" if name in self.given else name
        alias = f"free_{called}"
        count = 2
        while alias in self.table and getattr(self.table[alias], "hint", hint) != hint:
            alias, count = f"free_{called}_{count}", count + 1
        self.table[alias] = Free(alias.removeprefix("free_"), hint, meaning)
        return alias


@dataclass(frozen=True)
class Plan:
    """The inputs of one call."""

    expressions: Mapping[str, str]
    names: Names
    positional: tuple[str, ...] = ()

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
