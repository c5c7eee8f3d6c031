"""Regimes with all conditions that came to be said of them in; out the same, proved where these hold.

A proof is made under what its run asked. What is added later (a bound, what others of its model ask, what the
other number format needs) may leave few of its points inside, or none: nothing is proved there then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from forwardbook.analyzers.symbolic.assume import distinct
from forwardbook.formula import Condition
from forwardbook.pipeline.derivation.derived import Derived
from forwardbook.pipeline.derivation.found import Found, sized
from forwardbook.profiling.proof import POINTS, PatternProof, prove


def proved_within(found: Sequence[Found], seed: int) -> list[Found]:
    """Each exact regime with enough points inside its conditions in each number format.

    Where they lack, more are drawn there; a regime for which none are found, or whose formula fails at one,
    is not exact any more.
    """
    return [_within(one, seed) if one.exact else one for one in found]


def only_inside(one: Found) -> Found:
    """An exact regime with no point outside its conditions, where time does not suffice to draw more."""
    if not one.exact:
        return one
    return one.each(lambda each: replace(each, proof=replace(each.proof, points=one.inside(each))))


def _within(one: Found, seed: int) -> Found:
    again = one.each(lambda derived: _proved(one, derived, seed))
    return again if again.exact else _with_unvaried_said(again)


def _with_unvaried_said(one: Found) -> Found:
    """Sizes that had one value at all points are said to have it: nothing is known of them at another.

    Unless most have: where most never change, a formula says nothing of them.
    """
    members = (one.derived, *one.also)
    names = sorted({name for each in members for name in each.unvaried})
    values = {name: {p.sizes[name] for each in members for p in each.proof.points} for name in names}
    sizes = one.derived.pattern.summary.symbols() & one.derived.notes.keys()
    if 2 * len(names) > len(sizes) or any(len(found) != 1 for found in values.values()):
        return one
    said = tuple(Condition.that_is(name, *values[name]) for name in names)
    return replace(one.each(lambda derived: _saying(derived, said)), conditions=(*one.conditions, *said))


def _saying(derived: Derived, more: Sequence[Condition]) -> Derived:
    conditions = tuple(distinct([*derived.pattern.conditions, *more]))
    return replace(derived, pattern=replace(derived.pattern, conditions=conditions))


def _proved(one: Found, derived: Derived, seed: int) -> Derived:
    inside = one.inside(derived)
    if len(inside) >= POINTS:
        return derived
    numbers = {name: note.hint for name, note in derived.notes.items()}
    said = sized(one.conditions)
    pattern = replace(derived.pattern, conditions=said)
    more = prove(derived.recipe, [pattern], numbers, derived.dtype, seed, POINTS)[0]
    reason = more.reason or "few of the sizes that were tried meet all conditions"
    again = _saying(derived, said)
    return replace(again, proof=PatternProof(again.pattern, [*inside, *more.points], reason))
