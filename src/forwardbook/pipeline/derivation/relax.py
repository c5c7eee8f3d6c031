"""Drops conditions that measurement shows to be irrelevant, and finds where the others give way to a regime.

A run writes down every comparison that was answered on the way; most ask whether a size is 1, and change
nothing. Each is put to the test: sizes are drawn that break it, the module is run there, and if the formula
still gives every number it is dropped (those points join the proof). If it does not, the condition stays and
its breach is a place to look for a further regime.

The code beyond a dropped condition may be another path, with guards of its own (`other_side`). They are put
to the test there, too. One that matters takes the place of the condition; where several do, that one stays.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from forwardbook.analyzers.symbolic.assume import independent, informative
from forwardbook.formula import Condition, Expr
from forwardbook.formula.condition import negated
from forwardbook.pipeline.derivation.breaking import Bench
from forwardbook.pipeline.derivation.derived import Derived
from forwardbook.pipeline.derivation.fruitless import Fruitless
from forwardbook.pipeline.derivation.of_callers import Outcome, each_of_callers, of_callers
from forwardbook.pipeline.derivation.ones import excludes_one, is_at_one
from forwardbook.pipeline.derivation.other_side import further_guards
from forwardbook.pipeline.derivation.own_conditions import of_others
from forwardbook.profiling.proof import Point

MOST = 16  # conditions put to the test beside the sizes themselves; the rest are kept as they are


@dataclass
class Learnt:
    """What is known of the paths beyond conditions, from other recipes in the same width of float.

    Heads of a model run what it runs. `beyond` has the guards of the path beyond a test, `asked` all that the
    patterns asked which were tested.
    """

    beyond: dict[str, list[Condition]] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    fruitless: Fruitless = field(default_factory=Fruitless)

    def of(self, test: Condition, derived: Sequence[Derived]) -> list[Condition] | None:
        """Guards beyond a test, where no class that is tested now asks about its sizes by itself.

        All else that the patterns ask must have been asked before: then the modules within run as they did.
        """
        found = self.beyond.get(test.text())
        own = {c for one in derived for c in one.pattern.own}
        if found is None or any(c.symbols() & test.symbols() for c in own):
            return None
        mine = {c.text() for c in own}
        within = {c.text() for one in derived for c in one.pattern.conditions} - mine
        return found if within <= self.asked else None


@dataclass(frozen=True)
class Relaxed:
    """A derived pattern with the conditions that matter, and sizes at which another regime begins."""

    derived: Derived
    conditions: tuple[Condition, ...]
    breaches: tuple[tuple[Condition, dict[str, int]], ...]
    refused: tuple[Condition, ...]


def relax(
    derived: Sequence[Derived],
    seed: int,
    held: Sequence[Condition] = (),
    learnt: Learnt | None = None,
) -> list[Relaxed]:
    """Every pattern with only the conditions that matter; the patterns must stem from one run.

    What is `learnt` of other recipes is used, and added to.
    """
    if not derived:
        return []
    numbers = {name: note.hint for name, note in derived[0].notes.items()}
    essential = [informative(one.pattern.conditions, one.pattern.conditions) for one in derived]
    learnt = Learnt() if learnt is None else learnt
    bench = Bench(derived, essential, held, numbers, random.Random(seed), learnt.fruitless)
    tests = [test for test in _tests(derived, essential) if not is_at_one(test, held)]
    outcomes = {test.text(): bench.outcome_of_two(test) for test in tests}
    undrawn = frozenset(bench.undrawn)
    beyond = {test.text(): _beyond(test, outcomes[test.text()], bench, learnt) for test in tests}
    learnt.asked.update(c.text() for one in derived for c in one.pattern.conditions)
    steady = {c.text(): c for one in derived for c in one.pattern.steady if c.symbols() <= numbers.keys()}
    others = {text: bench.outcome(c) for text, c in list(steady.items())[:MOST]}
    found = [
        _judged(i, one, essential[i], tests, outcomes, beyond, undrawn) for i, one in enumerate(derived)
    ]
    found = [_with(one, _steadying(i, one, others, steady)) for i, one in enumerate(found)]
    seen, kept = [one.derived for one in found], [one.conditions for one in found]
    needed = of_others(seen, kept, held, bench.rng, learnt.fruitless)
    return [_with(one, more) for one, more in zip(found, needed, strict=True)]


def _steadying(
    index: int, one: Relaxed, outcomes: Mapping[str, Outcome | None], steady: Mapping[str, Condition]
) -> list[Condition]:
    """What keeps a number that others made of sizes, where the formula fails beyond: it hangs on the number.

    All that keeps a number of these sizes, if any does: beyond another bound it may have agreed by chance.
    """
    needed = each_of_callers(index, one.conditions, outcomes)
    sizes = {c.symbols() for c in needed}
    return [c for c in steady.values() if c.symbols() in sizes]


def _with(one: Relaxed, more: Sequence[Condition]) -> Relaxed:
    """With conditions of others that its formula hangs on."""
    if not more:
        return one
    return replace(one, conditions=tuple(independent([*one.conditions, *more], zeros=True)))


def _tests(derived: Sequence[Derived], essential: Sequence[Sequence[Condition]]) -> list[Condition]:
    """What to put to the test: every size above 1, then the conditions that say more than that."""
    one = Expr.const(1)
    names = {n: None for d in derived for n in sorted(d.pattern.summary.symbols()) if n in d.notes}
    tests = {c.text(): c for c in (Condition(Expr.symbol(n), ">", one) for n in names)}
    steady = {c.text() for d in derived for c in d.pattern.steady}
    for conditions in essential:
        for condition in conditions[:MOST]:
            if not _divides(condition):
                tests.setdefault(condition.text(), condition)
    # a size beside one at which a number stays what it was may give the same number: no single run tells
    return [one for text, one in tests.items() if text not in steady]


def _divides(condition: Condition) -> bool:
    return "%" in condition.text() and condition.op == "=="


@dataclass(frozen=True)
class _Beyond:
    """Guards of the path beyond a dropped condition, each with a run that breaks it there, if one does."""

    guards: tuple[tuple[Condition, Outcome | None], ...] = ()
    known: bool = True


def _beyond(test: Condition, outcome: Outcome | None, bench: Bench, learnt: Learnt) -> _Beyond:
    """The guards of the run that broke `test` and left formulas as they are, put to the test on that side."""
    if outcome is None or not _is_branch(test, bench):
        return _Beyond()
    sizes, points = outcome
    holding = [one for one, p in zip(bench.derived, points, strict=True) if p and not p.differences]
    guards = learnt.of(test, bench.derived)
    if guards is None:
        guards = further_guards(test, sizes, holding) if holding else []
        if guards is None:
            return _Beyond(known=False)
        if len(holding) == len(points):
            learnt.beyond.setdefault(test.text(), guards)
    if len(guards) > MOST:
        return _Beyond(known=False)
    there = (negated(test),)
    return _Beyond(tuple((guard, bench.outcome(guard, there, test)) for guard in guards))


def _is_branch(test: Condition, bench: Bench) -> bool:
    """Whether code may branch on a test: what it compared, and sizes that a caller chooses, being 1."""
    if any(test in conditions for conditions in bench.essential):
        return True
    notes = bench.derived[0].notes
    return not any(notes[n].source.startswith(("config", "constructor")) for n in test.symbols())


def _judged(
    index: int,
    one: Derived,
    essential: Sequence[Condition],
    tests: Sequence[Condition],
    outcomes: Mapping[str, Outcome | None],
    beyond: Mapping[str, _Beyond],
    undrawn: Collection[str],
) -> Relaxed:
    names = one.pattern.summary.symbols()
    counted = {*one.interpolated, *(name for c in one.pattern.consumed for name in c.symbols)}
    mine = {c.text() for c in essential}
    kept = [c for c in essential if _divides(c) or c.text() not in outcomes]
    breaches: list[tuple[Condition, dict[str, int]]] = []
    refused: list[Condition] = []
    points = list(one.proof.points)
    stated = [c for c in map(Condition.parse, one.recipe.conditions) if c.symbols() <= names]
    for test in tests:
        about_size = test.op == ">" and test.symbols() <= names and test.text() not in mine
        if test.text() not in mine and not about_size:
            continue
        outcome = outcomes[test.text()]
        if outcome is None:
            refused.append(test)
            untold = about_size and (test.symbols() & counted or test.text() in undrawn)
            if test.text() in mine or (untold and not excludes_one(test, [*essential, *stated])):
                kept.append(test)  # what a formula gives of a single layer no run told
            continue
        found = _dropped(index, test, outcome, beyond[test.text()], one.proof.points)
        kept += [c for c, _ in found.breaches]
        breaches += found.breaches
        points += found.points
    kept += of_callers(index, kept, outcomes)
    proof = replace(one.proof, points=points)
    named = names.union(*(c.symbols() for c in kept))
    stated = [c for c in map(Condition.parse, one.recipe.conditions) if c.symbols() <= named]
    said = independent(list({c.text(): c for c in (*stated, *kept)}.values()), zeros=True)
    told = {c.text() for c in said}
    # where a stronger condition ends the weaker one may still hold: there the next regime says so itself
    ends = tuple((test, sizes) for test, sizes in breaches if test.text() in told)
    return Relaxed(replace(one, proof=proof), tuple(said), ends, tuple(refused))


@dataclass(frozen=True)
class _Verdict:
    """What came of a test of a pattern: conditions to keep, with sizes that break them; points that held."""

    breaches: list[tuple[Condition, dict[str, int]]]
    points: list[Point]


def _dropped(
    index: int, test: Condition, outcome: Outcome, beyond: _Beyond, proved: Sequence[Point]
) -> _Verdict:
    """Nothing to keep where the formula holds on the other side; there a guard of that side, or the test."""
    sizes, found = outcome
    point = found[index]
    there = sizes if point is None else {name: point.sizes[name] for name in sizes}
    stays = _Verdict([(test, there)], [])
    if point is None or point.differences or not beyond.known:
        return stays
    points, mattering = [point], []
    for guard, run in beyond.guards:
        if run is None:
            continue  # it cannot be broken on that side: it says no more than that the test is broken
        other = run[1][index]
        if other is not None and not other.differences:
            points.append(other)
        elif other is not None:
            mattering.append((guard, run[0]))
    if not mattering:
        return _Verdict([], points)
    guard, _ = mattering[0]
    if len(mattering) > 1 or not all(guard.is_met(p.sizes) for p in (*proved, *points)):
        return stays
    return _Verdict(mattering, points)
