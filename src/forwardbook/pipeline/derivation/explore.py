"""All regimes of a class: both widths of float, every call pattern, what begins where conditions end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.assume import distinct, independent, informative, substituted
from forwardbook.analyzers.symbolic.run import SYMBOLIC_WIDTHS
from forwardbook.analyzers.symbolic.summary import Summary
from forwardbook.formula import Condition, Expr
from forwardbook.formula.condition import negated
from forwardbook.pipeline.derivation.derived import pins
from forwardbook.pipeline.derivation.edges import with_edges
from forwardbook.pipeline.derivation.found import Found
from forwardbook.pipeline.derivation.regimes import derive
from forwardbook.pipeline.derivation.relax import Relaxed, relax
from forwardbook.pipeline.derivation.within import proved_within
from forwardbook.verdicts import values_left

FULL, LOW = torch.float32, torch.bfloat16
MOST_BREACHES = 4  # further regimes looked for per pattern; the conditions of the others stay
_FIELDS = ("flops", "pointwise_ops", "reads", "writes")


def regimes_of(
    recipe: Recipe, seed: int, points: int, explore: bool, targets: Sequence[str] = ()
) -> list[Found]:
    """Every regime that the recipe's scenario leads to, of its class or of all `targets` called in it.

    Raises:
        Exception: whatever the module raises when it is built or called in float32.
    """
    if targets or not explore:
        return _regimes_of(recipe, seed, points, explore, targets or [recipe.calls_as])

    found = _regimes_of(recipe, seed, points, not recipe.least, [recipe.calls_as])
    return with_edges(recipe, found, seed + 3, lambda one: as_run(one, seed + 5, points))


def as_run(recipe: Recipe, seed: int, points: int) -> list[Found]:
    """The regimes of a recipe's call under all that its run asked."""

    def of(dtype: torch.dtype) -> list[Relaxed]:
        derived = derive(recipe, dtype, [recipe.calls_as], seed, points=points)
        asked = (informative(one.pattern.conditions, one.pattern.conditions) for one in derived)
        return [Relaxed(one, tuple(said), (), ()) for one, said in zip(derived, asked, strict=True)]

    full = of(FULL)
    try:
        low = of(LOW)
    except Exception:  # noqa: BLE001 - an operation that has no bfloat16 kernel: float32 is the only regime
        low = []
    return proved_within(paired(recipe, full, low), seed)


def _regimes_of(recipe: Recipe, seed: int, points: int, explore: bool, targets: Sequence[str]) -> list[Found]:
    full = relax(derive(recipe, FULL, targets, seed, points=points), seed)
    found = _both_widths(recipe, full, seed, points, (), None, targets)
    if explore:
        found += _beyond(recipe, found, full, seed, points)
    return proved_within(found, seed + 2)


def _both_widths(
    recipe: Recipe,
    full: Sequence[Relaxed],
    seed: int,
    points: int,
    held: Sequence[Condition],
    hints: dict[str, int] | None,
    targets: Sequence[str],
) -> list[Found]:
    try:
        low = relax(derive(recipe, LOW, targets, seed + 1, hints, points, held), seed + 1, held)
    except Exception:  # noqa: BLE001 - an operation that has no bfloat16 kernel: float32 is the only regime
        low = []
    return paired(recipe, full, low)


def paired(recipe: Recipe, full: Sequence[Relaxed], low: Sequence[Relaxed]) -> list[Found]:
    """One regime for each call where both widths of float give one formula, else one for each width.

    What does not hold below float32 keeps nothing from being said of float32: sizes computed in floats of the
    default width are rounded there.
    """
    by_call = {_call(r): r for r in low if r.derived.exact}
    found: list[Found] = []
    for one in full:
        twin = by_call.get(_call(one))
        label = recipe.scenario
        both = _of_both(one, twin, label) if twin is not None else None
        if both is not None:
            found.append(both)
            continue
        wide = label if twin is None else f"{label}, float32"
        found.append(Found(one.derived, (*one.conditions, _width("==")), wide, (FULL,)))
        if twin is not None:
            low_only = (*twin.conditions, _width("<"))
            found.append(Found(twin.derived, low_only, f"{label}, below float32", (LOW,)))
    return found


def _of_both(one: Relaxed, twin: Relaxed, label: str) -> Found | None:
    """One regime of a call in two widths: one formula, and what either asks; None where that cannot be.

    Where each asks what no point of the other's proof meets, little or nothing may be left for both.
    """
    if not _same(one.derived.pattern.summary, twin.derived.pattern.summary):
        return None
    conditions = {c.text(): c for c in (*one.conditions, *twin.conditions)}
    both = Found(twin.derived, tuple(conditions.values()), label, (FULL, LOW), (one.derived,))
    measured = (d for d in (one.derived, twin.derived) if d.proof.points)
    return both if all(map(both.inside, measured)) else None


def _width(sign: str) -> Condition:
    """Activations of 4 bytes, or of fewer: `.float()` costs nothing in the one and a copy in the other."""
    return Condition(Expr.symbol("a_dtype_bytes"), sign, Expr.const(4))


def _same(full: Summary, low: Summary) -> bool:
    """Whether the low-precision formulas, at four bytes, are the float32 ones: totals, lines and peak."""
    wide: dict[str, int | Expr] = dict.fromkeys(SYMBOLIC_WIDTHS, 4)

    def at(size: object) -> Expr:
        return Expr.of(size).subs(wide)  # type: ignore[arg-type]

    mine, theirs = full.quantities(), low.quantities()
    if any(at(mine[name]) != at(theirs[name]) for name in mine):
        return False
    ours = {line.key: line.cost for line in full.lines}
    others = {line.key: line.cost for line in low.lines}
    return ours.keys() == others.keys() and all(
        at(getattr(ours[key], field)) == at(getattr(others[key], field)) for key in ours for field in _FIELDS
    )


