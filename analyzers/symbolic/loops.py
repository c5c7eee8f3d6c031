"""Recovers sizes that Python consumed as numbers (loop counts): exact interpolation, every other symbol kept.

The real module is run symbolically with the consumed sizes at a few consecutive numbers, one size varied at a
time; each total, line and peak candidate must be a polynomial in it that the held-out runs confirm. Several
consumed sizes (layers of an encoder, of a decoder) are taken to add up; a run with all of them changed must
confirm that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import replace

import torch

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.ops import Size
from forwardbook.analyzers.symbolic.patterns import Pattern, summary_at
from forwardbook.analyzers.symbolic.rising import MAX_DEGREE, rising_peaks
from forwardbook.analyzers.symbolic.run import SymbolicRun, run_symbolically
from forwardbook.analyzers.symbolic.summary import LineSummary, Summary
from forwardbook.cost import Cost
from forwardbook.formula import Condition, Expr, FormulaError

POINTS = 4  # a polynomial of degree 2 needs three, a linear one two; the others are held out and must agree
LINE = 2  # of several sizes, each a straight line: one run with all of them larger confirms them together
QUICK = 3  # as many confirm that a size counts equal layers, which is nearly always so

_FIELDS = ("flops", "pointwise_ops", "reads", "writes")
Numbers = Mapping[str, int] | None
Run = Callable[[Recipe, torch.dtype, Numbers, Numbers], SymbolicRun]  # hints, then what is pinned
Made = MutableMapping[tuple[tuple[str, int], ...], dict[tuple[str, int], Summary | None]]
"""What calls (a path, which call of it) cost in runs of one recipe at pinned numbers."""


def counted(start: int, step: int = 1) -> range:
    """POINTS numbers from the first on."""
    return range(start, start + POINTS * step, step)


def without_loops(
    recipe: Recipe,
    dtype: torch.dtype,
    patterns: Sequence[Pattern],
    counts: Mapping[str, range],
    hints: Mapping[str, int] | None = None,
    numbers: Mapping[str, int] | None = None,
    run: Run = run_symbolically,
    known: Sequence[Summary] = (),
    made: Made | None = None,
) -> list[Pattern | None]:
    """The patterns with sizes, consumed as numbers, symbolic again; None for one where no polynomial fits.

    Each size takes the numbers of `counts`, POINTS of them; where these are some apart (2 for layers that
    alternate) the pattern holds for numbers of that remainder. QUICK of them do if they fit everywhere and
    the quantities at the first ones are `known`; for several sizes LINE do if a run with all of them larger
    fits. A condition that mentions a size is kept if it held in every run (`numbers` are the hints of the
    other sizes); one that was true of the first run's count alone is dropped. Runs that were `made` of the
    recipe for other counts are not made again.
    """

    names = tuple(counts)
    starts = {name: values.start for name, values in counts.items()}
    calls = [(pattern.path, pattern.occurrence) for pattern in patterns]
    runs: Made = {} if made is None else made

    def summaries(pinned: Mapping[str, int]) -> list[Summary | None]:
        found = runs.setdefault(tuple(sorted(pinned.items())), {})
        if not found.keys() >= set(calls):
            one = run(recipe, dtype, hints, pinned)
            found.update({call: summary_at(one, *call) for call in calls})
        return [found[call] for call in calls]

    varied: dict[str, dict[int, list[Summary | None]]] = {name: {} for name in names}
    found: list[Pattern | None] = []
    several = len(names) > 1
    for count in (LINE,) * several + (QUICK,) * bool(known) + (POINTS,):
        given = bool(known) and count < POINTS
        base = list[Summary | None](known) if given else summaries(dict(starts))
        for name, rows in varied.items():
            rows[starts[name]] = base
            for value in counts[name][1:count]:
                rows[value] = summaries({**starts, name: value})
        last = {name: values[max(count, QUICK) - 1] for name, values in counts.items()}
        together = summaries(last) if several else None
        held_out = 0 if count == LINE else 1
        found = [
            _fitted(index, pattern, varied, together, counts, last, numbers, held_out)
            for index, pattern in enumerate(patterns)
        ]
        if None not in found:
            break
    return found


def _fitted(
    index: int,
    pattern: Pattern,
    varied: Mapping[str, Mapping[int, Sequence[Summary | None]]],
    together: Sequence[Summary | None] | None,
    counts: Mapping[str, range],
    last: Mapping[str, int],
    numbers: Mapping[str, int] | None,
    held_out: int,
) -> Pattern | None:
    """The pattern number `index` over all values, if polynomials fit them."""
    tables = {n: {x: row[index] for x, row in sorted(rows.items())} for n, rows in varied.items()}
    if any(s is None for table in tables.values() for s in table.values()):
        return None
    seen = None
    if together is not None:
        seen = together[index]
        if seen is None:
            return None
    summary = combined(tables, held_out, None if seen is None else (last, seen), numbers)  # type: ignore[arg-type]
    if summary is None or (seen is not None and not _agree(summary, seen, last)):
        return None
    kept = tuple(c for c in pattern.conditions if _survives(c, varied, numbers))
    kept += tuple(
        Condition(Expr.symbol(name).mod(Expr.const(one.step)), "==", Expr.const(one.start % one.step))
        for name, one in counts.items()
        if one.step > 1
    )
    return replace(pattern, summary=summary, conditions=kept)


def without_nested_loops(
    recipe: Recipe,
    dtype: torch.dtype,
    patterns: Sequence[Pattern],
    counts: Mapping[str, range],
    hints: Mapping[str, int] | None = None,
    numbers: Mapping[str, int] | None = None,
    run: Run = run_symbolically,
) -> list[Pattern | None]:
    """As `without_loops`, for two sizes whose loops are nested (time steps within layers): counts multiply.

    The first, the inner one, is interpolated at each number of the other, and the outcome over those.
    """
    inner, outer = counts
    rows: dict[int, list[Pattern | None]] = {}
    for value in counts[outer]:

        def pinned(
            one: Recipe, kind: torch.dtype, given: Numbers, fixed: Numbers, value: int = value
        ) -> SymbolicRun:
            return run(one, kind, given, {**(fixed or {}), outer: value})

        rows[value] = without_loops(
            recipe, dtype, patterns, {inner: counts[inner]}, hints, numbers, pinned
        )
    varied = {name: dict.fromkeys(values) for name, values in counts.items()}
    found: list[Pattern | None] = []
    for index, pattern in enumerate(patterns):
        table = {value: p.summary for value, row in rows.items() if (p := row[index]) is not None}
        summary = combined({outer: table}) if len(table) == POINTS else None
        kept = tuple(c for c in pattern.conditions if _survives(c, varied, numbers))
        found.append(replace(pattern, summary=summary, conditions=kept) if summary is not None else None)
    return found


def _agree(whole: Summary, seen: Summary, numbers: Mapping[str, int]) -> bool:
    """Whether the formulas at these numbers are those of the run at these numbers; its peak aside."""

    def same(ours: Size, theirs: Size) -> bool:
        return Expr.of(ours).subs(numbers) == Expr.of(theirs).subs(numbers)

    def alike(ours: Cost, theirs: Cost) -> bool:
        return all(same(getattr(ours, f), getattr(theirs, f)) for f in _FIELDS)

    lines = {line.key: line.cost for line in seen.lines}
    return (
        alike(whole.totals, seen.totals)
        and all(alike(line.cost, lines.pop(line.key, Cost.zero())) for line in whole.lines)
        and not lines
        and all(same(getattr(whole, f), getattr(seen, f)) for f in ("weights", "boundary", "intermediates"))
    )


def _survives(
    condition: Condition, varied: Mapping[str, Mapping[int, object]], numbers: Mapping[str, int] | None
) -> bool:
    inside = condition.symbols().intersection(varied)
    if not inside:
        return True
    if numbers is None:
        return False
    base = {**numbers, **{name: min(values) for name, values in varied.items()}}
    try:
        return all(condition.holds({**base, name: value}) for name in inside for value in varied[name])
    except FormulaError:
        return False


def combined(
    tables: Mapping[str, Mapping[int, Summary]],
    held_out: int = 1,
    together: tuple[Mapping[str, int], Summary] | None = None,
    hints: Mapping[str, int] | None = None,
) -> Summary | None:
    """One summary in all names: the base plus, for each name, what varying it alone adds.

    So many values of each are `held_out`, for the others to be confirmed by them. `together`, a run with all
    of them larger at these numbers, confirms the states that may be the peak. `hints` are likely sizes.
    """
    first = next(iter(tables.values()))
    base = first[min(first)]

    def fit(read: Callable[[Summary], Size]) -> Size | None:
        whole = Expr.of(read(base))
        for name, table in tables.items():
            values = {x: Expr.of(read(s)) for x, s in table.items()}
            one = Expr.interpolate(name, values, MAX_DEGREE, held_out)
            if one is None:
                return None
            whole = whole + (one - Expr.of(read(base)))
        return whole

    def cost(read: Callable[[Summary], Cost]) -> Cost | None:
        parts = [fit(lambda s, f=f: getattr(read(s), f)) for f in _FIELDS]  # type: ignore[misc]
        return None if any(p is None for p in parts) else Cost(*parts)  # type: ignore[arg-type]

    every = [s for table in tables.values() for s in table.values()]
    totals, lines = cost(lambda s: s.totals), _lines(every, cost)
    peaks = rising_peaks(tables, held_out, together, hints)
    weights, boundary = fit(lambda s: s.weights), fit(lambda s: s.boundary)
    intermediates = fit(lambda s: s.intermediates)
    if totals is None or lines is None or peaks is None:
        return None
    if weights is None or boundary is None or intermediates is None:
        return None
    return replace(
        every[-1],
        totals=totals,
        lines=lines,
        peaks=tuple(peaks),
        states=(),
        weights=weights,
        boundary=boundary,
        intermediates=intermediates,
    )


def _lines(
    summaries: Sequence[Summary], cost: Callable[[Callable[[Summary], Cost]], Cost | None]
) -> tuple[LineSummary, ...] | None:
    shown = {line.key: line for s in summaries for line in s.lines}
    tables = {id(s): {line.key: line.cost for line in s.lines} for s in summaries}
    fitted = []
    for key in sorted(shown):
        one = cost(lambda s, key=key: tables[id(s)].get(key, Cost.zero()))  # type: ignore[misc]
        if one is None:
            return None
        fitted.append(replace(shown[key], cost=one))
    return tuple(fitted)
