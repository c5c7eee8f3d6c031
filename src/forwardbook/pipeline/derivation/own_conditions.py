"""Patterns proved where the conditions of all of them hold; out what each needs of the others' to hold alone.

A proof draws sizes that fit every pattern of a run at once. A regime is given for whatever fits its own
conditions: there the others' may be broken, and what they compared may decide with what shapes it is called.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from forwardbook.analyzers.symbolic.patterns import find_call
from forwardbook.analyzers.symbolic.summary import summarise
from forwardbook.analyzers.symbolic.trace import Trace
from forwardbook.formula import Condition
from forwardbook.pipeline.derivation.derived import Derived
from forwardbook.pipeline.derivation.free_sizes import FreeSizes
from forwardbook.pipeline.derivation.regimes import negated
from forwardbook.profiling.proof import compare, measure, widths_of

FREE: Final = 4  # draws that fit a pattern's own conditions, and points where others' did not hold
FEW: Final = 3  # conditions by which a pattern may have more than the fewest, to be chosen for an aim
NEEDS: Final = 2  # conditions of others that are added one by one; then all that were broken
DRAWS: Final = 48  # for all patterns of a run
REFUSED: Final = 24  # runs that the module may refuse: some for each thing that it asks of its sizes


@dataclass
class _Alone:
    """One pattern: its conditions, what others say, and what of this it was seen not to need."""

    own: list[Condition]
    others: list[Condition]
    free: int = FREE
    """Points that may still be drawn without breaking anything on purpose."""
    more: list[Condition] = field(default_factory=list)
    """What it needs of the others'."""
    innocent: set[str] = field(default_factory=set)
    """What was broken where it held."""
    kept: list[Condition] = field(default_factory=list)
    """What of the others' its next sizes are to keep: the module refused sizes that broke these."""

    def broken(self, sizes: Mapping[str, int]) -> list[Condition]:
        """Which of the others' do not hold, while all of its own do."""
        if not all(c.is_met(sizes) for c in (*self.own, *self.more)):
            return []
        return [c for c in self.others if not c.is_met(sizes)]

    def untried(self) -> list[Condition]:
        """What of the others' was never broken where it held."""
        known = self.innocent.union(c.text() for c in self.more)
        return [c for c in self.others if c.text() not in known]

    def need(self, broken: Sequence[Condition]) -> None:
        """One of the broken ones is needed, the plainest; all, where one was not enough."""
        suspects = [c for c in broken if c.text() not in self.innocent] or list(broken)
        first = min(suspects, key=lambda c: (len(c.symbols()), c.op != "==", len(c.text()), c.text()))
        self.more += [first] if len(self.more) < NEEDS else broken

    def has_held(self, broken: Sequence[Condition]) -> None:
        """It hangs on none of these."""
        self.free -= self.free > 0
        self.innocent.update(c.text() for c in broken)


def of_others(
    derived: Sequence[Derived],
    conditions: Sequence[Sequence[Condition]],
    held: Sequence[Condition],
    rng: random.Random,
) -> list[list[Condition]]:
    """For each pattern of one run the conditions of others without which its formula was seen to fail.

    Patterns that are not exact are left alone. Sizes are drawn for one pattern after another that fit its
    own conditions and nothing else, then such that break what was never broken where a pattern held.
    """
    first = derived[0]
    numbers = {name: note.hint for name, note in first.notes.items()}
    stated = [*(Condition.parse(c) for c in first.recipe.conditions), *held]
    said = {c.text(): c for one in derived for c in (*one.pattern.conditions, *one.pattern.steady)}
    universe = [c for c in said.values() if c.symbols() <= numbers.keys()]
    alone = [_of(one, own, universe) for one, own in zip(derived, conditions, strict=True)]
    search = _Search([one for one in alone if one.others], FreeSizes(numbers, stated, rng))
    widths = widths_of(first.dtype)
    while (sizes := search.sizes()) is not None:
        try:
            trace = measure(first.recipe, sizes, first.dtype, widths)
        except Exception:  # noqa: BLE001 - the module refuses these sizes
            search.refused(sizes)
            continue
        search.taken(sizes)
        _judge(derived, alone, trace, {**sizes, **widths})
    return [one.more for one in alone]


