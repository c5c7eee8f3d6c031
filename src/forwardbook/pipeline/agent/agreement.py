"""A claim that runs confirmed and what was derived of its class in; the line at which they part out."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from forwardbook.formula import Condition, Expr, parse
from forwardbook.formula.trials import value_at
from forwardbook.profiling.claim import PER_LINE, Claim
from forwardbook.profiling.sizes import draw
from forwardbook.schema import Entry, ProofPoint, Regime

_TRIED: Final = (
    20  # sizes of each magnitude at which formulas are compared that are to be equal under conditions
)
_MAGNITUDES: Final = (1, 10, 1_000, 100_000)
_SHOWN: Final = 300  # characters of a formula in what is said of it

Formulas = dict[tuple[int, str], Expr]


def parting(claim: Claim, held: Entry, derived: Entry | None) -> str:
    """Where the claim is another polynomial than what was derived of a line; empty where it is none.

    A derived formula says something of a line if it gives what was measured there, at every point of the
    claim that meets its conditions: then both are right there, and a difference elsewhere is an error of one
    of them. `held` is the entry of the claim, with those points. Lines that the derivation left open, and
    formulas with numbers that only data knows, are for measurement alone.
    """
    if derived is None or "symbolic" not in derived.derived_by:
        return ""
    [proved] = held.regimes
    counted = {one.name for one in claim.counted}
    open_ = {row.line for row in derived.unresolved}
    claimed = {
        (line, quantity): formula
        for quantity, line, formula in claim.formulas()
        if line and line not in open_ and not formula.symbols() & counted
    }
    for regime in derived.regimes:
        if regime.proof is None or regime.proof.verdict == "wrong":
            continue
        said = [Condition.parse(text) for text in regime.conditions]
        points = [point for point in proved.points if _meets(said, point.sizes)]
        known = _lines(regime)
        stated = [*said, *map(Condition.parse, proved.conditions)]
        for key in sorted(claimed.keys() & known.keys()) if points else ():
            ours, theirs = known[key], claimed[key]
            if ours != theirs and _gives(ours, theirs, points) and _differ(ours, theirs, stated, points):
                where = f" where {' and '.join(regime.conditions)}" if regime.conditions else ""
                return (
                    f"line {key[0]}, {key[1]}: {_brief(theirs)} was claimed, "
                    f"and {_brief(ours)} was derived{where}; "
                    "both are what was measured, but they are not equal for all sizes"
                )
    return ""


def _lines(regime: Regime) -> Formulas:
    """What a regime says of each line, all its rows of one line together."""
    found: dict[tuple[int, str], list[Expr]] = defaultdict(list)
    for one in regime.flop_analysis.lines:
        found[one.line, "flops"].append(parse(one.flops))
        found[one.line, "pointwise_ops"].append(parse(one.pointwise_ops))
    for other in regime.memory_analysis.lines:
        found[other.line, "reads"].append(parse(other.reads))
        found[other.line, "writes"].append(parse(other.writes))
    return {key: Expr.sum(parts) for key, parts in found.items() if key[1] in PER_LINE}


def _meets(conditions: Sequence[Condition], sizes: Mapping[str, int]) -> bool:
    return all(one.symbols() <= sizes.keys() and one.is_met(sizes) for one in conditions)


def _gives(ours: Expr, theirs: Expr, points: Sequence[ProofPoint]) -> bool:
    """Whether a derived formula has the values of the one that runs confirmed."""
    if not ours.symbols() <= points[0].sizes.keys():
        return False
    return all(value_at(ours, point.sizes) == value_at(theirs, point.sizes) for point in points)


def _differ(ours: Expr, theirs: Expr, stated: Sequence[Condition], points: Sequence[ProofPoint]) -> bool:
    """Whether two polynomials differ where the conditions hold; without any, two of them do."""
    fixed = dict(_fixed(stated))
    if fixed and ours.subs(fixed) == theirs.subs(fixed):
        return False
    names = ours.symbols() | theirs.symbols()
    if not any(one.symbols() & names for one in stated):
        return True
    tried = _sizes(ours, theirs, stated, points)
    return any(value_at(ours, sizes) != value_at(theirs, sizes) for sizes in tried)


def _fixed(stated: Sequence[Condition]) -> Iterator[tuple[str, Expr]]:
    """The names that a condition holds at a number."""
    for one in stated:
        if one.op == "==" and len(names := one.symbols()) == 1 and one.right.is_const:
            [name] = names
            if one.left == Expr.symbol(name):
                yield name, one.right


def _sizes(
    ours: Expr, theirs: Expr, stated: Sequence[Condition], points: Sequence[ProofPoint]
) -> Iterator[Mapping[str, int]]:
    """Sizes that meet the conditions, around those that were measured and far beyond them."""
    rng = random.Random(f"{ours} {theirs}")
    for magnitude in _MAGNITUDES:
        for attempt in range(_TRIED):
            hints = {name: size * magnitude for name, size in points[attempt % len(points)].sizes.items()}
            found = draw(hints, stated, rng, attempts=12)
            if found is not None:
                yield found


def _brief(formula: Expr) -> str:
    text = formula.text()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
