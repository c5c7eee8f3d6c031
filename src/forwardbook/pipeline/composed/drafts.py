"""A run of a class alone in; drafts of its regimes out, and whether they have the numbers of further runs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import torch

from forwardbook.analyzers.derive.breakdown import Breakdown
from forwardbook.analyzers.derive.counts import NotLinear, grown_like, over_counts
from forwardbook.analyzers.derive.derivation import Settled, at_hints
from forwardbook.analyzers.symbolic.run import SYMBOLIC_WIDTHS
from forwardbook.entries.evaluate import Evaluator
from forwardbook.entries.expressions import RegimeExpressions
from forwardbook.entries.record import Entry, Point
from forwardbook.entries.regimes import EntryError, Signature
from forwardbook.formula import Condition, Expr
from forwardbook.pipeline.composed.measured import LOW, WIDE, Measurement, difference, measured
from forwardbook.pipeline.composed.records import FULL, SIGNATURE, Draft, record
from forwardbook.profiling.sizes import draw as draw_sizes
from forwardbook.schema import PER_LINE

WIDTHS: Final = tuple(
    dict(zip(SYMBOLIC_WIDTHS, each, strict=True)) for each in ((2, 2, 2), (3, 2, 1), (2, 2, 2), (1, 3, 2))
)
"""Of runs below float32; unequal ones, so that none stands in for another."""
OF_FULL: Final = dict.fromkeys(SYMBOLIC_WIDTHS, 4)
FARTHER: Final = 8
"""How many times larger than usual sizes are at one of the points."""
FURTHER: Final = (2, 5, 9)
"""How many more at the counts that are tried after the next: layers come in patterns of up to six kinds."""

TakeApart = Callable[[Settled], Breakdown]


@dataclass
class Drafts:
    """The drafts of one way to call a class, and the runs that they are held against."""

    key: str
    entry: Entry
    settled: Settled
    evaluator: Evaluator
    take_apart: TakeApart
    rng: random.Random
    drafts: list[Draft] = field(default_factory=list)
    points: list[tuple[Draft, Point]] = field(default_factory=list)
    counts: tuple[str, ...] = ()
    runs: int = 0
    idle: set[Condition] = field(default_factory=set)
    """Conditions that were broken without any change."""
    demanded: set[Condition] = field(default_factory=set)
    """Those that say what number a size is, where the class refuses all others."""
    _version: int = 0
    _known: dict[int, tuple[Draft, Entry, RegimeExpressions]] = field(default_factory=dict)
    _signature: Signature | None = None
    _growth: tuple[Breakdown, Breakdown] = field(init=False)
    """What the first run showed, and the same over all counts."""
    _texts: dict[Expr, str] = field(default_factory=dict)

    def begin(self) -> Draft:
        """The first draft: of the sizes that its run had.

        Raises:
            Exception: whatever the class raises at its own sizes.
        """
        self.put([self._general()])
        return self.drafts[0]

    @property
    def hints(self) -> dict[str, int]:
        """The names to draw, with their usual numbers."""
        return self.settled.hints

    def _general(self) -> Draft:
        first = self.settled
        pinned = [one for one in first.conditions if pins(one)]
        found, counts = self.take_apart(first), []
        further: dict[str, Sequence[Breakdown]] = {}
        for name in dict.fromkeys(name for one in pinned for name in one.symbols()):
            if name not in self.hints or not self._is_straight(name):
                continue
            try:
                grown = self._grown(name, LOW, {}, {})
                over_counts(found, {name: grown}, self.hints)
            except NotLinear:
                continue
            except Exception:  # noqa: BLE001, S112 - analysed code may raise anything at other counts
                continue
            further[name] = grown
            counts.append(name)
        self.counts, shown = tuple(counts), found
        if further:
            found = over_counts(found, further, self.hints)
        self._growth = shown, found
        return Draft(found, conditions=tuple(self.asked(first)), assumptions=first.assumptions)

    def _is_straight(self, name: str) -> bool:
        """Whether runs at further counts cost so much more each: where not, no formula is looked for."""
        first, second = self._sums(name, 0), self._sums(name, 1)
        if first is None or second is None:
            return False
        steps = [after - before for before, after in zip(first, second, strict=True)]
        return all(
            self._sums(name, more) == [one + more * step for one, step in zip(first, steps, strict=True)]
            for more in FURTHER
        )

    def _sums(self, name: str, more: int) -> list[int] | None:
        """What a run costs with so many more of something; None where the class refuses."""
        sizes = {**self.hints, name: self.hints[name] + more}
        real = self.measure(sizes, full=False, widths=WIDTHS[0])
        return None if real is None else [real.quantities[quantity] for quantity in PER_LINE]

    def asked(self, settled: Settled) -> Iterator[Condition]:
        """What a run asked of its sizes; how often something is repeated is free."""
        known, counts = self.hints.keys(), set(self.counts)
        for one in settled.conditions:
            if one.symbols() <= known and not (one.symbols() <= counts and pins(one)):
                yield one

    def _grown(
        self, name: str, dtype: torch.dtype, pinned: Mapping[str, int], at: Mapping[str, int]
    ) -> tuple[Breakdown, Breakdown]:
        hint = self.hints[name]
        one, two = (
            self.take_apart(at_hints(self.settled.local, dtype, {**at, name: hint + more}, pinned))
            for more in (1, 2)
        )
        return one, two

    def at(self, region: frozenset[str], hints: Mapping[str, int] | None = None) -> Settled:
        """A run in a region, at other sizes than usual if there are `hints`."""
        return at_hints(self.settled.local, _dtype(region), hints or {}, fixed_by(region))

    def candidates(
        self, settled: Settled, base: Draft, region: frozenset[str], hints: Mapping[str, int] | None = None
    ) -> Iterator[Breakdown]:
        """What a run in a region may show at all counts: as another draft grows, or else by further runs.

        Where what these show is no straight line there is no more than the first.
        """
        found, like = self.take_apart(settled), base.breakdown
        ones, at = fixed_by(region), hints or {}
        first, general = self._growth
        counts = [name for name in self.counts if name not in ones and name not in at]
        if (known := grown_like(found, first, general, like, ones)) is not None:
            yield known
        if counts:
            try:
                further = {name: self._grown(name, _dtype(region), ones, at) for name in counts}
                found = over_counts(found, further, self.hints)
            except NotLinear:
                return
            if (known := grown_like(found, first, first, like, ones)) is not None:
                yield known
        yield found

    def put(self, drafts: Sequence[Draft]) -> None:
        """These drafts from now on, the most special ones first."""
        self.drafts = sorted(drafts, key=lambda one: -len(one.region))
        self._version += 1
        name = f"{SIGNATURE} {self._version}"
        each = tuple(map(self._read, self.drafts))
        names = frozenset[str]().union(*(one.names for one in each))
        self._signature = Signature(self.key, name, each, tuple(sorted(names)))

    def _read(self, draft: Draft) -> RegimeExpressions:
        """A draft as it will be read; drafts are put often and change seldom."""
        known = self._known.get(id(draft))
        if known is None or known[1] is not self.entry:
            told = record(self.settled.local, draft, texts=self._texts)
            found = RegimeExpressions.of(self.key, self.entry, told)
            known = self._known[id(draft)] = (draft, self.entry, found)
        return known[2]

    def draw(
        self, conditions: Iterable[Condition], fixed: Mapping[str, int], least: int, farther: bool = False
    ) -> dict[str, int] | None:
        names = self.hints
        held = [Condition.at_least(name, least) for name in names if name not in fixed]
        scale = dict.fromkeys(names.keys() - fixed.keys() - set(self.counts), FARTHER) if farther else None
        return draw_sizes(names, [*conditions, *held], self.rng, fixed, scale=scale)

    def measure(
        self, sizes: Mapping[str, int], full: bool, widths: Mapping[str, int] | None = None
    ) -> Measurement | None:
        """One run, at widths in turn if none are given; None where the class refuses."""
        self.runs += 1
        widths = widths or (OF_FULL if full else WIDTHS[self.runs % len(WIDTHS)])
        try:
            return measured(self.settled.local, sizes, widths, full)
        except Exception:  # noqa: BLE001 - analysed code may raise anything at sizes of our own choice
            return None

    def tried(
        self, conditions: Iterable[Condition], fixed: Mapping[str, int], full: bool
    ) -> Measurement | None:
        """A run at sizes drawn from 2 on; None where there are none, or the class refuses them."""
        sizes = self.draw(conditions, fixed, 2)
        return None if sizes is None else self.measure(sizes, full)

    def instead(self, old: Draft, new: Draft) -> None:
        """One draft for another from now on."""
        self.put([new if one is old else one for one in self.drafts])

    def now(self, draft: Draft) -> Draft:
        """A draft as it is by now."""
        return next(one for one in self.drafts if one.mark == draft.mark)

    def differs(self, real: Measurement) -> str:
        """Where the drafts differ from a run; the point is kept where they do not."""
        assert self._signature is not None
        try:
            one = self.evaluator.at(self._signature, real.sizes)
            said = difference(self.evaluator, one, real)
        except EntryError as error:
            return str(error)
        if not said and one is not None:
            place = self._signature.regimes.index(one.regime)
            self.points.append((self.drafts[place], Point(sizes=real.sizes, measured=real.quantities)))
        return said


def _dtype(region: frozenset[str]) -> torch.dtype:
    return WIDE if FULL in region else LOW


def fixed_by(region: frozenset[str]) -> dict[str, int]:
    """The sizes that are told by a region."""
    return dict.fromkeys(sorted(region - {FULL}), 1)


def pins(condition: Condition) -> bool:
    """Whether a condition says that one name is a number."""
    difference = condition.left - condition.right
    names = [Expr.symbol(name) for name in difference.symbols()]
    return condition.op == "==" and any((difference - n).is_const or (difference + n).is_const for n in names)