def _call(one: Relaxed) -> tuple[str, str, int]:
    return one.derived.target, one.derived.pattern.path, one.derived.pattern.occurrence


def _beyond(
    recipe: Recipe, known: Sequence[Found], full: Sequence[Relaxed], seed: int, points: int
) -> list[Found]:
    """Regimes that begin where a condition is broken, each proved; of the others the condition keeps away."""
    main = {(f.derived.target, f.derived.pattern.path) for f in known if FULL in f.dtypes}
    breaches: dict[str, tuple[Condition, dict[str, int], dict[str, None]]] = {}
    for source in full:
        if (source.derived.target, source.derived.pattern.path) not in main:
            continue
        for condition, sizes in _worth(source)[:MOST_BREACHES]:
            breaches.setdefault(condition.text(), (condition, sizes, {}))[2][source.derived.target] = None
    found: list[Found] = []
    for condition, sizes, targets in breaches.values():
        held = (negated(condition),)
        if condition.op == ">" and condition.right == Expr.const(1):
            held = (Condition(condition.left, "==", Expr.const(1)),)
        affected = {_call(r) for r in full if any(c.text() == condition.text() for c, _ in r.breaches)}
        label = f"{recipe.scenario}, {held[0].text().replace('{', '').replace('}', '')}"
        try:
            here = relax(derive(recipe, FULL, list(targets), seed + 7, sizes, points, held), seed + 7, held)
            here = [r for r in here if _call(r) in affected]
            regimes = _both_widths(recipe, here, seed + 7, points, held, sizes, list(targets))
        except Exception:  # noqa: BLE001 - nothing is known beyond this condition; it stays
            continue
        for regime in regimes:
            if regime.exact and not _degenerate(regime, held[0]) and not _frees(regime, full):
                name = regime.label.replace(recipe.scenario, label, 1)
                found.append(replace(_at(regime, held[0]), label=name, beyond=True))
    return found


SIMPLE = 10  # a regime that takes more conditions to say is a corner, not a regime


def _degenerate(regime: Found, held: Condition) -> bool:
    """Whether the conditions fix a size beside what was asked for, or are too many to mean one thing."""
    numbers = {name: note.hint for name, note in regime.derived.notes.items()}
    conditions = [*regime.conditions, *regime.derived.pattern.conditions]
    others = [n for n in numbers if n not in held.symbols() and numbers[n] > 1]
    fixed = [n for n in others if pins(conditions, n, numbers)]
    return bool(fixed) or len(regime.conditions) > SIMPLE


def _frees(regime: Found, full: Sequence[Relaxed]) -> bool:
    """Whether it lets a size go that the regime it borders on holds at a few numbers.

    Other conditions may rest on those numbers: a loop over so many pieces of a length that is a number.
    """
    call = regime.derived.target, regime.derived.pattern.path
    sources = [one for one in full if (one.derived.target, one.derived.pattern.path) == call]
    held = {name for one in sources for name in one.derived.notes if _left(name, one.conditions)}
    return any(not _left(name, regime.conditions) for name in held)


def _left(name: str, conditions: Sequence[Condition]) -> tuple[int, int] | None:
    """The few numbers that conditions on a size alone leave it; None where they leave it more."""
    own = [c for c in conditions if c.symbols() == {name}]
    return values_left(name, own) if own else None


def _at(regime: Found, held: Condition) -> Found:
    """The regime with `held` said first; a size that conditions fix at 1 is that number in every formula."""
    conditions: list[Condition] = [held, *regime.conditions]
    ones = [c for c in conditions if c.op == "==" and c.right == Expr.const(1)]
    fixed = [c for c in ones if c.left.text() in _names(c)]
    if not fixed:
        return replace(regime, conditions=tuple(distinct(conditions)))
    one: dict[str, int | Expr] = {name: 1 for c in fixed for name in c.symbols()}
    pattern = substituted(regime.derived.pattern, one)
    said = [c.subs(one) for c in conditions]
    # each was put to the test and matters, be it at a size of 1 alone
    kept = independent([c for c in distinct(said) if not c.is_trivially_true()], zeros=True)
    return replace(
        regime, derived=replace(regime.derived, pattern=pattern), conditions=tuple(distinct([*fixed, *kept]))
    )


def _names(condition: Condition) -> set[str]:
    return {f"{{{name}}}" for name in condition.symbols()}


COUNTS = 64  # a size of the configuration up to this is a count (heads, groups, experts) and may well be 1


def _worth(source: Relaxed) -> list[tuple[Condition, dict[str, int]]]:
    """Breaches worth a run: sizes that a caller chooses, then relations, then counts; no widths of 1."""
    notes = source.derived.notes

    def order(breach: tuple[Condition, dict[str, int]]) -> int:
        names = [n for n in breach[0].symbols() if n in notes]
        if all(not notes[n].source.startswith(("config", "constructor")) for n in names):
            return 0
        if len(names) > 1:
            return 1
        return 2 if all(notes[n].hint <= COUNTS for n in names) else 3

    worth = [b for b in source.breaches if "%" not in b[0].text() and order(b) < 3]
    return sorted(worth, key=order)
