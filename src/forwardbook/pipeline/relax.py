"""Drops conditions that measurement shows to be irrelevant, and finds where the others give way to a regime.

A run writes down every comparison that was answered on the way; most ask whether a size is 1, and change
nothing. Each is put to the test: sizes are drawn that break it, the module is run there, and if the formula
still gives every number it is dropped (those points join the proof). If it does not, the condition stays and
its breach is a place to look for a further regime.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from forwardbook.analyzers.symbolic.assume import independent, informative
from forwardbook.analyzers.symbolic.patterns import find_call
from forwardbook.analyzers.symbolic.summary import summarise
from forwardbook.formula import Condition, Expr
from forwardbook.pipeline.regimes import Derived, negated
from forwardbook.profiling.proof import Point, compare, measure, widths_of
from forwardbook.profiling.sizes import draw

MOST = 16  # conditions put to the test beside the sizes themselves; the rest are kept as they are


# One condition is broken at a time, where that can be: whether all others shall hold, and how many starts.
TRIES = ((True, 2), (False, 2), (False, 20))


@dataclass(frozen=True)
class Relaxed:
    """A derived pattern with the conditions that matter, and sizes at which another regime begins."""

    derived: Derived
    conditions: tuple[Condition, ...]
    breaches: tuple[tuple[Condition, dict[str, int]], ...]
    refused: tuple[Condition, ...]


def relax(derived: Sequence[Derived], seed: int, held: Sequence[Condition] = ()) -> list[Relaxed]:
    """Every pattern with only the conditions that matter; the patterns must stem from one run."""
    if not derived:
        return []
    rng = random.Random(seed)
    numbers = {name: note.hint for name, note in derived[0].notes.items()}
    essential = [informative(one.pattern.conditions, one.pattern.conditions) for one in derived]
    tests = _tests(derived, essential)
    outcomes = {test.text(): _outcome(test, derived, essential, held, numbers, rng) for test in tests}
    return [_judged(i, one, essential[i], tests, outcomes) for i, one in enumerate(derived)]


def _symbols(one: Derived) -> frozenset[str]:
    found: set[str] = set()
    for size in one.pattern.summary.quantities().values():
        found |= Expr.of(size).symbols()
    return frozenset(found)


def _tests(derived: Sequence[Derived], essential: Sequence[Sequence[Condition]]) -> list[Condition]:
    """What to put to the test: every size above 1, then the conditions that say more than that."""
    one = Expr.const(1)
    names = {n: None for d in derived for n in sorted(_symbols(d)) if n in d.notes}
    tests = {c.text(): c for c in (Condition(Expr.symbol(n), ">", one) for n in names)}
    for conditions in essential:
        for condition in conditions[:MOST]:
            if not _divides(condition):
                tests.setdefault(condition.text(), condition)
    return list(tests.values())


def _divides(condition: Condition) -> bool:
    return "%" in condition.text() and condition.op == "=="


_Outcome = tuple[dict[str, int], list[Point | None]] | None


def _outcome(
    test: Condition,
    derived: Sequence[Derived],
    essential: Sequence[Sequence[Condition]],
    held: Sequence[Condition],
    numbers: Mapping[str, int],
    rng: random.Random,
) -> _Outcome:
    """Sizes that break the condition, and every pattern held against a run there; None if none ran."""
    first = derived[0]
    broken = negated(test)
    fixed = {}
    if test.op == ">" and test.right == Expr.const(1) and len(test.symbols()) == 1:
        fixed = {next(iter(test.symbols())): 1}
    general = [*(Condition.parse(c) for c in first.recipe.conditions), *held]
    others = {c.text(): c for conditions in essential for c in conditions}
    others.pop(test.text(), None)
    larger = [n for n, value in numbers.items() if value > 1 and n not in test.symbols()]
    above = [Condition(Expr.symbol(n), ">", Expr.const(1)) for n in larger]
    for strict, attempts in TRIES:
        wanted = [broken, *general, *([*others.values(), *above] if strict else [])]
        wanted = [c for c in wanted if c.symbols() <= set(numbers)]
        sizes = draw(numbers, wanted, rng, fixed, attempts=attempts, repairs=60)
        if sizes is None:
            continue
        widths = widths_of(first.dtype)
        try:
            trace = measure(first.recipe, sizes, first.dtype, widths)
        except Exception:  # noqa: BLE001 - the module refuses these sizes: its own condition
            continue
        points: list[Point | None] = []
        for one in derived:
            call = find_call(trace, one.pattern.path, one.pattern.occurrence)
            measured = summarise(trace, call, {}) if call is not None else None
            points.append(
                compare(one.pattern.summary, measured, {**sizes, **widths}) if measured is not None else None
            )
        return sizes, points
    return None


def _judged(
    index: int,
    one: Derived,
    essential: Sequence[Condition],
    tests: Sequence[Condition],
    outcomes: Mapping[str, _Outcome],
) -> Relaxed:
    names = _symbols(one)
    mine = {c.text() for c in essential}
    kept = [c for c in essential if _divides(c) or c.text() not in outcomes]
    breaches: list[tuple[Condition, dict[str, int]]] = []
    refused: list[Condition] = []
    points = list(one.proof.points)
    for test in tests:
        about_size = test.op == ">" and test.symbols() <= names and test.text() not in mine
        if test.text() not in mine and not about_size:
            continue
        outcome = outcomes[test.text()]
        if outcome is None:
            refused.append(test)
            if test.text() in mine:
                kept.append(test)
            continue
        sizes, found = outcome
        point = found[index]
        if point is not None and not point.differences:
            points.append(point)
        else:
            kept.append(test)
            breaches.append((test, sizes))
    proof = replace(one.proof, points=points)
    stated = [c for c in map(Condition.parse, one.recipe.conditions) if c.symbols() <= names]
    said = independent(list({c.text(): c for c in (*stated, *kept)}.values()), zeros=True)
    told = {c.text() for c in said}
    # where a stronger condition ends the weaker one may still hold: there the next regime says so itself
    ends = tuple((test, sizes) for test, sizes in breaches if test.text() in told)
    return Relaxed(replace(one, proof=proof), tuple(said), ends, tuple(refused))
