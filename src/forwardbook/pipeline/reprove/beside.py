"""A way to call classes in; out sizes near those that its model has: each changed alone, and few layers."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from forwardbook.analyzers.instances.pretrained.depth import counts_layers
from forwardbook.formula import Condition
from forwardbook.pipeline.reprove.deep_runs import DEEP
from forwardbook.pipeline.reprove.stored_regimes import StoredRegime
from forwardbook.pipeline.reprove.work import Way
from forwardbook.profiling.sizes import draw

TIMES: Final = (2, 10)
MANY: Final = 40  # layers: more than most models have, and than fields that name a layer were made for
FEWEST: Final = (1, 2, 3)  # layers: where a loop is not entered, entered once, and gone through again
DRAWS: Final = 2  # of the other sizes, for each of these: a peak hides another
ATTEMPTS: Final = 6  # to draw them


@dataclass(frozen=True, slots=True)
class Beside:
    """Sizes, and the one of those that a model is built with that alone is not as the model has it."""

    sizes: dict[str, int]
    changed: str = ""


def beside(way: Way, regimes: Sequence[StoredRegime], rng: random.Random) -> Iterator[Beside]:
    """The model's own sizes, then each changed alone, then few layers, others as they are and drawn."""
    alone = (*_each_input(way), *_each_unnamed(way, regimes), *_many_layers(way, regimes))
    drawn = (*_ones(way, regimes, rng), *(Beside(sizes) for sizes in _few_layers(way, regimes, rng)))
    every = (Beside(dict(way.hints)), *alone, *drawn)
    yield from (one for one in every if way.asked.takes(one.sizes))


def _each_input(way: Way) -> Iterator[Beside]:
    """Each size that inputs alone have several times as large, and one larger."""
    for name in sorted(way.inputs):
        hint = way.hints[name]
        for size in (*(hint * times for times in TIMES), hint + 1):
            yield Beside({**way.hints, name: size})


def _each_unnamed(way: Way, regimes: Sequence[StoredRegime]) -> Iterator[Beside]:
    """Each size that no formula names, other than it is, in a model of many layers.

    What a constructor compares with the number of a layer decides of which kind that layer is.
    """
    few = {name: hint for name, hint in way.hints.items() if counts_layers(name) and 1 < hint < DEEP}
    deep = {**way.hints, **dict.fromkeys(few, DEEP)}
    for name in sorted(way.hints.keys() - way.inputs - _named(regimes)):
        hint = way.hints[name]
        others = {hint // 2, hint - 1, hint + 1, hint * 2} - {hint, 0}
        if not counts_layers(name):
            yield from (Beside({**deep, name: size}, name) for size in sorted(others) if size > 0)


def _many_layers(way: Way, regimes: Sequence[StoredRegime]) -> Iterator[Beside]:
    """Each count of layers that a formula names, large: which layer is the last of a kind may be a number."""
    for name in sorted(way.hints.keys() & _named(regimes)):
        if counts_layers(name) and 1 < way.hints[name] < MANY:
            yield Beside({**way.hints, name: MANY}, name)


def _ones(way: Way, regimes: Sequence[StoredRegime], rng: random.Random) -> Iterator[Beside]:
    """Each size that formulas name as 1, with others drawn as a regime asks that names it.

    Where the width of a head is told, a single head needs another width of all: derivations seldom draw that.
    What costs less with a single one hides behind another peak at most sizes of the others.
    """
    for name in sorted(way.hints.keys() & _named(regimes)):
        naming = [one for one in regimes if name in one.names]
        if way.hints[name] > 1 and not counts_layers(name) and naming:
            for _ in range(DRAWS):
                asked = [*way.asked.stated, *_of_others(rng.choice(naming), way.hints, ())]
                drawn = draw(way.hints, asked, rng, {name: 1}, attempts=ATTEMPTS)
                if drawn is not None:
                    yield Beside(drawn, name)


def _named(regimes: Sequence[StoredRegime]) -> set[str]:
    """The sizes that formulas name."""
    return {name for one in regimes for formula in one.formulas.values() for name in formula.symbols()}


def _few_layers(way: Way, regimes: Sequence[StoredRegime], rng: random.Random) -> Iterator[dict[str, int]]:
    counts = [name for name in way.hints if counts_layers(name)]
    for few in FEWEST if counts else ():
        fixed = dict.fromkeys(counts, few)
        yield {**way.hints, **fixed}
        for _ in range(DRAWS):
            asked = [*way.asked.stated, *_of_others(rng.choice(regimes), way.hints, counts)]
            drawn = draw(way.hints, asked, rng, fixed, attempts=ATTEMPTS)
            if drawn is not None:
                yield drawn


def _of_others(one: StoredRegime, hints: Collection[str], counts: Collection[str]) -> Iterator[Condition]:
    """The conditions of a regime that say nothing of how many layers there are."""
    return (c for c in one.conditions if c.symbols() <= set(hints) and c.symbols().isdisjoint(counts))
