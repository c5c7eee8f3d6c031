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
from forwardbook.pipeline.derivation.regimes import negated
from forwardbook.profiling.proof import compare, measure, widths_of
from forwardbook.profiling.sizes import draw

ROUNDS: Final = 2  # points at which a pattern is to hold although conditions of others do not
FREE: Final = 6  # draws that fit a pattern's own conditions, and points where others' did not hold
PICKS: Final = 4  # conditions of others that are broken in search of such a point
REPAIRS: Final = 80
ATTEMPTS: Final = 6
DRAWS: Final = 48  # for all patterns of a run
REFUSED: Final = 8  # runs that the module may refuse: one that takes few sizes takes a run's time for each


@dataclass
class _Alone:
    """One pattern: its conditions, what others say, and how often it held while one of these did not."""

    own: list[Condition]
    others: list[Condition]
    free: int = FREE
    """Points that may still be drawn without breaking anything on purpose."""
    held: int = 0
    divided: list[Condition] = field(default_factory=list)
    """What others divide, else they may round up: all of these are broken where none of the points did."""
    picks: list[Condition] = field(default_factory=list)
    """Those that are still to be broken, until it held often enough."""
    more: list[Condition] = field(default_factory=list)
    innocent: set[str] = field(default_factory=set)
    """What was broken where it held."""

    def broken(self, sizes: Mapping[str, int]) -> list[Condition]:
        """Which of the others' do not hold, while all of its own do."""
        if not all(c.is_met(sizes) for c in (*self.own, *self.more)):
            return []
        return [c for c in self.others if not c.is_met(sizes)]

    def wanted(self) -> list[Condition] | None:
        """What the next sizes are to fit: its own conditions, then these with one of the others' broken."""
        if self.free and self.others:
            self.free -= 1
            return [*self.own, *self.more]
        self.divided = [c for c in self.divided if c.text() not in self.innocent]
        if self.divided:
            return [negated(self.divided.pop(0)), *self.own, *self.more]
        if self.picks and self.held < ROUNDS:
            return [negated(self.picks.pop(0)), *self.own, *self.more]
        return None

    def need(self, broken: Sequence[Condition]) -> None:
        """One of the broken ones is needed: an equality if there is one; all, where one was not enough."""
        suspects = [c for c in broken if c.text() not in self.innocent] or list(broken)
        first = next((c for c in suspects if _pins(c)), suspects[0])
        self.more += [first] if len(self.more) < ROUNDS else broken

    def has_held(self, broken: Sequence[Condition]) -> None:
        """It hangs on none of these."""
        if self.free:
            self.free -= 1
        else:
            self.held += 1
        self.innocent.update(c.text() for c in broken)


def of_others(
    derived: Sequence[Derived],
    conditions: Sequence[Sequence[Condition]],
    held: Sequence[Condition],
    rng: random.Random,
) -> list[list[Condition]]:
    """For each pattern of one run the conditions of others without which its formula was seen to fail.

    Patterns that are not exact are left alone.
    """
    first = derived[0]
    numbers = {name: note.hint for name, note in first.notes.items()}
    stated = [*(Condition.parse(c) for c in first.recipe.conditions), *held]
    said = {c.text(): c for one in derived for c in (*one.pattern.conditions, *one.pattern.steady)}
    universe = [c for c in said.values() if c.symbols() <= numbers.keys()]
    alone = [_of(one, own, universe, rng) for one, own in zip(derived, conditions, strict=True)]
    waiting, drawn, refused = deque(alone), 0, 0
    while waiting and drawn < DRAWS and refused < REFUSED:
        one = waiting.popleft()
        if (wanted := one.wanted()) is None:
            continue
        waiting.append(one)  # all in turn: one run judges every pattern that it fits
        drawn += 1
        known = [c for c in (*wanted, *stated) if c.symbols() <= numbers.keys()]
        sizes = draw(numbers, known, rng, attempts=ATTEMPTS, repairs=REPAIRS)
        if sizes is None:
            continue
        try:
            trace = measure(first.recipe, sizes, first.dtype, widths_of(first.dtype))
        except Exception:  # noqa: BLE001 - the module refuses these sizes
            refused += 1
            continue
        _judge(derived, alone, trace, {**sizes, **widths_of(first.dtype)})
    return [one.more for one in alone]


def _of(
    one: Derived, conditions: Sequence[Condition], universe: Sequence[Condition], rng: random.Random
) -> _Alone:
    own = list(conditions)
    mine = {c.text() for c in own}
    names = {n for c in (*own, *one.pattern.conditions) for n in c.symbols()} | one.pattern.before
    names |= one.pattern.summary.symbols()
    others = [c for c in universe if c.text() not in mine] if one.exact else []
    pins = [c for c in others if _pins(c)]  # of any size: a number may stand for it in the formula
    about = [c for c in others if not _pins(c) and c.symbols() & names]
    divided = [c for c in about if c.op == "=="]
    rest = [c for c in about if c.op != "=="]
    picks = [*rng.sample(pins, min(PICKS, len(pins))), *rng.sample(rest, min(PICKS, len(rest)))]
    return _Alone(own, others, divided=rng.sample(divided, min(PICKS, len(divided))), picks=picks)


def _pins(condition: Condition) -> bool:
    return condition.op == "==" and "%" not in condition.text()


def _judge(
    derived: Sequence[Derived], alone: Sequence[_Alone], trace: Trace, sizes: Mapping[str, int]
) -> None:
    """Every pattern of which a condition of others is broken here, held against the run."""
    for one, mine in zip(derived, alone, strict=True):
        if not one.exact or not (broken := mine.broken(sizes)):
            continue
        call = find_call(trace, one.pattern.path, one.pattern.occurrence)
        if call is None:
            continue
        if compare(one.pattern.summary, summarise(trace, call, {}), sizes).differences:
            mine.need(broken)
        else:
            mine.has_held(broken)
