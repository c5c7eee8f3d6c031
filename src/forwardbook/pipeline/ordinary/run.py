"""A model and a point in; out one measured run of it, and each call in it with its boundary and cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

import torch

from forwardbook.analyzers.derive.boundary import Boundary, Watch
from forwardbook.analyzers.derive.breakdown import watched_places
from forwardbook.analyzers.derive.derivation import watched
from forwardbook.analyzers.instances.recipe import InputMaker, Inputs, Recipe, Sizes, full_name
from forwardbook.analyzers.symbolic.recorder import Widths
from forwardbook.analyzers.symbolic.run import run_measured
from forwardbook.analyzers.symbolic.summary import summarise
from forwardbook.analyzers.symbolic.trace import CallRecord, Trace
from forwardbook.formula import Expr
from forwardbook.pipeline.composed.measured import LOW, WIDE
from forwardbook.schema import WIDTH_NAMES

BATCHES: Final = (1, 2, 8)
TOKENS: Final = (1, 16, 128, 2048)
DTYPES: Final = (LOW, WIDE)
TOKEN_NAMES: Final = ("seq_len", "kv_len", "decoder_seq_len", "encoder_seq_len")
"""What recipes call the number of tokens; in a cache those that were before."""


@dataclass(frozen=True, order=True)
class Place:
    """A point of a run: samples, tokens, bytes of each number."""

    batch_size: int
    tokens: int
    dtype_bytes: int

    @property
    def dtype(self) -> torch.dtype:
        """The format of numbers of so many bytes."""
        return next(one for one in DTYPES if one.itemsize == self.dtype_bytes)

    def sizes(self) -> dict[str, int]:
        """What a recipe is told at it."""
        return {"batch_size": self.batch_size, **dict.fromkeys(TOKEN_NAMES, self.tokens)}


EVERYWHERE: Final = tuple(Place(b, t, d.itemsize) for t in TOKENS for b in BATCHES for d in DTYPES)


@dataclass
class Run:
    """One run: its trace, what was handed over in it, and the sizes that the recipe asked for."""

    trace: Trace
    watch: Watch
    asked: frozenset[str]
    dtype_bytes: int

    @property
    def widths(self) -> dict[str, int]:
        """Bytes of elements, and the sizes that only data decided."""
        return {**self.trace.data, **dict.fromkeys(WIDTH_NAMES, self.dtype_bytes)}

    def calls(self) -> Iterator[tuple[str, CallRecord, Boundary | str]]:
        """Each call: its class, its record, and its boundary or why it has none."""
        places = watched_places(self.trace, self.watch)
        for call in self.trace.calls:
            place = places.get(call.index)
            told = "its call was not seen" if place is None else self.watch.boundary(place)
            yield full_name(call.kind), call, told

    def measured(self, call: CallRecord) -> dict[str, int]:
        """Every quantity of a call; a buffer of its caller that it is handed is no weight of it."""
        quantities = summarise(self.trace, call, {}).quantities()
        found = {name: Expr.of(size).const_value() for name, size in quantities.items()}
        own = {self.trace.tensors.get(id(one)) for one in (*call.module.parameters(), *call.module.buffers())}
        read = {storage for one in self.trace.of(call) for storage, _, _ in one.touched}
        for storage in (read & call.arguments.keys() & self.trace.weights.keys()) - own:
            found["weights"] -= Expr.of(self.trace.weights[storage]).const_value()
        return found


def run_at(recipe: Recipe, sizes: Mapping[str, int], place: Place) -> Run:
    """A model called once on meta, watched.

    Raises:
        Exception: whatever the model raises.
    """
    asked = set[str]()

    def noted(sizes: Sizes) -> Sizes:
        def answer(name: str, hint: int, meaning: str = "", source: str = "") -> int:
            asked.add(name)
            return sizes(name, hint, meaning, source)

        return answer

    def build(sizes: Sizes) -> torch.nn.Module:
        return recipe.build(noted(sizes))

    def inputs(sizes: Sizes, module: torch.nn.Module, maker: InputMaker) -> Inputs:
        return recipe.inputs(noted(sizes), module, maker)

    width = place.dtype_bytes
    alone, watches = watched(replace(recipe, build=build, inputs=inputs, alternatives=()))
    trace, _ = run_measured(alone, {**sizes, **place.sizes()}, place.dtype, Widths(width, width, width))
    return Run(trace, watches[-1], frozenset(asked), width)
