"""A way to call classes in; out sizes near those that its model has: one is changed, or layers are few."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from forwardbook.analyzers.instances.pretrained.depth import counts_layers
from forwardbook.pipeline.reprove.deep_runs import DEEP, few_counts
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
    """Sizes, and the one of them that was changed on purpose, if a bound of it may be what a regime needs."""

    sizes: dict[str, int]
    changed: str = ""
    is_deep: bool = False
    """Whether its model has many layers, some of which may be of no regime whatever was changed."""


def beside(way: Way, regimes: Sequence[StoredRegime], rng: random.Random) -> Iterator[Beside]:
    """The model's own sizes, each changed alone, each 1, few layers; of these two others are drawn, too."""
    named = {name for one in regimes for formula in one.formulas.values() for name in formula.symbols()}
    alone = (*_each_input(way), *_each_unnamed(way, named), *_many_layers(way, named))
    drawn = (*_ones(way, named, regimes, rng), *_few_layers(way, regimes, rng))
    every = (Beside(dict(way.hints)), *alone, *drawn)
    yield from (one for one in every if way.asked.takes(one.sizes))


def _each_input(way: Way) -> Iterator[Beside]:
    """Each size that inputs alone have several times as large, and one larger.

    What only the largest makes wrong ends somewhere: positions that are told apart up to so many.
    """
    for name in sorted(way.inputs):
        hint = way.hints[name]
        for size in (hint + 1, *(hint * times for times in TIMES)):
            yield Beside({**way.hints, name: size}, name if size == hint * max(TIMES) else "")


def _each_unnamed(way: Way, named: AbstractSet[str]) -> Iterator[Beside]:
    """Each size that no formula names, other than it is, in a model of many layers.

    What a constructor compares with the number of a layer decides of which kind that layer is.
    """
    deep = {**way.hints, **dict.fromkeys(few_counts(way.hints), DEEP)}
    for name in sorted(way.hints.keys() - way.inputs - named):
        hint = way.hints[name]
        others = {hint // 2, hint - 1, hint + 1, hint * 2} - {hint, 0}
        if not counts_layers(name):
            yield from (Beside({**deep, name: n}, name, is_deep=True) for n in sorted(others) if n > 0)


def _many_layers(way: Way, named: AbstractSet[str]) -> Iterator[Beside]:
    """Each count of layers that a formula names, large: which layer is the last of a kind may be a number."""
    for name in sorted(way.hints.keys() & named):
        if counts_layers(name) and 1 < way.hints[name] < MANY:
            yield Beside({**way.hints, name: MANY}, name)


def _ones(
    way: Way, named: AbstractSet[str], regimes: Sequence[StoredRegime], rng: random.Random
) -> Iterator[Beside]:
    """Each size that formulas name as 1, with others drawn as a regime asks that names it.

    Where the width of a head is told, a single head needs another width of all: derivations seldom draw that.
    What costs less with a single one hides behind another peak at most sizes of the others.
    """
    for name in sorted(way.hints.keys() & named):
        if way.hints[name] > 1 and not counts_layers(name):
            naming = [one for one in regimes if name in one.names]
            yield from (Beside(sizes, name) for sizes in _drawn(way, naming, rng, {name: 1}))


def _few_layers(way: Way, regimes: Sequence[StoredRegime], rng: random.Random) -> Iterator[Beside]:
    counts = [name for name in way.hints if counts_layers(name)]
    for few in FEWEST if counts else ():
        fixed = dict.fromkeys(counts, few)
        yield Beside({**way.hints, **fixed})
        yield from map(Beside, _drawn(way, regimes, rng, fixed, but_of=counts))


def _drawn(
    way: Way,
    regimes: Sequence[StoredRegime],
    rng: random.Random,
    fixed: Mapping[str, int],
    but_of: Collection[str] = (),
) -> Iterator[dict[str, int]]:
    """Sizes with some fixed, the others as one of the regimes asks, but for what it asks `but_of` some."""
    for _ in range(DRAWS):
        said = (c for c in rng.choice(regimes).conditions if c.symbols() <= way.hints.keys())
        asked = [*way.asked.stated, *(c for c in said if c.symbols().isdisjoint(but_of))]
        drawn = draw(way.hints, asked, rng, fixed, attempts=ATTEMPTS)
        if drawn is not None:
            yield drawn
