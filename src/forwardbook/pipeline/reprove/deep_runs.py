"""A recipe in; out runs of its model as it is, with more layers and with longer inputs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import torch

from forwardbook.analyzers.instances.pretrained.depth import counts_layers
from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.patterns import class_name
from forwardbook.analyzers.symbolic.trace import Trace
from forwardbook.formula import Condition
from forwardbook.pipeline.derivation.explore import FULL
from forwardbook.pipeline.reprove.stored_regimes import StoredRegime
from forwardbook.profiling.asked import asked_of
from forwardbook.profiling.proof import measure, widths_of

DEEP: Final = 12  # layers: enough for what every second to sixth is, few enough for a run of a second
SOME: Final = 4  # layers, where a model refuses so many: two more than it is cut to
LONGER: Final = 16  # times: beyond most windows and what is compressed to one of a sequence
LONG: Final = 1024  # no longer than that, or than twice what it is: sides of images are squared
MOST: Final = 6  # points of proofs at which one recipe is run


@dataclass(frozen=True)
class Run:
    """A measured run, and the sizes and widths at which it was made."""

    trace: Trace
    values: Mapping[str, int]
    dtype: torch.dtype


class DeepRuns:
    """Runs of one recipe with more layers, made when they are asked for."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.hints: Mapping[str, int] = {}
        self.stated: Sequence[Condition] = ()
        """What the recipe asks of its sizes."""
        self.longer: Mapping[str, int] = {}
        """The same with longer inputs."""
        self.besides: Mapping[torch.dtype, Sequence[Run]] = {}
        """Runs at other sizes, by number format; whatever made them put them here."""
        self._plain: dict[torch.dtype, Run | None] = {}
        self._usual: dict[torch.dtype, Sequence[Run]] = {}
        self._others: dict[tuple[object, ...], Sequence[Run]] = {}

    def plain(self, dtype: torch.dtype) -> Run | None:
        """The model as it is, with the first way of making inputs that runs; nothing where none does."""
        if dtype not in self._plain:
            self._plain[dtype] = self._found(dtype)
        return self._plain[dtype]

    def called(self) -> set[str]:
        """The names of the classes that the model as it is calls."""
        plain = self.plain(FULL)
        return {class_name(call.module) for call in plain.trace.calls} if plain is not None else set()

    def usual(self, dtype: torch.dtype) -> Sequence[Run]:
        """The model as it is, with more layers, and so with longer inputs; none where no size counts layers.

        Layers that compress a sequence or look at a window of it show on a long one what they are.
        """
        if dtype not in self._usual:
            plain = self.plain(dtype)
            few = plain is not None and few_counts(self.hints)
            self._usual[dtype] = [plain, *self._more(dtype)] if plain is not None and few else ()
        return self._usual[dtype]

    def where(self, one: StoredRegime, dtype: torch.dtype) -> Sequence[Run]:
        """The model with more layers at a point of a regime's proof, for one that does not hold as it is."""
        width = dtype.itemsize
        points = (point.sizes for point in one.regime.points)
        sizes = next((point for point in points if point.get("a_dtype_bytes", width) == width), {})
        drawn = {**self.hints, **{name: size for name, size in sizes.items() if name in self.hints}}
        key = (dtype, *sorted(drawn.items()))
        if key not in self._others:
            full = len(self._others) == MOST
            self._others[key] = () if full else tuple(self._deeper(drawn, dtype))
        return self._others[key]

    def _found(self, dtype: torch.dtype) -> Run | None:
        for inputs in (self.recipe.inputs, *self.recipe.alternatives):
            one = replace(self.recipe, inputs=inputs, alternatives=())
            try:
                asked = asked_of(one)
                hints = asked.hints
                plain = run_at(one, hints, dtype)
            except Exception:  # noqa: BLE001 - somebody else's model raises anything; other inputs may do
                continue
            self.recipe, self.hints, self.stated = one, hints, asked.stated
            longer = {name: min(hints[name] * LONGER, max(hints[name] * 2, LONG)) for name in asked.of_inputs}
            self.longer = {**hints, **longer}
            return plain
        return None

    def _more(self, dtype: torch.dtype) -> Iterator[Run]:
        yield from self._deeper(self.hints, dtype)
        yield from self._deeper(self.longer, dtype)

    def _deeper(self, sizes: Mapping[str, int], dtype: torch.dtype) -> Iterator[Run]:
        """With more layers of every kind; each kind by itself where all cannot be, and a few where not many.

        Layers that each halve a sequence leave nothing of it for twelve of them.
        """
        asked = [one for one in self.stated if one.is_met(self.hints)]  # others: for larger ones
        few = few_counts(self.hints)
        for many in (few, *([name] for name in few if len(few) > 1)):
            counts = (DEEP, SOME) if len(many) == 1 else (DEEP,)
            tried = ({**sizes, **dict.fromkeys(many, count)} for count in counts)
            run = self._first((deep for deep in tried if all(one.is_met(deep) for one in asked)), dtype)
            if run is not None:
                yield run
                if many is few:
                    return

    def _first(self, tried: Iterable[Mapping[str, int]], dtype: torch.dtype) -> Run | None:
        """The run at the first sizes that the module does not refuse."""
        for sizes in tried:
            with contextlib.suppress(Exception):  # somebody else's model raises anything
                return run_at(self.recipe, sizes, dtype)
        return None


def few_counts(hints: Mapping[str, int]) -> list[str]:
    """The sizes that count layers of which there are few."""
    return [name for name, hint in hints.items() if counts_layers(name) and 1 < hint < DEEP]


def run_at(recipe: Recipe, sizes: Mapping[str, int], dtype: torch.dtype) -> Run:
    """A measured run at sizes, in numbers of a format."""
    widths = widths_of(dtype)
    return Run(measure(recipe, sizes, dtype, widths), {**sizes, **widths}, dtype)
