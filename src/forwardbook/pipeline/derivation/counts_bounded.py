"""A formula interpolated over counts in, and its proof; out up to how many of each it is known to hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from forwardbook.analyzers.symbolic.patterns import Pattern
from forwardbook.formula import Condition
from forwardbook.profiling.farther import is_far
from forwardbook.profiling.fewer import LAYERS
from forwardbook.profiling.proof import PatternProof

Counts = Mapping[str, int]


def never_far(proof: PatternProof, least: Counts, counts: Counts) -> tuple[Condition, ...]:
    """For each size that no point of an exact proof has far beyond `counts`: at most the largest of them.

    It is at least `least`: the formula was made from runs with as many.
    """
    largest = {name: max((p.sizes[name] for p in proof.points), default=0) for name in counts}
    near = (name for name, value in largest.items() if not is_far(value, counts[name]))
    said = tuple(Condition.at_most(name, max(largest[name], least[name])) for name in near)
    return both_sides(said, {n: min((p.sizes[n] for p in proof.points), default=least[n]) for n in counts})


def both_sides(bounds: Sequence[Condition], least: Counts) -> tuple[Condition, ...]:
    """Upper bounds, and at least so many of what is rather a length: below it may agree by chance.

    Whether a formula holds for few layers is tried of one and two of them.
    """
    above = [name for c in bounds for name in c.symbols() if c.is_met({name: LAYERS + 1})]
    return (*bounds, *(Condition.at_least(name, least[name]) for name in above if least[name] > 1))


def wrong_far(proof: PatternProof, least: Counts, counts: Counts) -> tuple[Condition, ...]:
    """Where points differ only beyond `counts`: each size that is beyond there is at most what agreed.

    Empty where a point differs with none beyond, where none differs, and where none agrees.
    """
    agreed = [p.sizes for p in proof.points if not p.differences]
    beyond = [{n for n in counts if p.sizes[n] > counts[n]} for p in proof.points if p.differences]
    if not (agreed and beyond and all(beyond)):
        return ()
    return tuple(
        Condition.at_most(name, max(least[name], *(s[name] for s in agreed if s[name] <= counts[name]), 1))
        for name in sorted(set().union(*beyond))
    )


def bounded(pattern: Pattern, bounds: Sequence[Condition]) -> Pattern:
    """The pattern under further conditions, which no test drops: a point beyond may agree by chance."""
    if not bounds:
        return pattern
    conditions = dict.fromkeys((*pattern.conditions, *bounds))
    return replace(pattern, conditions=tuple(conditions), steady=(*pattern.steady, *bounds))
