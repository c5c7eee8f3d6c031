"""All regimes of a class: both widths of float, every call pattern, and what begins where a condition gives way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.run import SYMBOLIC_WIDTHS
from forwardbook.analyzers.symbolic.summary import Summary
from forwardbook.formula import Condition, Expr
from forwardbook.pipeline.regimes import Derived, derive, negated
from forwardbook.pipeline.relax import Relaxed, relax

FULL, LOW = torch.float32, torch.bfloat16
MOST_BREACHES = 4  # further regimes looked for per pattern; the conditions of the others stay
_FIELDS = ("flops", "pointwise_ops", "reads", "writes")


@dataclass(frozen=True)
class Found:
    """One regime: a proved pattern, the conditions that matter, where it came from."""

    derived: Derived
    conditions: tuple[Condition, ...]
    label: str
    dtypes: tuple[torch.dtype, ...]
    also: tuple[Derived, ...] = ()

    @property
    def exact(self) -> bool:
        """Proved wherever it was measured."""
        return self.derived.exact and all(d.exact for d in self.also)


def regimes_of(recipe: Recipe, seed: int, points: int, explore: bool) -> list[Found]:
    """Every regime that the recipe's scenario leads to.

    Raises:
        Exception: whatever the module raises when it is built or called in float32.
    """
    full = relax(derive(recipe, FULL, [recipe.calls_as], seed, points=points), seed)
    found = _both_widths(recipe, full, seed, points, (), None)
    if explore:
        for one in list(found):
            found += _beyond(recipe, one, full, seed, points)
    return found


def _both_widths(
    recipe: Recipe,
    full: Sequence[Relaxed],
    seed: int,
    points: int,
    held: Sequence[Condition],
    hints: dict[str, int] | None,
) -> list[Found]:
    try:
        low = relax(derive(recipe, LOW, [recipe.calls_as], seed + 1, hints, points, held), seed + 1, held)
    except Exception:  # noqa: BLE001 - an operation that has no bfloat16 kernel: float32 is the only regime
        low = []
    by_call = {(r.derived.pattern.path, r.derived.pattern.occurrence): r for r in low}
    found: list[Found] = []
    for one in full:
        twin = by_call.get((one.derived.pattern.path, one.derived.pattern.occurrence))
        label = recipe.scenario
        if twin is None:
            found.append(Found(one.derived, (*one.conditions, _width("==")), label, (FULL,)))
        elif _same(one.derived.pattern.summary, twin.derived.pattern.summary):
            conditions = {c.text(): c for c in (*one.conditions, *twin.conditions)}
            found.append(Found(twin.derived, tuple(conditions.values()), label, (FULL, LOW), (one.derived,)))
        else:
            found.append(Found(one.derived, (*one.conditions, _width("==")), f"{label}, float32", (FULL,)))
            found.append(
                Found(twin.derived, (*twin.conditions, _width("<")), f"{label}, below float32", (LOW,))
            )
    return found


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


def _beyond(recipe: Recipe, one: Found, full: Sequence[Relaxed], seed: int, points: int) -> list[Found]:
    """Regimes that begin where a condition of `one` is broken, each proved; those that cannot be proved are left."""
    source = next((r for r in full if r.derived.pattern.path == one.derived.pattern.path), None)
    if source is None or FULL not in one.dtypes:
        return []
    found: list[Found] = []
    for condition, sizes in _worth(source)[:MOST_BREACHES]:
        held = (negated(condition),)
        if condition.op == ">" and condition.right == Expr.const(1):
            held = (Condition(condition.left, "==", Expr.const(1)),)
        try:
            derived = derive(recipe, FULL, [recipe.calls_as], seed + 7, sizes, points, held)
            here = [
                r
                for r in relax(derived, seed + 7, held)
                if r.derived.pattern.path == source.derived.pattern.path
            ]
            label = f"{recipe.scenario}, {held[0].text().replace('{', '').replace('}', '')}"
            for regime in _both_widths(recipe, here, seed + 7, points, held, sizes):
                if regime.exact:
                    conditions = {c.text(): c for c in (*held, *regime.conditions)}
                    name = regime.label.replace(recipe.scenario, label, 1)
                    found.append(replace(regime, conditions=tuple(conditions.values()), label=name))
        except Exception:  # noqa: BLE001 - nothing is known beyond this condition; it stays
            continue
    return found


def _worth(source: Relaxed) -> list[tuple[Condition, dict[str, int]]]:
    """Breaches of sizes that a caller chooses freely (inputs) first; widths of the model being 1 are not worth a run."""
    notes = source.derived.notes

    def of_input(condition: Condition) -> bool:
        return all(
            "config" not in notes[n].source and "constructor" not in notes[n].source
            for n in condition.symbols()
            if n in notes
        )

    alone = [b for b in source.breaches if len(b[0].symbols()) == 1]
    related = [b for b in source.breaches if len(b[0].symbols()) > 1 and "%" not in b[0].text()]
    return [b for b in alone if of_input(b[0])] + related
