"""One way of reaching classes in; out the proved regimes of each class it reached, or why there are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.patterns import class_name
from forwardbook.analyzers.symbolic.recorder import Widths
from forwardbook.analyzers.symbolic.run import run_measured
from forwardbook.errors import FormulaError
from forwardbook.pipeline.child.overtime import Clock, Overtime
from forwardbook.pipeline.derivation.counts_held import with_counts_held
from forwardbook.pipeline.derivation.counts_tried import Favoured
from forwardbook.pipeline.derivation.derived import Derived, held_by_caller, loop_names, with_counts_said
from forwardbook.pipeline.derivation.edges import with_edges
from forwardbook.pipeline.derivation.explore import FULL, LOW, as_run, paired
from forwardbook.pipeline.derivation.found import Found, sized
from forwardbook.pipeline.derivation.over_counts import over_counts
from forwardbook.pipeline.derivation.regimes import derive
from forwardbook.pipeline.derivation.relax import Learnt, Relaxed, relax
from forwardbook.pipeline.derivation.within import only_inside, proved_within
from forwardbook.profiling.proof import prove

SHARE = 0.5  # of the time left, for interpolating over counts of loops
LATE = "it took longer than one unit is given"
PLAIN = 15.0  # seconds of processor time for plain runs that say what is called, where no others ended


@dataclass(frozen=True)
class Before:
    """What earlier recipes of a unit have taught: heads of a model count and ask what it does."""

    counts: Favoured = field(default_factory=dict)
    wide: Learnt = field(default_factory=Learnt)
    narrow: Learnt = field(default_factory=Learnt)


@dataclass
class Reached:
    """Classes that a run called: with regimes, or with none and the problem that kept them from any."""

    found: dict[str, list[Found]] = field(default_factory=dict)
    called: frozenset[str] = frozenset()
    problem: BaseException | None = None
    late: tuple[str, ...] = ()
    """What time did not suffice for."""
    refused: list[Exception] = field(default_factory=list)
    """Why float32 is the only regime: an operation has no kernel for less, or the engine failed."""


def reach(
    recipe: Recipe,
    targets: Sequence[str],
    seed: int,
    points: int,
    clock: Clock,
    before: Before | None = None,
) -> Reached:
    """Derives and proves every target that a call of the recipe reaches, in both widths of float."""
    before = before or Before()
    try:
        with clock.within():
            full = derive(recipe, FULL, targets, seed, points=points, loops=False)
    except (Exception, Overtime) as error:  # noqa: BLE001 - somebody else's model raises anything
        return called(recipe, targets, error, Clock(PLAIN))
    reached = Reached(called=frozenset(one.target for one in full))
    late: list[str] = []
    try:
        counted = _counted(recipe, full, seed, points, clock, late, before.counts)
        found = _paired(recipe, counted, seed, points, clock, late, before, reached.refused)
    except FormulaError as error:  # a formula on the way is too long to write
        return replace(reached, problem=error)
    for one in _with_edges(recipe, found, seed, points, clock, late):
        reached.found.setdefault(one.derived.target, []).append(one)
    reached.late = tuple(late)
    return reached


def _with_edges(
    recipe: Recipe, found: Sequence[Found], seed: int, points: int, clock: Clock, late: list[str]
) -> list[Found]:
    """The regimes, those of the class that the recipe is of with what they cost at sizes of 1, or 0."""
    mine = [one for one in found if one.derived.target == recipe.calls_as]
    if not recipe.least or not mine:
        return list(found)
    try:
        with clock.within():
            mine = with_edges(recipe, mine, seed + 3, lambda one: as_run(one, seed + 5, points))
    except Overtime:
        late.append("sizes of 1")
    return [*(one for one in found if one.derived.target != recipe.calls_as), *mine]


def _counted(
    recipe: Recipe,
    full: Sequence[Derived],
    seed: int,
    points: int,
    clock: Clock,
    late: list[str],
    favoured: Favoured,
) -> list[Derived]:
    """All regimes; those in which sizes became counts of loops over all counts, else at the one that ran."""
    numbers = {name: note.hint for one in full[:1] for name, note in one.notes.items()}
    counted = {one.target for one in full if loop_names(one, numbers) or held_by_caller(one, numbers)}
    mine = [one for one in full if one.target in counted]
    over: list[Derived] = []
    reached: list[Derived] = []
    try:
        with clock.within(SHARE * clock.left):
            alone = _measured_alone(recipe, mine, seed, points)
            over = over_counts(alone, seed, points, favoured=favoured, progress=reached)
    except Overtime:
        late.append("counts of loops")
        over = [with_counts_said(one) for one in reached]
    except Exception:  # noqa: BLE001 - the module refuses other counts: the one it was built with stays
        over = []
    better = {name for name in counted if _exact(over, name) or (over and not _exact(full, name))}
    taken = [one for one in over if one.target in better]
    found = [*(one for one in full if one.target not in better), *taken]
    if all(one.exact for one in found):
        return found
    try:
        with clock.within(SHARE * clock.left):
            failed = {one.target for one in found if not one.exact}
            tried = with_counts_held([one for one in full if one.target in failed], seed, points)
    except Overtime:
        late.append("counts as they were")
        return found
    except FormulaError:  # one of them asks what is too long to write
        return found
    mended = {name for name in failed if _exact(tried, name)}
    kept = [one for one in found if one.target not in mended]
    return [*kept, *(one for one in tried if one.target in mended)]


def _measured_alone(recipe: Recipe, full: Sequence[Derived], seed: int, points: int) -> Sequence[Derived]:
    """The same regimes; derived without those beside them where no sizes were found that suit all."""
    if not full or any(one.proof.points for one in full):
        return full
    return derive(recipe, FULL, _targets(full), seed, points=points, loops=False)


def _exact(derived: Sequence[Derived], target: str) -> bool:
    mine = [one for one in derived if one.target == target]
    return bool(mine) and all(one.exact for one in mine)


def _targets(derived: Sequence[Derived]) -> list[str]:
    return list(dict.fromkeys(one.target for one in derived))


def _paired(
    recipe: Recipe,
    full: Sequence[Derived],
    seed: int,
    points: int,
    clock: Clock,
    late: list[str],
    before: Before,
    refused: list[Exception],
) -> list[Found]:
    """Regimes of what was derived in float32, held against the same in bfloat16."""
    if not full:
        return []
    wide = _relaxed(full, seed, clock, late, before.wide)
    low: list[Relaxed] = []
    try:
        with clock.within():
            low = _held(wide, [one.derived for one in wide], seed + 1, points)
        confirmed = {_call(one) for one in low}
        rest = [one for one in wide if _call(one) not in confirmed]
        if rest:
            low += _narrow(recipe, rest, seed + 1, points, clock, late, before)
    except Overtime:
        late.append("bfloat16")
    except Exception as error:  # noqa: BLE001 - an operation that has no bfloat16 kernel, say
        refused.append(error)
    found = paired(recipe, wide, low)
    try:
        with clock.within():
            return proved_within(found, seed + 2)
    except Overtime:
        late.append("points inside all conditions")
        return [only_inside(one) for one in found]


def _narrow(
    recipe: Recipe,
    wide: Sequence[Relaxed],
    seed: int,
    points: int,
    clock: Clock,
    late: list[str],
    before: Before,
) -> list[Relaxed]:
    """What costs something else in bfloat16, derived anew, under the conditions that mattered in float32.

    Counts of loops that gave a formula there are tried first.
    """
    targets = _targets([one.derived for one in wide])
    with clock.within():
        narrow = derive(recipe, LOW, targets, seed, points=points, favoured=before.counts)
        narrow = with_counts_held(narrow, seed, points)
        low = _held(wide, narrow, seed, points)
    confirmed = {_call(one) for one in low}
    wanted = {_call(one) for one in wide}
    rest = [one for one in narrow if _place(one) in wanted - confirmed]
    return low + _relaxed(rest, seed, clock, late, before.narrow)


def _held(wide: Sequence[Relaxed], derived: Sequence[Derived], seed: int, points: int) -> list[Relaxed]:
    """Those derived formulas that measurement in bfloat16 confirms under the conditions found in float32."""
    conditions = {_call(one): one.conditions for one in wide}
    chosen = [one for one in derived if one.exact and _place(one) in conditions]
    if not chosen:
        return []
    numbers = {name: note.hint for name, note in chosen[0].notes.items()}
    patterns = [replace(one.pattern, conditions=sized(conditions[_place(one)])) for one in chosen]
    proofs = prove(chosen[0].recipe, patterns, numbers, LOW, seed, points)
    made = (
        replace(one, dtype=LOW, pattern=pattern, proof=proof)
        for one, pattern, proof in zip(chosen, patterns, proofs, strict=True)
    )
    return [Relaxed(one, conditions[_place(one)], (), ()) for one in made if one.exact]


def _place(one: Derived) -> tuple[str, str, int]:
    return one.target, one.pattern.path, one.pattern.occurrence


def _call(one: Relaxed) -> tuple[str, str, int]:
    return _place(one.derived)


def _relaxed(
    derived: Sequence[Derived], seed: int, clock: Clock, late: list[str], learnt: Learnt
) -> list[Relaxed]:
    """With only the conditions that matter; with all of them where time does not suffice."""
    try:
        with clock.within():
            return relax(derived, seed, learnt=learnt)
    except Overtime:
        late.append("testing conditions")
        return [Relaxed(one, one.pattern.conditions, (), ()) for one in derived]


def called(recipe: Recipe, targets: Sequence[str], error: BaseException, clock: Clock) -> Reached:
    """Which targets a plain run calls, where the symbolic one failed, or there is no time for it."""
    for inputs in (recipe.inputs, *recipe.alternatives):
        one = replace(recipe, inputs=inputs, alternatives=())
        try:
            with clock.within():
                names = names_called(one, {})
        except Overtime:
            break
        except Exception:  # noqa: BLE001 - other inputs may do
            continue
        return Reached(called=frozenset(names) & frozenset(targets), problem=error)
    return Reached(problem=error)


def names_called(recipe: Recipe, sizes: Mapping[str, int], dtype: torch.dtype = FULL) -> list[str]:
    """The classes that a plain run of a recipe calls, in order.

    Raises:
        Exception: whatever the module raises when it is built or called.
    """
    width = dtype.itemsize
    trace, _ = run_measured(recipe, sizes, dtype, Widths(width, width, width))
    return list(dict.fromkeys(class_name(call.module) for call in trace.calls if not call.failed))
