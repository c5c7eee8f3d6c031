"""Formulas that fail because a size became a number in; the same over all counts out, proved again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from forwardbook.analyzers.symbolic.assume import Assumed
from forwardbook.analyzers.symbolic.loops import POINTS, without_loops, without_nested_loops
from forwardbook.analyzers.symbolic.patterns import Pattern
from forwardbook.analyzers.symbolic.summary import Summary
from forwardbook.formula import Condition, Expr
from forwardbook.pipeline.derivation.derived import Derived, loop_names, with_counts_said
from forwardbook.profiling.proof import PatternProof, prove

Favoured = dict[tuple[str, ...], tuple[dict[str, int], int]]
"""By the sizes that were interpolated over: first values and step that gave a formula which holds."""


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
