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


def proved_within(found: Sequence[Found], seed: int, held: Sequence[Condition] = ()) -> list[Found]:
    """Each exact regime with enough points inside its conditions in each number format.

    Where they lack, more are drawn there; a regime for which none are found, or whose formula fails at one,
    is not exact any more. `held` holds whatever is drawn.
    """
    return [_within(one, seed, held) if one.exact else one for one in found]


def only_inside(one: Found) -> Found:
    """An exact regime with no point outside its conditions, where time does not suffice to draw more."""
    if not one.exact:
        return one
    derived, *also = (
        replace(d, proof=replace(d.proof, points=one.inside(d))) for d in (one.derived, *one.also)
    )
    return replace(one, derived=derived, also=tuple(also))


def _within(one: Found, seed: int, held: Sequence[Condition]) -> Found:
    derived, *also = (_proved(one, each, seed, held) for each in (one.derived, *one.also))
    again = replace(one, derived=derived, also=tuple(also))
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
    derived, *also = (
        replace(each, pattern=replace(each.pattern, conditions=(*each.pattern.conditions, *said)))
        for each in members
    )
    return replace(one, derived=derived, also=tuple(also), conditions=(*one.conditions, *said))


def _proved(one: Found, derived: Derived, seed: int, held: Sequence[Condition]) -> Derived:
    inside = one.inside(derived)
    if len(inside) >= POINTS:
        return derived
    numbers = {name: note.hint for name, note in derived.notes.items()}
    said = sized(one.conditions)
    pattern = replace(derived.pattern, conditions=said)
    more = prove(derived.recipe, [pattern], numbers, derived.dtype, seed, POINTS, held)[0]
    pattern = replace(pattern, conditions=tuple(distinct([*derived.pattern.conditions, *said])))
    reason = more.reason or "few of the sizes that were tried meet all conditions"
    return replace(derived, pattern=pattern, proof=PatternProof(pattern, [*inside, *more.points], reason))
