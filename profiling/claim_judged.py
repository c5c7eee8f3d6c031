"""A claim and one run in; out which numbers differ, and what all runs together say of the claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.formula import Condition, FormulaError
from forwardbook.profiling.claim import PER_LINE, WHOLE, Claim
from forwardbook.profiling.proof import Difference, Point, predict
from forwardbook.profiling.real import RealRun
from forwardbook.schema import Verdict


@dataclass
class Judged:
    """What measuring said of a claim: all points, why it does not hold if it does not, and what ran where."""

    points: list[Point] = field(default_factory=list)
    dtypes: list[str] = field(default_factory=list)
    operations: dict[int, tuple[str, ...]] = field(default_factory=dict)
    notes: dict[str, int] = field(default_factory=dict)
    counter: list[tuple[int, int]] = field(default_factory=list)
    unruled: tuple[str, ...] = ()
    reason: str = ""

    @property
    def differences(self) -> list[Difference]:
        """Every number that differs."""
        return [d for point in self.points for d in point.differences]

    def verdict(self, claim: Claim) -> Verdict:
        """`bounded` where a number of data is in the formulas, else `exact`; `wrong` where one differs."""
        if self.differences:
            return "wrong"
        if self.reason:
            return "unproved"
        return "bounded" if any(one.name in claim.symbols() for one in claim.counted) else "exact"


def compare(claim: Claim, run: RealRun, values: Mapping[str, int]) -> Point:
    """Every quantity of every line and of the whole against one run."""
    differences: list[Difference] = []
    claimed = {line.line for line in claim.lines}
    for quantity, line, formula in claim.formulas():
        predicted = predict(formula, values)
        measured = run.totals[quantity] if not line else run.lines.get(line, {}).get(quantity, 0)
        if predicted != measured:
            differences.append(Difference(quantity, f"line {line}" if line else "total", predicted, measured))
    for line, row in run.lines.items():
        if line not in claimed:
            differences += [Difference(q, f"line {line}", 0, row[q]) for q in PER_LINE if row[q]]
    told = {q: v for q in (*PER_LINE, *WHOLE) if (v := predict(claim.total(q), values)) is not None}
    return Point(dict(values), told, dict(run.totals), len(run.lines), tuple(differences))


def stated_by(recipe: Recipe, claim: Claim) -> list[Condition]:
    """All conditions under which a claim is to hold."""
    return [Condition.parse(text) for text in (*recipe.conditions, *claim.conditions)]


def held_by(claim: Claim) -> frozenset[str]:
    """The names that a condition of the claim holds at one value."""
    stated = (Condition.parse(text) for text in claim.conditions)
    return frozenset(n for c in stated if c.op == "==" and len(c.symbols()) == 1 for n in c.symbols())


def meets(conditions: Sequence[Condition], values: Mapping[str, int]) -> bool:
    """Whether all conditions hold of which all names are known."""
    try:
        return all(c.holds(values) for c in conditions if c.symbols() <= set(values))
    except FormulaError:
        return False
