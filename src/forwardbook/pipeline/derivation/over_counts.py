"""Formulas that fail because a size became a number in; the same over all counts out, proved again."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from forwardbook.analyzers.symbolic.divisible import told
from forwardbook.analyzers.symbolic.loops import Made, without_loops, without_nested_loops
from forwardbook.analyzers.symbolic.patterns import Pattern
from forwardbook.analyzers.symbolic.rising import are_peaks_of
from forwardbook.analyzers.symbolic.summary import Summary
from forwardbook.formula import Condition, FormulaError
from forwardbook.pipeline.derivation.counts_bounded import both_sides, bounded, never_far, wrong_far
from forwardbook.pipeline.derivation.counts_from import Lowering
from forwardbook.pipeline.derivation.counts_tried import Counts, Favoured, counts_of, well_above
from forwardbook.pipeline.derivation.derived import (
    Derived,
    held_by_caller,
    loop_names,
    under,
    with_counts_said,
)
from forwardbook.profiling.proof import PatternProof, predict, prove, widths_of

WIDE = 12  # beyond it a number is rather a length that is gone through in steps than a count of layers
FIRST = 2  # ways of choosing counts that are tried before such lengths stay as they are

Proved = dict[int, tuple[Pattern, PatternProof]]


def over_counts(
    derived: Sequence[Derived],
    seed: int,
    points: int = 3,
    hints: Mapping[str, int] | None = None,
    held: Sequence[Condition] = (),
    favoured: Favoured | None = None,
    progress: list[Derived] | None = None,
) -> list[Derived]:
    """Patterns of one run; those whose formulas fail because a size became a number, interpolated over it.

    What is found to work is written into `favoured`; what others wrote there is tried first. Whoever may end
    this before its time gives a list for `progress`: it has each pattern as far as that is by then.
    """
    state = progress if progress is not None else []
    state[:] = derived
    numbers = {name: note.hint for one in derived[:1] for name, note in one.notes.items()}
    work = _Work(state, numbers, seed, points, hints, held, {} if favoured is None else favoured)
    named = {i: loop_names(one, numbers) for i, one in enumerate(derived) if not one.pattern.unruled}
    gone = {i: _gone(derived[i].pattern, names) for i, names in named.items()}
    held_too = {i: _and_held(derived[i], numbers, names) for i, names in named.items()}
    tried: set[tuple[int, tuple[str, ...]]] = set()
    for chosen, together in ((held_too, False), (gone, True), (gone, False), (named, True)):
        groups: dict[tuple[str, ...], list[int]] = {}
        for index, names in chosen.items():
            if names and (index, names) not in tried and not _settled(state[index]):
                groups.setdefault(names, []).append(index)
        for names, members in (_nested(groups) if together else groups).items():
            tried |= {(index, names) for index in members}
            work.made.clear()
            work.interpolate(names, members)
    return [with_counts_said(one) for one in state]


def _gone(pattern: Pattern, names: Sequence[str]) -> tuple[str, ...]:
    """Those that the formulas do not name: a size that became the count of a loop left no symbol there.

    One that they name was asked for its value beside; only where the others do not explain why the formulas
    fail it is interpolated over as well.
    """
    left = pattern.summary.symbols()
    return tuple(name for name in names if name not in left) or tuple(names)


def _and_held(one: Derived, numbers: Mapping[str, int], names: Sequence[str]) -> tuple[str, ...]:
    """The sizes that a caller chose and a loop holds, with those to interpolate over; none without such."""
    mine = held_by_caller(one, numbers)
    return tuple(sorted({*mine, *names})) if mine else ()


@dataclass(frozen=True)
class _Work:
    """Patterns of one run by number, `derived`; each is replaced where it comes to hold over counts."""

    derived: list[Derived]
    numbers: Mapping[str, int]
    seed: int
    points: int
    hints: Mapping[str, int] | None
    held: Sequence[Condition]
    favoured: Favoured
    still: tuple[Condition, ...] = ()
    """What holds wide numbers as they are, while others are interpolated over."""
    near: dict[int, Pattern] = field(default_factory=dict)
    """What those were whose formula holds for few counts alone: kinds of layers may come round later."""
    made: Made = field(default_factory=dict)
    """The runs at counts of these names: ways of choosing some overlap (2, 4, 6, 8 and 4 to 7 layers)."""

    def interpolate(self, names: tuple[str, ...], members: Sequence[int]) -> None:
        """Try counts until all members hold.

        Where lengths are among them, they stay as they are in between: those that are gone through in steps
        take as many layers to interpolate over, and seldom leave a polynomial.
        """
        before = self.favoured.get(names)
        wide = [name for name in names if self.numbers[name] > WIDE]
        others = tuple(name for name in names if name not in wide)
        ways = counts_of(names, self.numbers, self._lengths(names, members))
        if wide and others:
            above = well_above(names, self.numbers)
            ways.sort(key=lambda way: way.nested or way.apart or way.starts == above)
        for place, counts in enumerate(sorted(ways, key=lambda one: one != before)):
            if place == FIRST and wide and others:
                still = tuple(Condition.that_is(n, self.numbers[n]) for n in wide)
                replace(self, still=still).interpolate(others, members)
            if left := [i for i in members if self._is_open(i, counts)]:
                self._tried(names, left, counts)

    def _lengths(self, names: Sequence[str], members: Sequence[int]) -> set[str]:
        """The sizes of inputs, and those that became a float or a text: they count no kinds of layers."""
        notes = self.derived[0].notes
        floated = {n for i in members for c in self.derived[i].pattern.floated for n in c.symbols}
        return {n for n in names if n in floated or notes[n].source in ("forward", "--input")}

    def _is_open(self, index: int, counts: Counts) -> bool:
        """Whether counts may give a formula that holds, or one that holds for more."""
        return not _settled(self.derived[index]) or (index in self.near and counts.rounds)

    def _tried(self, names: tuple[str, ...], members: Sequence[int], counts: Counts) -> None:
        derived, starts = self.derived, counts.starts
        first, chosen = derived[members[0]], [self.near.get(i, derived[i].pattern) for i in members]
        known = _known(derived, members, starts)
        try:
            mended = _without(first, chosen, counts, self.hints, self.numbers, known, self.made)
        except Exception:  # noqa: BLE001 - the module refuses these numbers; others may do
            return
        beyond = {name: values.stop for name, values in counts.tried.items()}
        ran = {name: values[-2] for name, values in counts.tried.items()}
        left = set(members)
        for bounds in dict.fromkeys(((), _from(starts))):
            again = {
                i: replace(p, conditions=(*p.conditions, *bounds))
                for i, p in zip(members, mended, strict=True)
                if p is not None and i in left and self._holds_here(p, derived[i], names, bounds)
            }
            below = {} if bounds else starts
            proved = self._proved(first, again, beyond, below)
            nearer = self._nearer(first, proved, ran, beyond, below, bounds, starts)
            for i, (pattern, proof) in (proved | nearer).items():
                if i in self.near and (i in nearer or not proof.exact):
                    continue  # it holds for few counts already
                before = self.near.pop(i, derived[i].pattern)
                if proof.exact or not (derived[i].exact or derived[i].proof.points):
                    pattern = bounded(pattern, never_far(proof, ran, beyond) if proof.exact else ())
                    derived[i] = replace(derived[i], pattern=pattern, proof=proof, interpolated=names)
                if proof.exact:
                    left.discard(i)
                    self.favoured[names] = counts
                if i in nearer:
                    self.near[i] = before
            if bounds:
                exact = {i for i in again if proved[i][1].exact}
                made = {i: p for i, p in zip(members, mended, strict=True) if p is not None and i in exact}
                self._lowered(made, starts, beyond, ran)

    def _holds_here(
        self, made: Pattern, one: Derived, names: Sequence[str], bounds: Sequence[Condition]
    ) -> bool:
        """Whether a formula gives what is known of the run, where its counts are within bounds."""
        if one.seen is None or not _meets(self.numbers, bounds):
            return True
        sizes = {**self.numbers, **widths_of(one.dtype)}
        try:
            ours = made.summary.quantities()
        except FormulaError:  # more states may be the peak than a formula can name
            return False
        theirs = one.seen.quantities()
        equal = all(predict(ours[name], sizes) == predict(theirs[name], sizes) for name in ours)
        counts = {name: self.numbers[name] for name in names}
        stated = (*map(Condition.parse, one.recipe.conditions), *one.pattern.conditions)
        return equal and are_peaks_of(made.summary.peaks, counts, one.seen, told(stated))

    def _lowered(
        self,
        made: Mapping[int, Pattern],
        starts: Mapping[str, int],
        beyond: Mapping[str, int],
        ran: Mapping[str, int],
    ) -> None:
        """What holds from `starts` on, from as few on as it holds; no test drops where that is."""
        if not made:
            return
        derived, said = self.derived, (*self.held, *self.still)
        first = derived[next(iter(made))]
        bench = Lowering(first.recipe, first.dtype, self.numbers, said, random.Random(self.seed + 2))
        bounds = {i: _from(counts) for i, counts in bench.least(made, starts).items()}
        lower = {i: replace(p, conditions=(*p.conditions, *bounds[i])) for i, p in made.items()}
        again = {i: p for i, p in lower.items() if bounds[i] != _from(starts)}
        proved = self._proved(first, again, beyond, {})
        for i in made:
            pattern, proof = proved.get(i, (derived[i].pattern, derived[i].proof))
            if i in again:
                if not proof.exact:
                    continue
                proof = replace(proof, points=[*proof.points, *derived[i].proof.points])
                pattern = bounded(pattern, never_far(proof, ran, beyond))
            derived[i] = replace(derived[i], pattern=bounded(pattern, bounds[i]), proof=proof)

    def _nearer(
        self,
        first: Derived,
        proved: Proved,
        ran: Mapping[str, int],
        beyond: Mapping[str, int],
        below: Mapping[str, int],
        bounds: Sequence[Condition],
        starts: Mapping[str, int],
    ) -> Proved:
        """Those that differ only far beyond, with as few counts bounded as it takes: each alone, then all."""
        wrong = {i: wrong_far(proof, ran, beyond) for i, (_, proof) in proved.items()}
        wrong = {i: said for i, said in wrong.items() if said and _meets(self.numbers, (*said, *bounds))}
        found: Proved = {}
        several = max((len(said) for said in wrong.values()), default=0)
        for place in range(several + 1 if several > 1 else several):
            ways = {i: said[place : place + 1] if place < several > 1 else said for i, said in wrong.items()}
            ways = {i: both_sides(way, starts) for i, way in ways.items()}
            less = {i: bounded(proved[i][0], way) for i, way in ways.items() if way and i not in found}
            blamed = {name for i in less for c in ways[i] for name in c.symbols()}
            others = {name: value for name, value in beyond.items() if name not in blamed}
            again = self._proved(first, less, others, below)
            found |= {i: one for i, one in again.items() if one[1].exact}
        return found

    def _proved(
        self,
        first: Derived,
        chosen: Mapping[int, Pattern],
        beyond: Mapping[str, int],
        below: Mapping[str, int],
    ) -> Proved:
        """Each pattern under its conditions, those that follow from others left out, with its proof.

        Two of its points have counts that no run had which the formula was interpolated from: larger ones
        than those (`beyond`), and smaller ones (`below`).
        """
        taken = {i: under(p, first.recipe, self.still) for i, p in chosen.items()}
        proofs = prove(
            first.recipe,
            list(taken.values()),
            self.numbers,
            first.dtype,
            self.seed + 1,
            self.points,
            (*self.held, *self.still),
            beyond,
            below,
        )
        return {i: (p, proof) for (i, p), proof in zip(taken.items(), proofs, strict=True)}


def _known(derived: Sequence[Derived], members: Sequence[int], starts: Mapping[str, int]) -> list[Summary]:
    """The quantities at `starts`, where that is what the run had."""
    chosen = [derived[i] for i in members]
    found = [one.seen for one in chosen if one.seen is not None]
    same = all(one.notes[name].hint == start for one in chosen for name, start in starts.items())
    return found if same and len(found) == len(chosen) else []


def _settled(one: Derived) -> bool:
    return one.exact and bool(one.interpolated)


def _from(starts: Mapping[str, int]) -> tuple[Condition, ...]:
    """Each count is at least the first one interpolated over: what comes only with many layers is there."""
    return tuple(Condition.at_least(name, start) for name, start in starts.items() if start > 1)


def _meets(numbers: Mapping[str, int], bounds: Sequence[Condition]) -> bool:
    """Whether the counts as they were are within: a narrow regime elsewhere is of no use to the call."""
    return all(c.holds(numbers) for c in bounds)


def _without(
    first: Derived,
    chosen: Sequence[Pattern],
    counts: Counts,
    hints: Mapping[str, int] | None,
    numbers: Mapping[str, int],
    known: Sequence[Summary],
    made: Made,
) -> list[Pattern | None]:
    recipe, dtype = first.recipe, first.dtype
    if counts.nested:
        return without_nested_loops(recipe, dtype, chosen, counts.tried, hints, numbers)
    return without_loops(recipe, dtype, chosen, counts.tried, hints, numbers, known=known, made=made)


def _nested(groups: Mapping[tuple[str, ...], list[int]]) -> dict[tuple[str, ...], list[int]]:
    """Groups whose sizes are among those of a larger group join it: its runs serve both."""
    joined: dict[tuple[str, ...], list[int]] = {}
    for names in sorted(groups, key=len, reverse=True):
        host = next((g for g in joined if set(names) <= set(g)), None)
        joined.setdefault(host or names, []).extend(groups[names])
    return joined
