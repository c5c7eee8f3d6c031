"""Formulas with conditions of their own, and what others of the same model say; out what each needs of it.

Sizes are drawn for one after another that fit its own conditions and nothing else, then such that break what
was never broken where it held. Whoever runs the model at these says which formulas held.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from forwardbook.analyzers.symbolic.trace import Trace
from forwardbook.formula import Condition
from forwardbook.formula.expr import Known
from forwardbook.pipeline.derivation.free_sizes import FreeSizes
from forwardbook.pipeline.derivation.regimes import beyond, is_order
from forwardbook.profiling.sizes import LARGEST

FREE: Final = 4  # draws that fit a formula's own conditions, and points where others' did not hold
AIMS: Final = 3  # draws that break one condition on purpose, each for another formula that may need it
ORDER_AIMS: Final = 8  # such draws for what asks which is larger: few formulas hold on its other side
ORDER_ROUND: Final = 2  # of these before anything else is aimed at once more
FEW: Final = 3  # conditions by which a formula may have more than the fewest, to be chosen for an aim
TRIALS: Final = 6  # suspects that are broken one by one, the plainest first
NEEDS: Final = 2  # conditions of others that are added one by one; then all that were broken
DRAWS: Final = 48  # for all formulas of a run, if nothing else is said
VAIN: Final = 3  # draws in a row that may find no sizes for an aim: of 426 more one found some
MISSES: Final = 4  # times as often there may be no sizes to draw: that costs no run
REFUSED: Final = 24  # runs that the module may refuse: some for each thing that it asks of its sizes


@dataclass
class Alone:
    """One formula: its conditions, what others say, and what of this it was seen not to need."""

    own: list[Condition]
    others: list[Condition]
    free: int = FREE
    """Points that may still be drawn without breaking anything on purpose."""
    more: list[Condition] = field(default_factory=list)
    """What was added to its own of the others' because it failed without."""
    failures: list[Mapping[str, int]] = field(default_factory=list)
    """The sizes at which it failed."""
    innocent: set[str] = field(default_factory=set)
    """What was broken where it held."""
    kept: list[Condition] = field(default_factory=list)
    """What of the others' its next sizes are to keep: the module refused sizes that broke these."""
    suspects: list[Condition] = field(default_factory=list)
    """What was broken where it failed, any of which may be needed; each is to be broken by itself."""
    tried: set[str] = field(default_factory=set)
    """Of these the ones for which sizes were drawn that break them alone."""
    _untried: tuple[tuple[int, int], list[Condition]] | None = None

    def broken(self, sizes: Mapping[str, int], known: Known | None = None) -> list[Condition]:
        """Which of the others' do not hold, while all of its own do; `known` is of these sizes."""
        known = {} if known is None else known
        if not all(c.is_met(sizes, known) for c in (*self.own, *self.more)):
            return []
        return [c for c in self.others if not c.is_met(sizes, known)]

    def untried(self) -> list[Condition]:
        """What of the others' was never broken where it held."""
        state = len(self.innocent), len(self.more)
        if self._untried is None or self._untried[0] != state:  # both only grow
            tried = self.innocent.union(c.text() for c in self.more)
            self._untried = state, [c for c in self.others if c.text() not in tried]
        return self._untried[1]

    def fails(self, sizes: Mapping[str, int], broken: Sequence[Condition]) -> None:
        """One of the broken ones is needed: a single one is added, of several each is to be tried."""
        self.failures.append(sizes)
        suspects = [c for c in broken if c.text() not in self.innocent] or list(broken)
        if len(suspects) > 1:
            self.suspects, self.tried = suspects, set()
        else:
            self.more += suspects
            self.suspects = []

    def trial(self) -> list[Condition] | None:
        """Its conditions with one suspect broken and the others kept; None where none is left to try.

        Where no trial told which it is, the plainest is added; all suspects, where that was not enough.
        """
        open_ = [c for c in self.suspects if c.text() not in self.innocent]
        for one in sorted(open_, key=plainness):
            if len(open_) > 1 and one.text() not in self.tried and len(self.tried) < TRIALS:
                self.tried.add(one.text())
                return [beyond(one), *self.own, *self.more, *(c for c in open_ if c is not one)]
        if self.suspects:
            first = min(open_ or self.suspects, key=plainness)
            self.more += [first] if len(self.more) < NEEDS else self.suspects
            self.suspects = []
        return None

    def needed(self) -> list[Condition]:
        """What it needs of the others': what was added, but for what keeps it from no failure by itself."""
        self.tried.update(c.text() for c in self.suspects)
        self.trial()
        found = list({c.text(): c for c in self.more}.values())
        for one in list(found):
            rest = [c for c in found if c is not one]
            if all(any(not c.is_met(sizes) for c in rest) for sizes in self.failures):
                found = rest
        return found

    def knows(self, broken: Sequence[Condition]) -> bool:
        """Whether a run that breaks these has nothing to tell: it held where each of them was broken."""
        return not self.free and self.innocent.issuperset(c.text() for c in broken)

    def has_held(
        self, broken: Sequence[Condition], sizes: Mapping[str, int], known: Known | None = None
    ) -> None:
        """It hangs on none of these, but for such as sizes are at the border of."""
        self.free -= self.free > 0
        self.is_known(broken, sizes, known)

    def is_known(
        self, broken: Sequence[Condition], sizes: Mapping[str, int], known: Known | None = None
    ) -> None:
        """The same, learnt from sizes that were not drawn for this."""
        known = {} if known is None else known
        open_ = (c for c in broken if c.text() not in self.innocent)
        self.innocent.update([c.text() for c in open_ if beyond(c).is_met(sizes, known)])


