"""Derives every call pattern of classes from one recipe: run, interpolate over loop counts, prove."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.assume import Assumed
from forwardbook.analyzers.symbolic.loops import POINTS, without_loops, without_nested_loops
from forwardbook.analyzers.symbolic.patterns import Pattern, patterns
from forwardbook.analyzers.symbolic.run import SizeNote, SymbolicRun, run_symbolically
from forwardbook.analyzers.symbolic.summary import Summary
from forwardbook.formula import Condition, Expr
from forwardbook.profiling.proof import PatternProof, prove

Favoured = dict[tuple[str, ...], tuple[dict[str, int], int]]
"""By the sizes that were interpolated over: first values and step that gave a formula which holds."""


@dataclass(frozen=True)
class Derived:
    """One pattern of one recipe in one dtype, proved; `notes` describe its sizes."""

    recipe: Recipe
    dtype: torch.dtype
    pattern: Pattern
    proof: PatternProof
    notes: Mapping[str, SizeNote]
    target: str
    interpolated: tuple[str, ...] = ()
    seen: Summary | None = None
    """The quantities as the run gave them, not rewritten under any condition."""

    @property
    def exact(self) -> bool:
        """Proved at every point, with a rule for every operation and no size that never varied."""
        return self.proof.exact and not self.pattern.unruled and not self.unvaried

    @property
    def unvaried(self) -> tuple[str, ...]:
        """Sizes of the formulas that had one value at all points, though no condition says which."""
        names = self.pattern.summary.symbols()
        equalities = (c for c in self.pattern.conditions if c.op == "==" and len(c.symbols()) == 1)
        said = {name for c in equalities for name in c.symbols()}
        points = [p.sizes for p in self.proof.points]
        still = (n for n in names - said if n in self.notes and self.notes[n].hint > 1)
        return tuple(sorted(n for n in still if len({p[n] for p in points if n in p}) < 2))


def run_first(
    recipe: Recipe, dtype: torch.dtype, hints: Mapping[str, int] | None = None
) -> tuple[Recipe, SymbolicRun]:
    """The symbolic run of the first way of making inputs that works, and the recipe with only that way."""
    problem: Exception | None = None
    for inputs in (recipe.inputs, *recipe.alternatives):
        one = replace(recipe, inputs=inputs, alternatives=())
        try:
            return one, run_symbolically(one, dtype, hints=hints)
        except Exception as error:  # noqa: BLE001 - analysed code may raise anything; the first reason is told
            problem = problem or error
    assert problem is not None
    raise problem


def derive(
    recipe: Recipe,
    dtype: torch.dtype,
    targets: Sequence[str],
    seed: int,
    hints: Mapping[str, int] | None = None,
    points: int = 3,
    held: Sequence[Condition] = (),
    loops: bool = True,
) -> list[Derived]:
    """Every call pattern of every target class in one run of the recipe, with its proof.

    Without `loops`, sizes that became numbers on the way are not interpolated over.

    Raises:
        Exception: whatever the module raises when it is built or called.
    """
    recipe, run = run_first(recipe, dtype, hints)
    stated = [Condition.parse(text) for text in recipe.conditions]
    called = [(target, p) for target in targets for p in patterns(run, target)]
    found = [Assumed([*stated, *p.conditions]).pattern(p) for _, p in called]
    numbers = {name: note.hint for name, note in run.notes.items()}
    proofs = prove(recipe, found, numbers, dtype, seed, points, held)
    derived = [
        Derived(recipe, dtype, p, proof, run.notes, target, seen=raw.summary)
        for (target, raw), p, proof in zip(called, found, proofs, strict=True)
    ]
    if loops:
        return over_counts(derived, seed, points, hints, held)
    return [with_counts_said(one) for one in derived]


def with_counts_said(one: Derived) -> Derived:
    """The regime, with a condition for each size that became a number and had one value at all its points.

    Formulas may hang on such a size without naming it: nothing is known of them at another value, and where
    others needed it before the call, shapes may hang on it. The same is said of sizes that they name, unless
    most are so: where most never change, a formula says nothing of them.
    """
    numbers = {name: note.hint for name, note in one.notes.items()}
    counted = (_consumed(one, numbers) | (one.pattern.before & numbers.keys())) - set(one.interpolated)
    unvaried = one.unvaried
    if 2 * len(unvaried) <= len(one.pattern.summary.symbols() & numbers.keys()):
        counted |= set(unvaried)
    seen = {name: {p.sizes[name] for p in one.proof.points if name in p.sizes} for name in sorted(counted)}
    same = {name: next(iter(values)) for name, values in seen.items() if len(values) == 1}
    known = {c.text() for c in one.pattern.conditions}
    said = [Condition(Expr.symbol(name), "==", Expr.const(value)) for name, value in same.items()]
    more = tuple(c for c in said if c.text() not in known)
    return replace(one, pattern=replace(one.pattern, conditions=(*one.pattern.conditions, *more)))


def _consumed(one: Derived, numbers: Mapping[str, int]) -> set[str]:
    return {name for c in one.pattern.consumed for name in c.symbols if name in numbers}


def pins(conditions: Sequence[Condition], name: str, numbers: Mapping[str, int]) -> bool:
    """Whether the conditions on a size alone hold at no other value near it, nor at its double."""
    about = [c for c in conditions if c.symbols() == {name}]
    now = numbers[name]
    others = {now - 2, now - 1, now + 1, now + 2, 2 * now, 4 * now} - {now, 0}  # 2 n, 4 n: still divisible
    return bool(about) and all(any(not c.is_met({name: value}) for c in about) for value in others)


def loop_names(one: Derived, numbers: Mapping[str, int]) -> tuple[str, ...]:
    """The sizes to interpolate over: consumed as numbers, or fixed by what Python compared.

    A size that was the same wherever formulas failed is not why they did.
    """
    consumed = _consumed(one, numbers)
    pinned = {name for name in numbers if pins(one.pattern.conditions, name, numbers)}
    names = (consumed | pinned) if not one.exact else (consumed & pinned)
    failed = [point.sizes for point in one.proof.points if point.differences]
    to_blame = {name for name in names if any(sizes.get(name) != numbers[name] for sizes in failed)}
    if to_blame or one.exact or not failed:
        return tuple(sorted(to_blame or names))
    # a factor that float() was asked of scales values mostly, and sizes only where nothing else is to blame;
    # the same of what others needed as numbers before the call
    factors = {name for c in one.pattern.floated for name in c.symbols}
    for further in (factors, one.pattern.before):
        guilty = {n for n in further & numbers.keys() if all(s.get(n) != numbers[n] for s in failed)}
        if guilty:
            return tuple(sorted(guilty))
    return tuple(sorted(names))


def over_counts(
    derived: Sequence[Derived],
    seed: int,
    points: int = 3,
    hints: Mapping[str, int] | None = None,
    held: Sequence[Condition] = (),
    favoured: Favoured | None = None,
) -> list[Derived]:
    """Patterns of one run; those whose formulas fail because a size became a number, interpolated over it.

    What is found to work is written into `favoured`, and what others wrote there is tried first.
    """
    favoured = {} if favoured is None else favoured
    derived = list(derived)
    numbers = {name: note.hint for one in derived[:1] for name, note in one.notes.items()}
    groups: dict[tuple[str, ...], list[int]] = {}
    for index, one in enumerate(derived):
        names = loop_names(one, numbers)
        if names and not one.pattern.unruled:
            groups.setdefault(names, []).append(index)
    for names, members in _nested(groups).items():
        first = derived[members[0]]
        chosen = [derived[i].pattern for i in members]
        starting = _starts(names, numbers)
        before = favoured.get(names)
        for starts, step in sorted(starting, key=lambda one: one != before):
            try:
                mended = _without(
                    first, chosen, names, starts, step, hints, numbers, _known(derived, members, starts)
                )
            except Exception:  # noqa: BLE001 - the module refuses these numbers; others may do
                continue
            for bounds in dict.fromkeys(((), _from(starts))):
                again = {
                    i: replace(p, conditions=(*p.conditions, *bounds))
                    for i, p in zip(members, mended, strict=True)
                    if p is not None and not _settled(derived[i])
                }
                beyond = {name: start + POINTS * max(step, 1) for name, start in starts.items()}
                for i, (pattern, proof) in _proved(
                    first, again, numbers, seed + 1, points, held, beyond, {} if bounds else starts
                ).items():
                    if proof.exact or not (derived[i].exact or derived[i].proof.points):
                        derived[i] = replace(derived[i], pattern=pattern, proof=proof, interpolated=names)
                        if proof.exact:
                            favoured[names] = (starts, step)
            members = [i for i in members if not _settled(derived[i])]
            if not members:
                break
            chosen = [derived[i].pattern for i in members]
    return [with_counts_said(one) for one in derived]


def _proved(
    first: Derived,
    chosen: Mapping[int, Pattern],
    numbers: Mapping[str, int],
    seed: int,
    points: int,
    held: Sequence[Condition],
    beyond: Mapping[str, int],
    below: Mapping[str, int],
) -> dict[int, tuple[Pattern, PatternProof]]:
    """Each pattern under its conditions, those that follow from others left out, with its proof.

    Two of its points have counts that no run had which the formula was interpolated from: larger ones than
    those (`beyond`), and smaller ones (`below`).
    """
    stated = [Condition.parse(text) for text in first.recipe.conditions]
    taken = {i: Assumed([*stated, *p.conditions]).pattern(p) for i, p in chosen.items()}
    all_taken = list(taken.values())
    proofs = prove(first.recipe, all_taken, numbers, first.dtype, seed, points, held, beyond, below)
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
    return tuple(
        Condition(Expr.symbol(name), ">=", Expr.const(start)) for name, start in starts.items() if start > 2
    )


NESTED = 0  # in place of a step: the two sizes are counts of nested loops


def _without(
    first: Derived,
    chosen: Sequence[Pattern],
    names: Sequence[str],
    starts: Mapping[str, int],
    step: int,
    hints: Mapping[str, int] | None,
    numbers: Mapping[str, int],
    known: Sequence[Summary],
) -> list[Pattern | None]:
    if step != NESTED:
        return without_loops(
            first.recipe, first.dtype, chosen, names, starts, step, hints, numbers, known=known
        )
    inner, outer = names
    return without_nested_loops(first.recipe, first.dtype, chosen, (inner, outer), starts, hints, numbers)


def _starts(names: Sequence[str], numbers: Mapping[str, int]) -> list[tuple[dict[str, int], int]]:
    """First values and steps worth trying.

    Small numbers; every second one (layers that alternate); the hints (lists of the configuration may be as
    long); and counts well above a threshold among them (so many dense layers first).
    """
    small = {name: min(numbers[name], 2) for name in names}
    at_hint = {name: numbers[name] for name in names}
    largest = max(names, key=lambda n: numbers[n])
    above = {**at_hint, largest: numbers[largest] + POINTS}
    tried = [(small, 1), (small, 2), (at_hint, 1), (above, 1)]
    if len(names) == 2:
        tried += [(small, NESTED), (at_hint, NESTED)]
    return [one for i, one in enumerate(tried) if one not in tried[:i]]


def _nested(groups: Mapping[tuple[str, ...], list[int]]) -> dict[tuple[str, ...], list[int]]:
    """Groups whose sizes are among those of a larger group join it: its runs serve both."""
    joined: dict[tuple[str, ...], list[int]] = {}
    for names in sorted(groups, key=len, reverse=True):
        host = next((g for g in joined if set(names) <= set(g)), None)
        joined.setdefault(host or names, []).extend(groups[names])
    return joined


def negated(condition: Condition) -> Condition:
    """The opposite condition."""
    opposite = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
    return Condition(condition.left, opposite[condition.op], condition.right)
