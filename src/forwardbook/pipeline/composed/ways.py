"""Ways to call classes: each is derived alone once, with all that it calls, and proved by measured runs."""

from __future__ import annotations

import inspect
import itertools
import random
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from forwardbook.analyzers.derive.boundary import Boundary
from forwardbook.analyzers.derive.breakdown import Breakdown, Callee, breakdown
from forwardbook.analyzers.derive.derivation import Settled, at_hints, key_of, settle
from forwardbook.analyzers.derive.local import Local
from forwardbook.analyzers.derive.names import Read, names_of
from forwardbook.analyzers.instances.recipe import full_name
from forwardbook.analyzers.symbolic.run import SYMBOLIC_WIDTHS
from forwardbook.entries.definitions import plain
from forwardbook.entries.evaluate import Evaluator
from forwardbook.entries.record import Entry, Point, Proof, Regime
from forwardbook.entries.regimes import EntryError
from forwardbook.errors import FormulaError
from forwardbook.formula import Expr
from forwardbook.pipeline.composed.drafts import pins
from forwardbook.pipeline.composed.facts import facts_of
from forwardbook.pipeline.composed.measured import LOW, WIDE
from forwardbook.pipeline.composed.origin import engine_digest, source_hash, versions_of
from forwardbook.pipeline.composed.records import (
    FULL,
    SIGNATURE,
    Draft,
    all_symbols_of,
    names_of_record,
    printed_condition,
    record,
    symbols_of,
)
from forwardbook.pipeline.composed.trial import Refused, Trial, Unproved
from forwardbook.pipeline.composed.way import Way, callee_of
from forwardbook.profiling.raised import first_line_kept
from forwardbook.profiling.sizes import draw
from forwardbook.schema import Verdict
from forwardbook.verdicts import WORSE

POINTS: Final = 3
"""Points of a proof that are kept; more were met."""
CANDIDATES: Final = 12
"""Ways of a class that are tried for a call that none of them is by what it is told."""
FAILURES: Final = 4
"""Ways of a class without formulas after which no further one is tried."""
UNEQUAL: Final = dict(zip(SYMBOLIC_WIDTHS, (3, 2, 1), strict=True))
"""Bytes of elements, none of which stands in for another."""


HERE: Final = 1
"""The first of the points at which a callee is held against a call: the sizes of that run."""
EVERYWHERE: Final = 3
"""That one and others."""

Agrees = Callable[[Callee, int], bool]
"""Whether a callee costs what a call did, at so many points."""


