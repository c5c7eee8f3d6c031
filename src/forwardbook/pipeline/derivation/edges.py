"""Regimes of a call in; out regimes for the combinations of its sizes at their least: 1, 0 of a padding.

A run takes sizes to be 2 or more. Where a formula gives what is measured with sizes at their least, it is
said to hold there; where it does not, the call is run with these sizes as numbers, as a regime of its own.
What is asked of the others then is that these sizes are not all at their least, in place of whatever the run
asked about it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from math import prod

import torch
from torch import nn

from forwardbook.analyzers.instances.recipe import InputMaker, Inputs, Recipe, Sizes
from forwardbook.analyzers.symbolic.trace import Trace
from forwardbook.formula import Condition, Expr
from forwardbook.formula.condition import negated
from forwardbook.pipeline.derivation.derived import Derived
from forwardbook.pipeline.derivation.found import Found, sized
from forwardbook.profiling.proof import Point, measure, met_in, widths_of
from forwardbook.profiling.sizes import draw

Least = Mapping[str, int]
MOST = 12  # further regimes of one call
_TOGETHER = 6  # sizes of which any may be at their least at once, of those at which a formula fails
_COUNTS = ("groups", "head", "layers")
_TRIES = 2  # points for each combination


@dataclass(frozen=True)
class _Met:
    """What a run at some sizes gave."""

    sizes: Mapping[str, int]
    trace: Trace


def with_edges(
    recipe: Recipe, found: Sequence[Found], seed: int, regimes: Callable[[Recipe], Sequence[Found]]
) -> list[Found]:
    """The regimes with what they are found to hold for, and further ones; `regimes` derives those of a call.

    Only what is proved is changed, and only where the recipe states what its sizes are at least.
    """
    if not recipe.least or not all(one.exact for one in found):
        return list(found)
    edges = _Edges(recipe, random.Random(seed), regimes)
    return edges.closed([edges.without_edges(one, tested=True) for one in found])


class _Edges:
    def __init__(
        self, recipe: Recipe, rng: random.Random, regimes: Callable[[Recipe], Sequence[Found]]
    ) -> None:
        self._recipe, self._rng, self._regimes = recipe, rng, regimes
        self._stated = [Condition.parse(text) for text in recipe.conditions]
        self._runs: dict[tuple[torch.dtype, tuple[tuple[str, int], ...]], list[_Met]] = {}
        self._hints: Mapping[str, int] = {}
        self._sources: Mapping[str, str] = {}

    def without_edges(self, one: Found, *, tested: bool) -> Found:
        """The regime without what was asked that only sizes at their least break, or that changes nothing.

        Where it was `tested` already what changes nothing is gone.
        """
        self._hints = {name: note.hint for name, note in one.derived.notes.items()}
        self._sources = {name: note.source for name, note in one.derived.notes.items()}
        inside = [Condition.at_least(name, low + 1) for name, low in self._least.items()]
        said = {c.text() for c in self._stated}
        kept = list(one.conditions)
        for condition in one.conditions:
            free = sized([condition]) and condition.symbols() <= self._hints.keys()
            if condition.text() in said or not free:
                continue
            others = [c for c in kept if c is not condition and sized([c])]
            if self._is_needless(one, [*self._stated, *others, *inside, negated(condition)], tested):
                kept.remove(condition)
        return replace(one, conditions=tuple(kept))

    def _is_needless(self, one: Found, broken: Sequence[Condition], tested: bool) -> bool:
        """Whether no sizes above their least break a condition, or the formulas hold where they do."""
        for _ in range(_TRIES):
            sizes = draw(self._hints, broken, self._rng)
            if sizes is None:
                return True
            if tested:
                return False
            for dtype in one.dtypes:
                met = self._run(sizes, dtype)
                if met is None or not _equal(one, dtype, met):
                    return False
        return True

    @property
    def _least(self) -> Least:
        return {name: low for name, low in self._recipe.least.items() if name in self._hints}

    def closed(self, found: list[Found]) -> list[Found]:
        """The regimes, and those that begin at combinations of sizes at their least."""
        zeros = {name: low for name, low in self._least.items() if low == 0}
        further: list[Found] = []
        failed: dict[str, None] = {}
        for at in self._combinations(failed):
            wrong, covered = self._tried(at, [*found, *further])
            if covered and not wrong:
                continue
            failed.update(dict.fromkeys(at))
            found = [_away(one, at) if id(one) in wrong else one for one in found]
            further = [_away(one, at) if id(one) in wrong else one for one in further]
            if len(further) < MOST and (len(at) == 1 or all(map(self._is_count, at))):
                further += self._at(at)
        return [_with_zeros(one, zeros) for one in (*found, *further)]

    def _combinations(self, failed: Mapping[str, None]) -> Iterator[dict[str, int]]:
        """Each size at its least, each two of them; then more of those at which a formula failed."""
        least = self._least
        yield from ({name: low} for name, low in least.items())
        usual = [(name, low) for name, low in least.items() if low and self._is_count(name)]
        yield from (dict(pair) for pair in combinations(usual, 2))
        zeros = {name: low for name, low in least.items() if low == 0}
        if len(zeros) > 2:
            yield zeros
        some = [(name, least[name]) for name in failed if self._is_count(name)][:_TOGETHER]
        for count in range(3, len(some) + 1):
            yield from (dict(several) for several in combinations(some, count))

    def _is_count(self, name: str) -> bool:
        """Whether it is often 1: what the caller chooses, groups, heads, layers; widths seldom are."""
        return self._sources[name].endswith(".forward") or any(word in name for word in _COUNTS)

    def _tried(self, at: Least, found: Sequence[Found]) -> tuple[set[int], bool]:
        """Which regimes give another number there than is measured; whether one holds, in both widths."""
        wrong: set[int] = set()
        covered = True
        for dtype in dict.fromkeys(dtype for one in found for dtype in one.dtypes):
            for met in self._met(at, dtype):
                holding = [one for one in found if dtype in one.dtypes and _holds(one, met.sizes, at)]
                right = {id(one) for one in holding if _equal(one, dtype, met)}
                wrong |= {id(one) for one in holding if id(one) not in right}
                covered = covered and bool(right)
        return wrong, covered

    def _met(self, at: Least, dtype: torch.dtype) -> list[_Met]:
        """Runs with these sizes at their least and the others above; none where the module refuses."""
        key = (dtype, tuple(at.items()))
        if key not in self._runs:
            inside = [Condition.at_least(n, low + 1) for n, low in self._least.items() if n not in at]
            self._runs[key] = list(self._measured(at, dtype, inside))
        return self._runs[key]

    def _measured(self, at: Least, dtype: torch.dtype, inside: Sequence[Condition]) -> Iterator[_Met]:
        for _ in range(_TRIES if len(at) == 1 else 1):
            sizes = draw(self._hints, [*self._stated, *inside], self._rng, at)
            met = self._run(sizes, dtype) if sizes is not None else None
            if met is None:
                return
            yield met

    def _run(self, sizes: Mapping[str, int], dtype: torch.dtype) -> _Met | None:
        """What a run gives; None where the module refuses these sizes."""
        try:
            trace = measure(self._recipe, sizes, dtype, widths_of(dtype))
        except Exception:  # noqa: BLE001 - whatever the module raises
            return None
        return _Met({**sizes, **widths_of(dtype)}, trace)

    def _at(self, at: Least) -> list[Found]:
        """The regimes of the call with these sizes as numbers."""
        try:
            made = self._regimes(_pinned(self._recipe, at))
        except Exception:  # noqa: BLE001 - nothing is known there: no regime holds
            return []
        label = ", ".join(f"{name} == {low}" for name, low in at.items())
        exact = [self._beside(at).without_edges(one, tested=False) for one in made if one.exact]
        return [_said(one, at, label, self._recipe) for one in exact]

    def _beside(self, at: Least) -> _Edges:
        return _Edges(_pinned(self._recipe, at), self._rng, self._regimes)


def _holds(one: Found, sizes: Mapping[str, int], at: Least) -> bool:
    """Whether all its conditions are met; a size that is 0 is tried where it might hold."""
    return all(c.is_met(sizes) for c in one.conditions if c.symbols() <= sizes.keys())


def _equal(one: Found, dtype: torch.dtype, met: _Met) -> bool:
    member = next((d for d in (one.derived, *one.also) if d.dtype == dtype), None)
    if member is None:
        return False
    point = met_in(met.trace, one.derived.pattern, met.sizes)
    return point is not None and not point.differences


def _away(one: Found, at: Least) -> Found:
    """The regime, where not all of these sizes are at their least."""
    ones, zeros = ([Expr.symbol(n) for n, low in at.items() if low == least] for least in (1, 0))
    above = Condition(prod(ones, start=Expr.const(1)), ">", Expr.const(1))
    if zeros:  # beside others at 1 too: a formula that fails there is not said to hold for them either
        above = Condition(sum(zeros, start=Expr.const(0)), ">", Expr.const(0))
    if above.text() in {c.text() for c in one.conditions}:
        return one
    return replace(one, conditions=(*one.conditions, above))


def _with_zeros(one: Found, zeros: Least) -> Found:
    """The regime with each size said that may be 0."""
    known = {c.text() for c in one.conditions}
    barred = {f"{{{name}}} > 0" for name in zeros} & known
    said = [Condition.at_least(n, 0) for n in zeros if f"{{{n}}} > 0" not in barred]
    return replace(one, conditions=(*one.conditions, *(c for c in said if c.text() not in known)))


def _pinned(recipe: Recipe, at: Least) -> Recipe:
    """The recipe with some sizes as numbers."""
    values: dict[str, int | Expr] = dict(at)
    conditions = [Condition.parse(text).subs(values) for text in recipe.conditions]
    return replace(
        recipe,
        build=partial(_build, recipe.build, at),
        inputs=partial(_inputs, recipe.inputs, at),
        alternatives=(),
        conditions=tuple(c.text() for c in conditions if c.symbols()),
        numbers={**recipe.numbers, **at},
        least={name: low for name, low in recipe.least.items() if name not in at},
    )


def _build(build: Callable[[Sizes], nn.Module], at: Least, sizes: Sizes) -> nn.Module:
    return build(_Some(sizes, at))


def _inputs(
    inputs: Callable[[Sizes, nn.Module, InputMaker], Inputs],
    at: Least,
    sizes: Sizes,
    module: nn.Module,
    maker: InputMaker,
) -> Inputs:
    return inputs(_Some(sizes, at), module, maker)


@dataclass(frozen=True)
class _Some:
    """Sizes of which some are numbers."""

    sizes: Sizes
    at: Least

    def __call__(self, name: str, hint: int, meaning: str = "", source: str = "") -> int:
        return self.at[name] if name in self.at else self.sizes(name, hint, meaning, source)


def _said(one: Found, at: Least, label: str, recipe: Recipe) -> Found:
    """A regime of pinned sizes as one of the recipe: what they are is a condition, and in its points."""
    values: dict[str, int | Expr] = dict(at)
    stated = [Condition.parse(text).subs(values) for text in recipe.conditions]
    known = {c.text() for c in one.conditions}
    said = [c for c in stated if c.symbols() and not c.is_trivially_true() and c.text() not in known]
    conditions = (*(Condition.that_is(name, low) for name, low in at.items()), *said)
    name = one.label.replace(recipe.scenario, f"{recipe.scenario}, {label}", 1)

    def whole(derived: Derived) -> Derived:
        points = [_at_point(point, at) for point in derived.proof.points]
        return replace(derived, proof=replace(derived.proof, points=points))

    return replace(one.each(whole), conditions=(*conditions, *one.conditions), label=name, beyond=True)


def _at_point(point: Point, at: Least) -> Point:
    return replace(point, sizes={**point.sizes, **at})
