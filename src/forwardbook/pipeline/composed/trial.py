"""Holds the drafts of a class against runs, and derives a further one wherever a run says otherwise."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import torch

from forwardbook.analyzers.derive.breakdown import Breakdown, CallGroup
from forwardbook.analyzers.derive.counts import NotLinear, over_counts
from forwardbook.analyzers.derive.derivation import Settled, at_hints
from forwardbook.analyzers.symbolic.run import SYMBOLIC_WIDTHS
from forwardbook.entries.evaluate import Evaluator
from forwardbook.entries.expressions import RegimeExpressions
from forwardbook.entries.record import Entry, Point
from forwardbook.entries.regimes import EntryError, Signature
from forwardbook.formula import Condition
from forwardbook.pipeline.composed.measured import LOW, WIDE, Measurement, difference, measured
from forwardbook.pipeline.composed.nearby import breaking
from forwardbook.pipeline.composed.records import FULL, SIGNATURE, Draft, record, symbols_of
from forwardbook.profiling.sizes import draw

WIDTHS: Final = tuple(
    dict(zip(SYMBOLIC_WIDTHS, each, strict=True)) for each in ((2, 2, 2), (3, 2, 1), (2, 2, 2), (1, 3, 2))
)
"""Of runs below float32; unequal ones, so that none stands in for another."""
OF_FULL: Final = dict.fromkeys(SYMBOLIC_WIDTHS, 4)
POINTS: Final = 3
REDRAWS: Final = 6
REGIMES: Final = 12
"""Drafts of one way of calling a class; with more it is no formula for a person."""
FEW: Final = 16
"""Widths are usually larger, heads, groups, kernels and strides are not."""
DIVIDED: Final = 8
"""Drafts beyond which no further one is derived for what breaks a condition; the condition stays."""
FARTHER: Final = 8
"""How many times larger than usual sizes are at one of the points."""
BREAKS: Final = 2
"""Runs that break a condition: where these cost what is expected it changes nothing."""
LAST: Final = 4
"""Points at the end that may be anywhere."""
VAST: Final = 1 << 20
"""A condition with such a number is not broken by trying."""

TakeApart = Callable[[Settled], Breakdown]


class Unproved(Exception):
    """Formulas and runs differ, and no further draft mends it."""


class Refused(Unproved):
    """The class refuses sizes that no condition forbids: two of its names may be one."""


@dataclass
class Trial:
    """The drafts of one way to call a class, from the first run to the last point."""

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
    _version: int = 0
    _known: dict[int, tuple[Draft, Entry, RegimeExpressions]] = field(default_factory=dict)
    _signature: Signature | None = None

    def begin(self) -> Draft:
        """The first draft: of the sizes that its run had.

        Raises:
            Exception: whatever the class raises at its own sizes.
        """
        self._put([self._general()])
        return self.drafts[0]

    def run(self) -> None:
        """Proves the first draft, derives and proves all others.

        Raises:
            Unproved: where that fails.
            Exception: whatever the class raises at its own sizes.
        """
        self._hold_general()
        self._weigh(self.drafts[0], divide=False)
        self._look_at_ones()
        for draft in list(self.drafts):
            self._weigh(draft, divide=True)
        self._look_anywhere()

    @property
    def hints(self) -> dict[str, int]:
        """The names to draw, with their usual numbers."""
        return self.settled.hints

    # Drafts.

    def _general(self) -> Draft:
        first = self.settled
        pinned = [one for one in first.conditions if _pins(one, self.hints)]
        found, counts = self.take_apart(first), []
        further: dict[str, Sequence[Breakdown]] = {}
        for name in dict.fromkeys(name for one in pinned for name in one.symbols()):
            try:
                grown = self._grown(name, LOW, {}, {})
                over_counts(found, {name: grown}, self.hints)
            except NotLinear:
                continue
            except Exception:  # noqa: BLE001, S112 - analysed code may raise anything at other counts
                continue
            further[name] = grown
            counts.append(name)
        self.counts = tuple(counts)
        if further:
            found = over_counts(found, further, self.hints)
        return Draft(found, conditions=tuple(self._asked(first)), assumptions=first.assumptions)

    def _asked(self, settled: Settled) -> Iterator[Condition]:
        """What a run asked of its sizes; how often something is repeated is free."""
        known, counts = self.hints.keys(), set(self.counts)
        for one in settled.conditions:
            if one.symbols() <= known and not (one.symbols() <= counts and _pins(one, self.hints)):
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

    def _at(
        self, region: frozenset[str], hints: Mapping[str, int] | None = None
    ) -> tuple[Breakdown, Settled]:
        """What a run in a region shows, over all counts."""
        dtype = WIDE if FULL in region else LOW
        pins = _fixed(region)
        at = hints or {}
        settled = at_hints(self.settled.local, dtype, at, pins)
        found = self.take_apart(settled)
        counts = [name for name in self.counts if name not in pins and name not in at]
        further = {name: self._grown(name, dtype, pins, at) for name in counts}
        return (over_counts(found, further, self.hints) if further else found), settled

    def _put(self, drafts: Sequence[Draft]) -> None:
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
            found = RegimeExpressions.of(self.key, self.entry, record(self.settled.local, draft))
            known = self._known[id(draft)] = (draft, self.entry, found)
        return known[2]

    # Points.

    def _draw(
        self, conditions: Iterable[Condition], fixed: Mapping[str, int], least: int, farther: bool = False
    ) -> dict[str, int] | None:
        names = self.hints
        held = [Condition.at_least(name, least) for name in names if name not in fixed]
        scale = dict.fromkeys(names.keys() - fixed.keys() - set(self.counts), FARTHER) if farther else None
        return draw(names, [*conditions, *held], self.rng, fixed, scale=scale)

    def _measured(self, sizes: Mapping[str, int], full: bool) -> Measurement | None:
        """One run; None where the class refuses."""
        self.runs += 1
        widths = OF_FULL if full else WIDTHS[self.runs % len(WIDTHS)]
        try:
            return measured(self.settled.local, sizes, widths, full)
        except Exception:  # noqa: BLE001 - analysed code may raise anything at sizes of our own choice
            return None

    def _differs(self, real: Measurement) -> str:
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

    # Steps.

    def _hold_general(self) -> None:
        """The first draft at some points where it must hold, below float32 and in it."""
        [draft] = self.drafts
        met, problem = 0, "no sizes were found that satisfy its conditions"
        for attempt in range(POINTS + REDRAWS):
            full = met == POINTS
            sizes = self._draw(draft.conditions, {}, 2, farther=attempt % 2 == 1)
            real = self._measured(sizes, full) if sizes is not None else None
            if real is None:
                problem = problem if sizes is None else "the class refuses sizes that satisfy its conditions"
                continue
            said = self._differs(real)
            if said and full:
                self._branch(frozenset({FULL}), real)
            elif said:
                raise Unproved(said)
            met += 1
            if full:
                return
        if met < POINTS:
            raise Refused(problem)

    def _branch(self, region: frozenset[str], real: Measurement) -> None:
        """A draft for a region where a run says otherwise."""
        if len(self.drafts) >= REGIMES:
            self._put([_beside(one, region) for one in self.drafts])
            return
        found, settled = self._at(region)
        conditions = tuple(one for one in self._asked(settled) if one not in self._dropped(region))
        if len(_met(conditions, real)) < len(conditions):
            other = self._draw(conditions, _fixed(region), 2)
            again = self._measured(other, FULL in region) if other is not None else None
            if again is None or not self._differs(again):
                return
            real = again
        below = [one for one in self.drafts if one.region <= region]
        base = next(
            (one for one in below if len(_met(one.conditions, real)) == len(one.conditions)), below[-1]
        )
        kept, said = list(self.drafts), ""
        for one in (_with_calls_of(base.breakdown, found), found):
            if one is None:
                continue
            new = Draft(one, region, conditions, settled.assumptions, mark=self._version)
            self._put([_beside(old, region) for old in kept] + [new])
            said = self._differs(real)
            if not said:
                self._weigh(new, divide=False)
                return
        self._put(kept)
        raise Unproved(f"in the region {', '.join(sorted(region))}: {said}")

    def _dropped(self, region: frozenset[str]) -> set[Condition]:
        """Conditions that change nothing, as they are asked in a region."""
        return self.idle | {one.subs(_fixed(region)) for one in self.idle}

    def _weigh(self, draft: Draft, *, divide: bool) -> None:
        """Drops conditions that change nothing: a run that breaks one costs what the draft says.

        Where one changes something there is a draft for the other side as well, if they shall `divide`.
        """
        for condition in sorted(draft.conditions, key=lambda one: -len(one.text())):
            now = next(one for one in self.drafts if one.mark == draft.mark)
            rest = [one for one in now.conditions if one != condition]
            met = _is_vast(condition) or self._broken(condition, rest, now)
            if not met:
                self.idle.add(condition)
                self._put([one if one is not now else one.without(condition) for one in self.drafts])
            elif divide and isinstance(met, Measurement) and not _pins(condition, self.hints):
                self._divide(now, condition, met)

    def _broken(self, condition: Condition, rest: Sequence[Condition], draft: Draft) -> Measurement | bool:
        """A run that breaks a condition and costs something else; False: none does, True: none is allowed."""
        kept = list(self.drafts)
        near = breaking(condition, rest, {**self.hints, **draft.at}, _fixed(draft.region), self.rng)
        for sizes in itertools.islice(near, BREAKS):
            real = self._measured(sizes, FULL in draft.region)
            if real is None:
                return True
            self._put([one if one is not draft else one.without(condition) for one in kept])
            points = len(self.points)
            said = self._differs(real)
            del self.points[points:]
            self._put(kept)
            if said:
                return real
        return False

    def _divide(self, draft: Draft, condition: Condition, real: Measurement) -> None:
        """A further draft where a condition is broken, if what breaks it costs something else."""
        if not self._differs(real) or len(self.drafts) >= DIVIDED:
            return
        names = self.hints
        at = {name: real.sizes[name] for name in names if name not in draft.region}
        at = {name: size for name, size in at.items() if name not in self.counts}
        found, settled = self._at(draft.region, at)
        asked = tuple(one for one in self._asked(settled) if one not in self._dropped(draft.region))
        new = Draft(found, draft.region, asked, settled.assumptions, mark=self._version, at=at)
        kept, place = list(self.drafts), self.drafts.index(draft)
        self._put([*kept[:place], new, *kept[place:]])
        if self._differs(real):  # what breaks it takes more than one way: it stays a condition
            self._put(kept)
            return
        self._weigh(new, divide=True)

    def _look_at_ones(self) -> None:
        """Where a name, or several, are 1. Widths are 1 for nobody: where that matters they are left out."""
        known = symbols_of(self.drafts[-1])
        held = {n for c in self.drafts[-1].conditions if _pins(c, self.hints) for n in c.symbols()}
        used = [n for n, hint in self.hints.items() if n in known - held and hint > 1]
        sources, few = self.settled.local.names.sources, set(self._few())
        matter = {name for name in used if sources.get(name) == "forward"}
        for name in used:
            if name not in few:
                self._leave_out(name)
            elif self._look_at(frozenset({name})):
                matter.add(name)
        several = sorted(matter)
        for pair in itertools.combinations(several, 2):
            self._look_at(frozenset(pair))
        if len(several) > 2:
            self._look_at(frozenset(several))

    def _leave_out(self, name: str) -> None:
        """Says that a name is 2 at least, if the class costs something else where it is 1."""
        sizes = self._draw((), {name: 1}, 2)
        real = self._measured(sizes, full=False) if sizes is not None else None
        if real is not None and self._differs(real):
            names = [
                one.model_copy(update={"least": 2}) if one.name == name else one for one in self.entry.names
            ]
            self.entry = self.entry.model_copy(update={"names": tuple(names)})
            self._put(self.drafts)

    def _look_at(self, region: frozenset[str]) -> bool:
        """Whether a region has a draft of its own now; one is derived where a run says so."""
        fixed = _fixed(region)
        found = False
        for full in (False, True):
            conditions = self.drafts[-1].conditions
            sizes = self._draw(conditions, fixed, 2) or self._draw((), fixed, 2)
            real = self._measured(sizes, full) if sizes is not None else None
            if real is None or not self._differs(real):
                continue
            wide = any(FULL in one.region for one in self.drafts)
            self._branch(region | ({FULL} if full and wide else frozenset()), real)
            found = True
        return found

    def _few(self) -> list[str]:
        """The names that somebody sets to 1, of those that are larger here."""
        sources = self.settled.local.names.sources
        larger = [(name, hint) for name, hint in self.hints.items() if hint > 1]
        return [name for name, hint in larger if hint <= FEW or sources.get(name) == "forward"]

    def _look_anywhere(self) -> None:
        """Points of which nothing is asked: some sizes are 1, conditions may be broken."""
        for number in range(LAST):
            fixed = {name: 1 for name in self._few() if self.rng.random() < 0.2}
            sizes = self._draw((), fixed, 2)
            real = self._measured(sizes, number % 2 == 1) if sizes is not None else None
            if real is not None and (said := self._differs(real)) and said != "no regime holds":
                raise Unproved(f"at {dict(sorted(real.sizes.items()))}: {said}")


def _fixed(region: frozenset[str]) -> dict[str, int]:
    """The sizes that are told by a region."""
    return dict.fromkeys(sorted(region - {FULL}), 1)


def _pins(condition: Condition, hints: Mapping[str, int]) -> bool:
    """Whether a condition says that one name is a number."""
    return condition.op == "==" and len(condition.symbols()) == 1


def _met(conditions: Sequence[Condition], real: Measurement) -> list[Condition]:
    """Those conditions that the sizes of a run meet."""
    return [one for one in conditions if one.is_met(real.sizes)]


def _is_vast(condition: Condition) -> bool:
    numbers = [abs(int(c)) for side in (condition.left, condition.right) for c in side.terms.values()]
    return max(numbers, default=0) >= VAST


def _beside(draft: Draft, region: frozenset[str]) -> Draft:
    """A draft that knows of another with one name more at 1."""
    more = region - draft.region
    if draft.region <= region and len(more) == 1:
        return replace(draft, beside=draft.beside | more)
    return draft


def _with_calls_of(base: Breakdown, found: Breakdown) -> Breakdown | None:
    """What was found in a region with the callees of another; None where other calls are made."""

    def told(one: CallGroup) -> object:
        return one.line, one.attribute, one.callee.key.partition("~")[0]

    if [told(one) for one in base.calls] != [told(one) for one in found.calls]:
        return None
    pairs = zip(base.calls, found.calls, strict=True)
    return Breakdown(found.own, tuple(replace(old, live=new.live) for old, new in pairs))