@dataclass
class Ways:
    """All ways that were met so far; `entries` holds a record of each, by which callers are evaluated."""

    known: dict[object, Way] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    seed: int = 7

    def __post_init__(self) -> None:
        self.evaluator = Evaluator(self.entries)
        self._numbers: dict[str, int] = {}
        self._alike: dict[tuple[str, str], Way] = {}
        self._of_class: dict[str, list[Way]] = {}
        self._failures: Counter[str] = Counter()

    def lookup(self, boundary: Boundary, read: Read, agrees: Agrees | None = None) -> Callee | None:
        """The way that a boundary is, and its names in the caller's; None where it has no formulas.

        One that `agrees` costs what the call did in its caller's run: at the sizes of that, as Python counts
        with numbers there. Another layer, or a choice that changes no cost at other sizes either, is no way
        of its own. A size that is 1 here may be another size of a way that is known.
        """
        names, sizes = names_of(boundary, read)
        place = key_of(boundary, sizes)
        if place not in self.known:
            kind = full_name(boundary.kind)
            same = self._of_class.setdefault(kind, [])
            if agrees is not None and same:
                both = (names, names_of(boundary, read, ones=True)[0])
                callees = (callee_of(one, each) for one in reversed(same[-CANDIDATES:]) for each in both)
                if (found := next((c for c in callees if c and agrees(c, EVERYWHERE)), None)) is not None:
                    return found
            self.known[place] = self._new(kind, boundary, read)
            same.append(self.known[place])
        callee = callee_of(self.known[place], names)
        return callee if callee is not None and (agrees is None or agrees(callee, HERE)) else None

    def _new(self, kind: str, boundary: Boundary, read: Read) -> Way:
        """A way that is derived, or that has no formulas."""
        number = self._numbers[kind] = self._numbers.get(kind, -1) + 1
        key = f"{kind}~{number}"
        if self._failures[kind] >= FAILURES:
            return Way(key, reason=f"{FAILURES} other ways to call it have no formulas")
        try:
            way = self._derived(key, boundary, read)
        except Exception as error:  # noqa: BLE001 - analysed code may raise anything
            way = Way(key, reason=f"running it alone raised {first_line_kept(error)}")
        self._failures[kind] += bool(way.reason)
        return way

    def _derived(self, key: str, boundary: Boundary, read: Read) -> Way:
        way = self._tried(key, boundary, read, 0)
        equal = names_of(boundary, read)[0].equal
        for turn in range(1, max(equal.values(), default=0) + 1):
            if way.refused:
                way = self._tried(key, boundary, read, turn)
        return way

    def _tried(self, key: str, boundary: Boundary, read: Read, turn: int) -> Way:
        settled = settle(boundary, read, LOW, turn)
        trial = self._trial(key, boundary, settled)
        draft = trial.begin()
        if pairs := _nicer(settled.local, symbols_of(draft)):
            for one, other in pairs:
                settled.local.swap(one, other)
            settled = at_hints(settled.local, LOW)
            trial = self._trial(key, boundary, settled)
            draft = trial.begin()
        entry = trial.entry
        first = record(settled.local, draft)
        alike = entry.full_class_name, first.model_dump_json()
        if alike in self._alike:  # another layer of the same, or a choice that changes no cost
            known = self._alike[alike]
            return replace(known, local=settled.local)
        reason, refused = "", False
        try:
            trial.run()
            if settled.run.trace.unruled:
                hole = settled.run.trace.unruled[0]
                raise Unproved(f"line {hole.line}: no rule states what {hole.name} costs")
        except Unproved as error:
            reason, refused = str(error), isinstance(error, Refused)
        regimes = tuple(_regimes(trial, reason))
        names = frozenset[str]().union(*(all_symbols_of(one) for one in trial.drafts))
        least = {one.name: one.least for one in trial.entry.names}
        told = tuple(
            one.model_copy(update={"least": least.get(one.name)})
            for one in names_of_record(settled.local, names, trial.counts)
        )
        done = entry.model_copy(
            update={
                "regimes": regimes,
                "names": told,
                "verdict": max((one.proof.verdict for one in regimes), key=WORSE.index),
                "reason": reason,
            }
        )
        self.entries[key] = done
        way = self._alike[alike] = Way(
            key, settled.local, names, reason, _untold(settled), refused, facts_of(boundary)
        )
        return way

    def _trial(self, key: str, boundary: Boundary, settled: Settled) -> Trial:
        rng = random.Random(self.seed)
        return Trial(key, _stub(boundary, settled), settled, self.evaluator, self._take_apart, rng)

    def _take_apart(self, settled: Settled) -> Breakdown:
        read = settled.run.expressions.of
        source, points = _points(settled), list[dict[str, int]]()

        def found(boundary: Boundary, amounts: Mapping[str, Expr]) -> Callee | None:
            real: list[dict[str, int]] = []

            def agrees(callee: Callee, count: int) -> bool:
                points.extend(itertools.islice(source, max(count - len(points), 0)))
                try:
                    for sizes in points[len(real) : count]:
                        real.append({name: value.evaluate(sizes) for name, value in amounts.items()})
                    costs = zip(points, real[:count], strict=False)
                    return all(self._costs_so_much(callee, *each) for each in costs)
                except (EntryError, FormulaError):
                    return False

            return self.lookup(boundary, read, agrees)

        return breakdown(settled.run, settled.watch, found)

    def _costs_so_much(self, callee: Callee, sizes: Mapping[str, int], real: Mapping[str, int]) -> bool:
        """Whether a callee costs what a call did, at sizes of its caller: it may have been changed since."""
        bound = {name: value.evaluate(sizes) for name, value in callee.bindings.items()}
        one = self.evaluator.at(self.evaluator.regimes.signature(callee.key, SIGNATURE), bound)
        return one is not None and all(getattr(one.costs, name) == value for name, value in real.items())


