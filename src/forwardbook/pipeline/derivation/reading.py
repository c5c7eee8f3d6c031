"""A class in; out its regimes as its source text alone gives them, nothing imported or run or proved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from forwardbook.analyzers.instances.recipe import InstanceOptions, Recipe
from forwardbook.analyzers.static.derive import run_first_statically, run_statically, static_recipes
from forwardbook.analyzers.static.unresolved import Unresolved
from forwardbook.analyzers.symbolic.assume import Assumed, distinct, informative
from forwardbook.analyzers.symbolic.loops import counted, without_loops
from forwardbook.analyzers.symbolic.patterns import Pattern, patterns
from forwardbook.analyzers.symbolic.run import SizeNote
from forwardbook.errors import ForwardbookError
from forwardbook.formula import Condition
from forwardbook.pipeline.derivation.derived import Derived
from forwardbook.pipeline.derivation.explore import FULL, LOW, paired
from forwardbook.pipeline.derivation.found import Found
from forwardbook.pipeline.derivation.relax import Relaxed
from forwardbook.profiling.proof import PatternProof
from forwardbook.schema import Entry

NOT_RUN = "not run: --derive static"


class NotRead(ForwardbookError):
    """A class whose source is not followed to its end."""

    tells_cause = True


def read_regimes(full_class_name: str, options: InstanceOptions, roots: Sequence[Path]) -> list[Found]:
    """The regimes of every recipe that can be read.

    Raises:
        NotRead: the construct that stopped the reading, when no recipe can be read.
    """
    try:
        return _read(full_class_name, options, roots)
    except Unresolved as problem:
        raise NotRead(
            f"reading {full_class_name}, {problem.file}:{problem.line}: {problem.reason}\n"
            "  if you trust the code, let it be run as well: --derive both"
        ) from problem


def as_read(entry: Entry) -> Entry:
    """The record of regimes that were read: nothing is missing from them but the proof."""
    rows = tuple(row for row in entry.unresolved if row.reason != NOT_RUN)
    reason = "; ".join([NOT_RUN, *(f"{row.operation}: {row.reason}" for row in rows[:3])])
    validation = entry.validation.model_copy(update={"reason": reason})
    return entry.model_copy(update={"unresolved": rows, "validation": validation})


def _read(full_class_name: str, options: InstanceOptions, roots: Sequence[Path]) -> list[Found]:
    found: list[Found] = []
    problem: Exception | None = None
    for recipe in static_recipes(full_class_name, options, roots):
        try:
            found += _regimes(recipe)
        except Exception as error:  # noqa: BLE001 - another recipe may be followed; else this is told
            problem = problem or error
    if not found and problem is not None:
        raise problem
    return found


def _regimes(recipe: Recipe) -> list[Found]:
    full = _derived(recipe, FULL)
    try:
        low = _derived(recipe, LOW)
    except Exception:  # noqa: BLE001 - an operation that has no bfloat16 kernel: float32 is the only regime
        low = []
    return paired(recipe, full, low)


def _derived(recipe: Recipe, dtype: torch.dtype) -> list[Relaxed]:
    recipe, run = run_first_statically(recipe, dtype)
    found = list(_without_numbers(recipe, dtype, patterns(run, recipe.calls_as), run.notes))
    stated = [Condition.parse(text) for text in recipe.conditions]
    made: list[Relaxed] = []
    for pattern in found:
        assumed = Assumed([*stated, *pattern.conditions]).pattern(pattern)
        proof = PatternProof(assumed, reason=NOT_RUN)
        derived = Derived(recipe, dtype, assumed, proof, run.notes, recipe.calls_as)
        kept = tuple(informative(assumed.conditions, assumed.conditions))
        made.append(Relaxed(derived, kept, (), ()))
    return made


def _without_numbers(
    recipe: Recipe, dtype: torch.dtype, found: Sequence[Pattern], notes: Mapping[str, SizeNote]
) -> Iterator[Pattern]:
    """Each pattern with the sizes that were taken as numbers symbolic again, or held at those numbers."""
    numbers = {name: note.hint for name, note in notes.items()}
    for pattern in found:
        names = sorted({name for one in pattern.consumed for name in one.symbols if name in numbers})
        mended = _mended(recipe, dtype, pattern, names, numbers) if names else pattern
        if mended is not None:
            yield mended
            continue
        held = [Condition.that_is(name, numbers[name]) for name in names]
        yield replace(pattern, conditions=tuple(distinct([*held, *pattern.conditions])))


def _mended(
    recipe: Recipe, dtype: torch.dtype, pattern: Pattern, names: Sequence[str], numbers: Mapping[str, int]
) -> Pattern | None:
    counts = {name: counted(numbers[name]) for name in names}
    try:
        return without_loops(recipe, dtype, [pattern], counts, None, numbers, run_statically)[0]
    except Exception:  # noqa: BLE001 - the source refuses neighbouring numbers: the size stays at its own
        return None
