"""Derives every call pattern of classes from one recipe: run, interpolate over loop counts, prove."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import torch

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.assume import Assumed
from forwardbook.analyzers.symbolic.patterns import patterns
from forwardbook.analyzers.symbolic.run import SymbolicRun, first_that_runs, run_symbolically
from forwardbook.formula import Condition
from forwardbook.formula.condition import negated
from forwardbook.pipeline.derivation.brevity import short_enough
from forwardbook.pipeline.derivation.counts_tried import Favoured
from forwardbook.pipeline.derivation.derived import Derived, with_counts_said
from forwardbook.pipeline.derivation.over_counts import over_counts
from forwardbook.pipeline.derivation.reads_pinned import with_reads_pinned
from forwardbook.profiling.proof import prove

_TURNED: Final = {"<": ">", ">": "<"}
_ORDERS: Final = frozenset(("<", "<=", ">", ">="))


def run_first(
    recipe: Recipe, dtype: torch.dtype, hints: Mapping[str, int] | None = None
) -> tuple[Recipe, SymbolicRun]:
    """The symbolic run of the first way of making inputs that works, and the recipe with only that way."""
    return first_that_runs(recipe, lambda one: run_symbolically(one, dtype, hints=hints))


def derive(
    recipe: Recipe,
    dtype: torch.dtype,
    targets: Sequence[str],
    seed: int,
    hints: Mapping[str, int] | None = None,
    points: int = 3,
    held: Sequence[Condition] = (),
    loops: bool = True,
    favoured: Favoured | None = None,
) -> list[Derived]:
    """Every call pattern of every target class in one run of the recipe, with its proof.

    Without `loops`, sizes that became numbers on the way are not interpolated over; else counts that are
    `favoured` are tried first.

    Raises:
        Exception: whatever the module raises when it is built or called.
    """
    recipe, run = run_first(recipe, dtype, hints)
    stated = [Condition.parse(text) for text in recipe.conditions]
    called = [(target, p) for target in targets for p in patterns(run, target)]
    numbers = {name: note.hint for name, note in run.notes.items()}
    found = [short_enough(Assumed([*stated, *p.conditions]).pattern(p), numbers) for _, p in called]
    proofs = prove(recipe, found, numbers, dtype, seed, points, held)
    derived = [
        Derived(recipe, dtype, p, proof, run.notes, target, seen=raw.summary)
        for (target, raw), p, proof in zip(called, found, proofs, strict=True)
    ]
    if not loops:
        return [with_counts_said(one) for one in derived]
    counted = over_counts(derived, seed, points, hints, held, favoured)
    return with_reads_pinned(counted, derived, numbers, seed, points, held)


def beyond(condition: Condition) -> Condition:
    """What breaks a condition beyond its border: where two sizes are equal either may stand for the other.

    `max(a, b)` asks whether one is the larger, and is as large where neither is.
    """
    if _compares_sizes(condition):
        return Condition(condition.left, _TURNED[condition.op], condition.right)
    return negated(condition)


def _compares_sizes(condition: Condition) -> bool:
    """Whether it says which of two sizes is the larger, and neither is a number."""
    return condition.op in _TURNED and not (condition.left.is_const or condition.right.is_const)


def is_order(condition: Condition) -> bool:
    """Whether it says which of two sizes, or of a size and a number, is the larger.

    Not so of 0 and 1: what is compared with these tells little.
    """
    numbers = [one.const_value() for one in (condition.left, condition.right) if one.is_const]
    return condition.op in _ORDERS and not {0, 1}.intersection(numbers)