class _Search:
    """Sizes after sizes at which patterns are to hold: free ones for all in turn, then aimed ones."""

    def __init__(self, alone: Sequence[_Alone], free: FreeSizes) -> None:
        self.alone, self.free = alone, free
        self.waiting = deque(alone)
        self.aimed: set[str] = set()
        self.drawn = self.refusals = 0
        self.freely: _Alone | None = None
        """For which pattern the last sizes were drawn, if they were not aimed."""

    def sizes(self) -> dict[str, int] | None:
        """The next, or None where nothing is left to try."""
        while self.drawn < DRAWS and self.refusals < REFUSED:
            self.drawn += 1
            wanted, by_quotients = self._freely() or self._aimed() or ((), False)
            if not wanted and self.freely is None:
                return None
            found = self.free.draw(wanted, by_quotients)
            if found is not None:
                return found
            if self.freely is not None:
                self.freely.kept = []
        return None

    def _freely(self) -> tuple[list[Condition], bool] | None:
        """The conditions of the next pattern in turn: one run judges every pattern that it fits."""
        while self.waiting:
            one = self.waiting.popleft()
            if one.free:
                self.waiting.append(one)
                self.freely = one
                one.free -= 1
                return [*one.own, *one.more, *one.kept], one.free % 2 == 0
        self.freely = None
        return None

    def _aimed(self) -> tuple[list[Condition], bool] | None:
        """The conditions of a pattern with one broken that the most patterns have never seen broken."""
        left: dict[str, list[_Alone]] = {}
        known: dict[str, Condition] = {}
        for one in self.alone:
            for condition in one.untried():
                text = condition.text()
                if text not in self.aimed:
                    left.setdefault(text, []).append(one)
                    known[text] = condition
        if not left:
            return None
        text = min(left, key=lambda text: (-len(left[text]), text))
        self.aimed.add(text)
        fewest = min(len(one.own) for one in left[text])
        one = self.free.rng.choice([one for one in left[text] if len(one.own) <= fewest + FEW])
        return [negated(known[text]), *one.own, *one.more], False

    def refused(self, sizes: Mapping[str, int]) -> None:
        """The module refused the last sizes; were these free, others are drawn at once that keep more."""
        self.refusals += 1
        if (one := self.freely) is not None:
            one.kept += self.free.refused(sizes, one.others)
            one.free += 1
            self.waiting.rotate(1)
            self.drawn -= 1

    def taken(self, sizes: Mapping[str, int]) -> None:
        """The module took the last sizes."""
        broken = [c for one in self.alone for c in one.others if not c.is_met(sizes)]
        self.free.taken(broken)
        if self.freely is not None:
            self.freely.kept = []


def _of(one: Derived, conditions: Sequence[Condition], universe: Sequence[Condition]) -> _Alone:
    mine = {c.text() for c in conditions}
    return _Alone(list(conditions), [c for c in universe if c.text() not in mine] if one.exact else [])


def _judge(
    derived: Sequence[Derived], alone: Sequence[_Alone], trace: Trace, sizes: Mapping[str, int]
) -> None:
    """Every pattern that is seen for the first time without a condition of others, held against the run."""
    for one, mine in zip(derived, alone, strict=True):
        if not one.exact or not (broken := mine.broken(sizes)):
            continue
        if not mine.free and mine.innocent.issuperset(c.text() for c in broken):
            continue
        call = find_call(trace, one.pattern.path, one.pattern.occurrence)
        if call is None:
            continue
        if compare(one.pattern.summary, summarise(trace, call, {}), sizes).differences:
            mine.need(broken)
        else:
            mine.has_held(broken)
