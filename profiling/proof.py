"""Holds formulas against measured runs: at random sizes every total, line and peak must be equal integers."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.ops import Size
from forwardbook.analyzers.symbolic.patterns import Pattern, find_call
from forwardbook.analyzers.symbolic.recorder import Widths
from forwardbook.analyzers.symbolic.run import run_measured
from forwardbook.analyzers.symbolic.summary import LineKey, Summary, summarise
from forwardbook.analyzers.symbolic.trace import Trace
from forwardbook.formula import Condition, Expr, FormulaError
from forwardbook.profiling.conflict import contradiction, unsatisfied
from forwardbook.profiling.farther import Farther
from forwardbook.profiling.fewer import Fewer
from forwardbook.profiling.octaves import Octaves
from forwardbook.profiling.raised import first_line_kept
from forwardbook.profiling.sizes import draw
from forwardbook.profiling.spans import Spans

POINTS = 3
TRIES = 24
REDRAWS = 6
MORE = 3  # further points, while a size of a formula has had one value at all of them
REFUSALS = 3  # of drawn sizes, by what holds the modules or runs before them, until what it asked is heeded
OTHERS = 5  # calls beside its own in which a pattern is looked for
UNEQUAL = {"w_dtype_bytes": 3, "a_dtype_bytes": 5, "kv_dtype_bytes": 7}


@dataclass(frozen=True, slots=True)
class Difference:
    """A number predicted wrong: the quantity, the line it belongs to (or the total), both values."""

    quantity: str
    where: str
    predicted: int | None
    measured: int


@dataclass(frozen=True, slots=True)
class Point:
    """One assignment of sizes, and what formula and measurement say there."""

    sizes: dict[str, int]
    predicted: dict[str, int]
    measured: dict[str, int]
    lines: int
    differences: tuple[Difference, ...]


@dataclass
class PatternProof:
    """All points at which one call pattern was held against measurement."""

    pattern: Pattern
    points: list[Point] = field(default_factory=list)
    reason: str = ""

    @property
    def differences(self) -> list[Difference]:
        return [d for p in self.points for d in p.differences]

    @property
    def exact(self) -> bool:
        return len(self.points) >= POINTS and not self.differences


def widths_of(dtype: torch.dtype) -> dict[str, int]:
    """The three widths of a run in one dtype."""
    width = dtype.itemsize
    return {"w_dtype_bytes": width, "a_dtype_bytes": width, "kv_dtype_bytes": width}


def predict(size: Size, sizes: Mapping[str, int]) -> int | None:
    """The number a formula gives; None where it says that it does not hold."""
    if isinstance(size, int):
        return size
    try:
        return size.evaluate(sizes)
    except FormulaError:
        return None


def compare(summary: Summary, measured: Summary, sizes: Mapping[str, int]) -> Point:
    """Every quantity and every line of a pattern against a measured call."""
    predicted: dict[str, int] = {}
    real = {name: _integer(size) for name, size in measured.quantities().items()}
    differences: list[Difference] = []
    for name, size in summary.quantities().items():
        value = predict(size, sizes)
        if value is not None:
            predicted[name] = value
        if value != real[name]:
            differences.append(Difference(name, "total", value, real[name]))
    ours = {line.key: line.cost for line in summary.lines}
    theirs = {line.key: line.cost for line in measured.lines}
    for key in dict.fromkeys((*ours, *theirs)):
        for name in ("flops", "pointwise_ops", "reads", "writes"):
            value = predict(getattr(ours[key], name), sizes) if key in ours else 0
            actual = _integer(getattr(theirs[key], name)) if key in theirs else 0
            if value != actual:
                differences.append(Difference(name, _where(key), value, actual))
    return Point(dict(sizes), predicted, real, len(ours), tuple(differences))


def met_in(trace: Trace, pattern: Pattern, sizes: Mapping[str, int]) -> Point | None:
    """A pattern against its own call in a run at `sizes`, widths among them; None where the run made none."""
    call = find_call(trace, pattern.path, pattern.occurrence)
    return compare(pattern.summary, summarise(trace, call, {}), sizes) if call is not None else None


def met_throughout(trace: Trace, pattern: Pattern, sizes: Mapping[str, int]) -> Point | None:
    """The same of all of its calls that the run made: the first that differs, else its own.

    What a caller does to one of them alone (a window from the second layer on) its own call does not show.
    """
    own = met_in(trace, pattern, sizes)
    if own is None or own.differences:
        return own
    for path, occurrence in pattern.others[:OTHERS]:
        call = find_call(trace, path, occurrence)
        if call is not None:
            point = compare(pattern.summary, summarise(trace, call, {}), sizes)
            if point.differences:
                return point
    return own


def _integer(size: Size) -> int:
    """What a measured run counted, which is always a number."""
    return Expr.of(size).const_value()


def _where(key: LineKey) -> str:
    return f"line {key[1]}"


def measure(recipe: Recipe, sizes: Mapping[str, int], dtype: torch.dtype, widths: Mapping[str, int]) -> Trace:
    """The trace of a concrete run at `sizes`."""
    w, a, kv = (widths[name] for name in ("w_dtype_bytes", "a_dtype_bytes", "kv_dtype_bytes"))
    return run_measured(recipe, sizes, dtype, Widths(w, a, kv))[0]


def prove(
    recipe: Recipe,
    patterns: Sequence[Pattern],
    hints: Mapping[str, int],
    dtype: torch.dtype,
    seed: int,
    points: int = POINTS,
    held: Sequence[Condition] = (),
    beyond: Mapping[str, int] | None = None,
    below: Mapping[str, int] | None = None,
) -> list[PatternProof]:
    """Each pattern at `points` random assignments that satisfy its conditions, the recipe's and `held`.

    At one of them each size of `beyond` is a dozen larger than that, at others each of `below` is smaller, if
    conditions and module allow it: a few points more are tried for it. So are sizes that became numbers far
    larger at one and far smaller at another; and all others at the second and the third point.
    Where the run is refused at what is drawn, what was asked around the calls limits the draws as well.
    """
    rng = random.Random(seed)
    proofs = [PatternProof(p) for p in patterns]
    general = [*(Condition.parse(c) for c in recipe.conditions), *held]
    if not patterns:
        return proofs
    together = {c.text(): c for p in patterns for c in p.conditions}
    seen: list[Mapping[str, int]] = []
    conditions = [c for c in (*general, *together.values()) if c.symbols() <= set(hints)]
    problem = contradiction(hints, conditions)
    free = _free(patterns, hints, conditions)
    moving = {name: hint for name, hint in hints.items() if name not in _held(conditions)}
    farther = Farther(beyond or {}, rng, conditions)
    fewer = Fewer(below or {}, rng)
    needed = {name for p in patterns for name in p.before}
    octaves = Octaves(needed, moving, rng)
    told = {name for p in patterns for name in p.summary.symbols()}  # of others no formula tells
    spans = Spans((moving.keys() & told) - needed - farther.names - fewer.names, rng)
    least = wanted = points + len(fewer) + spans.points
    around = dict.fromkeys(c for p in patterns for c in p.around if c.symbols() <= set(hints))
    heeded = list(dict.fromkeys((*conditions, *around)))
    refusals = 0
    for attempt in range(0 if problem else TRIES):
        refuted = all(p.differences for p in proofs)
        if all(len(p.points) >= (points if refuted else wanted) for p in proofs):
            left = farther.open and not refuted
            if wanted == least + MORE or not (left or _unvaried(free, seen)):
                break
            wanted += 1
        fixed = some_kept(hints, rng, attempt)
        if seen and attempt % 2:
            fixed = {name: value for name, value in fixed.items() if not _unvaried({name: value}, seen)}
        if len(seen) >= least:  # what is refused at most sizes may never have been met as the run had it
            fixed |= {n: hint for n, hint in free.items() if hint > 1 and all(s[n] != hint for s in seen)}
        lower = fewer.asked() if len(seen) >= points - 2 and not refuted else {}
        elsewhere = seen and not lower  # a width of one hides which of two states is the fuller
        far = octaves.asked() if elsewhere and not refuted else {}
        further = farther.asked() if len(seen) >= points - 1 and not lower else {}
        fixed |= lower | far | further
        scale = spans.asked(len(seen)) if not (lower or further or refuted) else {}
        sizes = draw(hints, heeded, rng, fixed, scale=scale) if refusals >= REFUSALS else None
        sizes = sizes or draw(hints, conditions, rng, fixed, scale=scale)
        for _ in range(REDRAWS if len(seen) >= points - 1 else 0):  # chance may have kept a size so far
            if sizes is None or not _unvaried(moving, [*seen, sizes]):
                break
            sizes = draw(hints, conditions, rng, fixed, scale=scale)
        if sizes is not None and len(seen) >= points - 1:  # what no draw changes is not waited for again
            moving = {n: hint for n, hint in moving.items() if not _unvaried({n: hint}, [*seen, sizes])}
        if sizes is None:
            octaves.answered(done=False)
            spans.refused()
            if attempt == 0 and (said := unsatisfied(hints, conditions, rng)):
                problem = said
                break
            problem = "no random sizes were found that satisfy all conditions"
            continue
        widths = widths_of(dtype)
        if dtype != torch.float32 and len(proofs[0].points) == points - 1:
            widths |= UNEQUAL  # so that no width stands in for another, nor for float32 within the run
        try:
            trace = measure(recipe, sizes, dtype, widths)
        except Exception as error:  # noqa: BLE001 - the module's own refusal of these sizes, whatever it raises
            problem = f"a run at random sizes raised {first_line_kept(error)}"
            octaves.answered(done=False)
            spans.refused()
            refusals += not (lower or far or further or scale)
            continue
        octaves.answered(done=True)
        farther.met(sizes)
        seen.append(sizes)
        for proof in proofs:
            if len(proof.points) >= wanted and not further:
                continue
            point = met_in(trace, proof.pattern, {**sizes, **widths})
            proof.points += [] if point is None else [point]
    for proof in proofs:
        if len(proof.points) < points:
            proof.reason = problem
    return proofs


def _free(
    patterns: Sequence[Pattern], hints: Mapping[str, int], conditions: Sequence[Condition]
) -> dict[str, int]:
    """The sizes in formulas, and those that became numbers, that no condition holds at one value."""
    used = {name for p in patterns for name in p.summary.symbols()}
    used |= {name for p in patterns for one in p.consumed for name in one.symbols}
    held = _held(conditions)
    return {name: hint for name, hint in hints.items() if name in used - held}


def _held(conditions: Sequence[Condition]) -> set[str]:
    """The sizes that a condition holds at one value."""
    return {n for c in conditions if c.op == "==" and len(c.symbols()) == 1 for n in c.symbols()}


def _unvaried(hints: Mapping[str, int], points: Sequence[Mapping[str, int]]) -> bool:
    """Whether a size above 1 has one value at all points."""
    return any(hint > 1 and len({sizes[name] for sizes in points}) == 1 for name, hint in hints.items())


def some_kept(hints: Mapping[str, int], rng: random.Random, attempt: int) -> dict[str, int]:
    """Names kept at their hints: none at first, then a growing share (never the half that must change)."""
    if attempt < 6:
        return {}
    share = min(0.5, (attempt - 5) * 0.06)
    return {name: value for name, value in hints.items() if rng.random() < share}
