"""Holds claimed formulas against real runs: at random sizes and data every total and line must be equal."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import torch

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.reader import line_map
from forwardbook.analyzers.symbolic.recorder import Widths
from forwardbook.formula import Condition, FormulaError
from forwardbook.profiling.asked import hints_of
from forwardbook.profiling.claim import PER_LINE, WHOLE, Claim
from forwardbook.profiling.proof import UNEQUAL, Difference, Point, predict, widths_of
from forwardbook.profiling.raised import raised
from forwardbook.profiling.real import RealRun, run_real
from forwardbook.profiling.sizes import draw
from forwardbook.schema import Verdict

POINTS: Final = 3
TRIES: Final = 16
SCALES: Final = (1.0, 8.0, 0.1, 64.0)
LARGEST_HINT: Final = 48  # runs are real: sizes are drawn around this at most
_DTYPES: Final = (torch.float32, torch.bfloat16)


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


def hold(recipe: Recipe, claim: Claim, seed: int, file: str) -> Judged:
    """The claim against at least three runs in float32, then in bfloat16 if the module can do that."""
    judged = Judged(notes=hints_of(recipe))
    judged.reason = _unknown(claim, judged.notes) or _uncountable(claim, file)
    if judged.reason:
        return judged
    for dtype in _DTYPES:
        problem = _measured(recipe, claim, seed, dtype, judged, file)
        if judged.differences:
            return judged
        if problem and dtype is torch.float32:
            judged.reason = problem
            return judged
    judged.reason = _still(claim, judged)
    if judged.unruled and not judged.reason:
        judged.reason = f"no rule states the cost of {', '.join(judged.unruled[:3])}"
    return judged


def _unknown(claim: Claim, hints: Mapping[str, int]) -> str:
    known = {*hints, *UNEQUAL, *(one.name for one in claim.counted)}
    clash = sorted({one.name for one in claim.counted} & {*hints, *UNEQUAL})
    if clash:
        return f"{clash[0]} is the name of a size already: give what is counted another name"
    unknown = sorted(claim.symbols() - known)
    if unknown:
        return f"no size is called {', '.join(unknown)}; there are: {', '.join(sorted(known))}"
    return ""


def _uncountable(claim: Claim, file: str) -> str:
    for one in claim.counted:
        span = line_map(file).statement(one.line)
        if span is None or not span.line == span.end_line == one.line:
            return f"{one.name}: line {one.line} is no statement on one line, so its runs cannot be counted"
    return ""


def _measured(
    recipe: Recipe, claim: Claim, seed: int, dtype: torch.dtype, judged: Judged, file: str
) -> str:
    """Add points in one dtype; why there are too few, empty where there are enough."""
    rng = random.Random(f"{seed} {dtype}")
    hints = {name: min(hint, LARGEST_HINT) for name, hint in judged.notes.items()}
    stated = [Condition.parse(text) for text in (*recipe.conditions, *claim.conditions)]
    sizes_only = [c for c in stated if c.symbols() <= set(hints)]
    if any(hints[name] != judged.notes[name] for c in sizes_only for name in c.symbols()):
        hints = dict(judged.notes)
    problem = "no random sizes were found that satisfy all conditions"
    got = 0
    for attempt in range(TRIES):
        if got >= POINTS and (attempt >= 2 * POINTS or not _still(claim, judged)):
            return ""
        sizes = draw(hints, sizes_only, rng)
        if sizes is None:
            continue
        widths = UNEQUAL if dtype != torch.float32 and got == POINTS - 1 else widths_of(dtype)
        order = (widths["w_dtype_bytes"], widths["a_dtype_bytes"], widths["kv_dtype_bytes"])
        try:
            run = run_real(recipe, sizes, dtype, Widths(*order), SCALES[attempt % 4], seed + attempt)
        except Exception as error:  # noqa: BLE001 - the module's own refusal of these sizes, whatever it raises
            problem = f"the class raised {raised(error, [file])}"
            continue
        values = {**sizes, **widths, **{one.name: run.hits.get(one.line, 0) for one in claim.counted}}
        if not _hold(stated, values):
            problem = "the conditions of the claim held at no point that was measured"
            continue
        got += 1
        judged.points.append(compare(claim, run, values))
        judged.dtypes.append(str(dtype).removeprefix("torch."))
        judged.operations |= run.operations
        judged.unruled = tuple(dict.fromkeys((*judged.unruled, *run.unruled)))
        if run.counted_flops is not None and dtype == torch.float32:
            judged.counter.append((run.totals["flops"], run.counted_flops))
        if judged.points[-1].differences and got >= 2:
            return ""
    return "" if got >= POINTS else problem


def _hold(conditions: Sequence[Condition], values: Mapping[str, int]) -> bool:
    try:
        return all(c.holds(values) for c in conditions if c.symbols() <= set(values))
    except FormulaError:
        return False


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


def _still(claim: Claim, judged: Judged) -> str:
    """Which name of the formulas had one value at all points, though no condition says which."""
    stated = [Condition.parse(text) for text in claim.conditions]
    said = {n for c in stated if c.op == "==" and len(c.symbols()) == 1 for n in c.symbols()}
    counted = {one.name for one in claim.counted}
    for name in sorted(claim.symbols() - said - set(UNEQUAL)):
        above = name in counted or judged.notes.get(name, 0) > 1
        if above and len({point.sizes[name] for point in judged.points}) < 2:
            return (
                f"{name} had one value at every point that was measured: state a condition, or leave it out"
            )
    return ""