def _points(settled: Settled) -> Iterator[dict[str, int]]:
    """The sizes of a run and others that meet its conditions, with widths that differ."""
    hints, widths = settled.run.ledger.hints, dict(UNEQUAL)
    if settled.dtype == WIDE:
        widths["a_dtype_bytes"] = WIDE.itemsize
    rng = random.Random(len(hints))
    yield {**hints, **widths}
    while True:
        other = draw(hints, settled.conditions, rng)
        yield (other or {n: size + rng.randint(1, 2 * size + 9) for n, size in hints.items()}) | widths


def _nicer(local: Local, used: Collection[str]) -> list[tuple[str, str]]:
    """Names with a number that can be without: what has the bare name costs nothing."""
    wanted = {*used, *local.definitions}.union(*(one.symbols() for one in local.definitions.values()))
    pairs = []
    for name in sorted(wanted):
        base, _, number = name.rpartition("_")
        if number.isdigit() and base in local.names.hints and base not in wanted:
            pairs.append((name, base))
            wanted |= {base}
    return pairs


def _untold(settled: Settled) -> frozenset[str]:
    return frozenset(settled.hints.keys() - settled.local.free.keys()).union(SYMBOLIC_WIDTHS)


def _regimes(trial: Trial, reason: str) -> list[Regime]:
    found = []
    for number, draft in enumerate(trial.drafts):
        names = {*symbols_of(draft), *SYMBOLIC_WIDTHS}
        points = tuple(
            _without_others(point, names)
            for one, point in trial.points
            if (one.region, one.mark) == (draft.region, draft.mark)
        )
        proof = Proof(verdict=_verdict(trial, draft, reason), reason=reason, points=points[:POINTS])
        here = [_said(name) for name in sorted(draft.region)]
        others = [one for one in trial.drafts[number + 1 :] if one.region == draft.region]
        if others and draft.conditions:  # the sides of a condition
            last = printed_condition(draft.conditions[-1], trial.settled.local)
            here += [f"{plain(last.left)} {last.op} {plain(last.right)}"]
        found.append(record(trial.settled.local, draft, ", ".join(here) or "default", proof))
    return found


def _without_others(point: Point, names: Collection[str]) -> Point:
    """A point with the sizes that matter."""
    return point.model_copy(update={"sizes": {n: size for n, size in point.sizes.items() if n in names}})


def _verdict(trial: Trial, draft: Draft, reason: str) -> Verdict:
    """What the numbers of a draft rest on: one size alone, a branch that was decided, what data decides."""
    if reason:
        return "unproved"
    if any(pins(one) and one not in trial.demanded for one in draft.conditions):
        return "pinned"
    if draft.assumptions:
        return "assumed"
    data = trial.hints.keys() - trial.settled.local.free.keys()
    return "exact" if data.isdisjoint(symbols_of(draft)) else "bounded"


def _said(name: str) -> str:
    return name if name == FULL else f"{name} = 1"


def _stub(boundary: Boundary, settled: Settled) -> Entry:
    kind = boundary.kind
    try:
        lines, first = inspect.getsourcelines(kind)
    except (OSError, TypeError):
        lines, first = [""], 1
    module = kind.__module__
    library = module.partition(".")[0]
    names = names_of_record(settled.local, settled.hints, ())
    return Entry(
        full_class_name=full_name(kind),
        library=library,
        file=module.replace(".", "/") + ".py",
        line_start=first,
        line_end=first + len(lines) - 1,
        source_hash=source_hash(kind),
        engine=engine_digest(),
        versions=versions_of(library),
        names=names,
    )