def plainness(condition: Condition) -> tuple[int, bool, int, str]:
    """An order in which what says the least of the fewest sizes comes first, equations before the rest."""
    text = condition.text()
    return len(condition.symbols()), condition.op != "==", len(text), text


def is_implied(condition: Condition, others: Sequence[Condition]) -> bool:
    """Whether no size below LARGEST breaks what is said of it alone, while what else is said of it holds."""
    about = [c for c in others if c.symbols() == condition.symbols()]
    if len(condition.symbols()) != 1 or not about:
        return False
    (name,) = condition.symbols()
    wanted = [beyond(condition), *about]
    return not any(all(c.is_met({name: size}) for c in wanted) for size in range(1, LARGEST))


class Search:
    """Sizes after sizes at which formulas are to hold: free ones for all in turn, then aimed ones."""

    def __init__(
        self, alone: Sequence[Alone], free: FreeSizes, draws: int = DRAWS, refusals: int = REFUSED
    ) -> None:
        self.alone, self.free = alone, free
        self.draws, self.most_refusals = draws, refusals
        self.waiting = deque(alone)
        self.orders = {c.text() for one in alone for c in one.others if is_order(c)}
        self.aimed: Counter[str] = Counter()
        self.vain: Counter[str] = Counter()
        """How often in a row no sizes were found that break a condition."""
        self.aim = ""
        """What the last sizes were to break, if they were aimed."""
        self.drawn = self.missed = self.refusals = 0
        self.freely: Alone | None = None
        """For which formula the last sizes were drawn, if they were not aimed."""

    def runs(self, run: Callable[[dict[str, int]], Trace]) -> Iterator[tuple[dict[str, int], Trace]]:
        """The sizes that the module takes, one after another, and its runs there."""
        while (sizes := self.sizes()) is not None:
            try:
                trace = run(sizes)
            except Exception:  # noqa: BLE001 - the module refuses these sizes
                self.refused(sizes)
                continue
            self.taken(sizes)
            yield sizes, trace

    def sizes(self) -> dict[str, int] | None:
        """The next, or None where nothing is left to try."""
        most = MISSES * self.draws
        while self.drawn < self.draws and self.missed < most and self.refusals < self.most_refusals:
            self.aim = ""
            asked = self._trying() or self._freely() or self._aimed()
            if asked is None:
                return None
            found = self.free.draw(*asked)
            if found is not None:
                self.drawn += 1
                self.vain[self.aim] = 0
                return found
            self.missed += 1
            self.vain[self.aim] += 1
            if self.freely is not None:
                self.freely.kept = []
        return None

    def _trying(self) -> tuple[list[Condition], bool] | None:
        """The conditions of a formula that failed with one of its suspects broken."""
        for one in self.alone:
            if one.suspects and (wanted := one.trial()) is not None:
                self.freely = None
                return wanted, False
        return None

    def _freely(self) -> tuple[list[Condition], bool] | None:
        """The conditions of the next formula in turn: one run judges every formula that it fits."""
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
        """The conditions of a formula with one broken that the most have never seen broken."""
        while left := self._open():
            condition, formulas = min(left, key=self._order)
            self.aim = condition.text()
            self.aimed[self.aim] += 1
            fewest = min(len(one.own) for one in formulas)
            few = [one for one in formulas if len(one.own) <= fewest + FEW]
            for one in self.free.rng.sample(few, len(few)):
                if not is_implied(condition, mine := (*one.own, *one.more)):
                    return [beyond(condition), *mine], False
                one.innocent.add(condition.text())
        return None

    def _open(self) -> list[tuple[Condition, list[Alone]]]:
        """What may still be broken on purpose, and the formulas that have never seen it broken."""
        left: dict[str, tuple[Condition, list[Alone]]] = {}
        for one in self.alone:
            for condition in one.untried():
                text = condition.text()
                most = ORDER_AIMS if text in self.orders else AIMS
                if self.aimed[text] < most and self.vain[text] < VAIN:
                    left.setdefault(text, (condition, []))[1].append(one)
        return list(left.values())

    def _order(self, aim: tuple[Condition, list[Alone]]) -> tuple[int, bool, int, str]:
        condition, formulas = aim
        text = condition.text()
        orders = text in self.orders
        return self.aimed[text] // (ORDER_ROUND if orders else 1), not orders, -len(formulas), text

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
        known: Known = {}
        others = {c.text(): c for one in self.alone for c in one.others}
        self.free.taken([c for c in others.values() if not c.is_met(sizes, known)])
        if self.freely is not None:
            self.freely.kept = []
