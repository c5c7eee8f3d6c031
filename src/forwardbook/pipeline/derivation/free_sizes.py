"""Sizes for what a pattern asks alone, where a module may ask more: what it refuses is learnt by halving."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final

import numpy as np

from forwardbook.formula import Condition
from forwardbook.formula.condition import COMPARISONS
from forwardbook.formula.vector import Integers, Points, Truths
from forwardbook.pipeline.derivation.fruitless import Fruitless
from forwardbook.profiling.sizes import LARGEST, draw

REPAIRS: Final = 80
ATTEMPTS: Final = 6
LARGER: Final = 0.3  # how often a size is drawn from a range so many times larger than the proof's
TIMES: Final = 2
BASES: Final = 3  # sizes that fit all but an aim, in which those of the aim are changed one by one
IN_VAIN: Final = 2  # searches one by one for the same aim that may find nothing: most aims are impossible
LOOKS: Final = 24  # draws by quotients until all conditions hold
ALL: Final = 0.5  # how often a size is drawn as a multiple of all that divide its hint, not of one


@dataclass
class FreeSizes:
    """Draws of sizes that fit some conditions, and what the module was seen to ask beside these."""

    hints: Mapping[str, int]
    stated: Sequence[Condition]
    rng: random.Random
    asked: list[Condition] = field(default_factory=list)
    """Conditions of patterns without which the module refuses sizes."""
    harmless: set[str] = field(default_factory=set)
    """What was broken by sizes that it took."""
    blamed: set[str] = field(default_factory=set)
    """What was once the only suspect: the reason may yet be one that no condition says."""
    in_vain: Counter[Condition] = field(default_factory=Counter)
    """How often sizes for an aim were changed one by one and none fitted."""
    fruitless: Fruitless | None = None
    """What is not sought again; whoever measures one class again has the time to try as often as it takes."""
    bases: dict[tuple[Condition, ...], list[dict[str, int]]] = field(default_factory=dict)
    """Sizes that fit conditions, drawn once."""

    def draw(self, wanted: Sequence[Condition], by_quotients: bool) -> dict[str, int] | None:
        """Sizes that fit these conditions and all that is known to be asked; None if none were found.

        The first of `wanted` is what is aimed at.
        """
        known = [c for c in (*wanted, *self.stated, *self.asked) if c.symbols() <= self.hints.keys()]
        if by_quotients:
            return self._quotients(known)
        if (found := self._sought(known)) is not None:
            return found
        if not known or self.in_vain[known[0]] == IN_VAIN:
            return None
        found = self._one_by_one(known[0], tuple(known[1:]))
        self.in_vain[known[0]] += found is None
        return found

    def _sought(self, conditions: Sequence[Condition]) -> dict[str, int] | None:
        if self.fruitless is None:
            return self._drawn(conditions)
        return self.fruitless.sought(self.hints, conditions, lambda: self._drawn(conditions))

    def _drawn(self, conditions: Sequence[Condition]) -> dict[str, int] | None:
        scale = {name: TIMES for name in self.hints if self.rng.random() < LARGER}
        return draw(self.hints, conditions, self.rng, attempts=ATTEMPTS, repairs=REPAIRS, scale=scale)

    def _one_by_one(self, aim: Condition, others: tuple[Condition, ...]) -> dict[str, int] | None:
        """Sizes that fit the others, one of them changed until the aim fits, too.

        Of what is rounded to a multiple of a size few values of that size come to lie below a threshold.
        """
        names = sorted(aim.symbols())
        if not names:
            return None
        if others not in self.bases:
            self.bases[others] = list(filter(None, (self._drawn(others) for _ in range(BASES))))
        for sizes in self.bases[others]:
            values = np.array(self.rng.sample(range(1, LARGEST), LARGEST - 1))
            for name in names:
                for size in values[_met(aim, {**sizes, name: values})]:
                    changed = {**sizes, name: int(size)}
                    if all(c.is_met(changed) for c in others):
                        return changed
        return None

    def _quotients(self, conditions: Sequence[Condition]) -> dict[str, int] | None:
        """Sizes drawn so that of what another divides among the hints much is divided still, other times."""
        for _ in range(LOOKS):
            sizes: dict[str, int] = {}
            for name, hint in sorted(self.hints.items(), key=itemgetter(1)):
                sizes[name] = hint
                if hint > 1:
                    unit = self._unit(sizes, hint)
                    sizes[name] = unit * self.rng.randint(1, 2 * hint // unit)
            if all(c.is_met(sizes) for c in conditions):
                return sizes
        return None

    def _unit(self, sizes: Mapping[str, int], hint: int) -> int:
        """What a size is to be a multiple of: what was drawn for one that divides its hint, or for all such.

        Of many numbers the least common multiple is large: it need be a multiple of nothing then.
        """
        dividing = [n for n in sizes if 1 < self.hints[n] < hint and hint % self.hints[n] == 0]
        if self.rng.random() >= ALL:
            dividing = self.rng.sample(dividing, min(1, len(dividing)))
        unit = math.lcm(*(sizes[n] for n in dividing))
        return unit if unit <= hint else 1

    def refused(self, sizes: Mapping[str, int], others: Sequence[Condition]) -> list[Condition]:
        """The module refused sizes: what of the others' the next are to keep, half of those that they broke.

        What is alone in this twice is asked from now on.
        """
        broken = [c for c in others if c.text() not in self.harmless and not c.is_met(sizes)]
        suspects = [c for c in broken if c.op == "=="] or broken
        if len(suspects) > 1:
            return self.rng.sample(suspects, len(suspects) // 2)
        self.asked += [c for c in suspects if c.text() in self.blamed]
        self.blamed.update(c.text() for c in suspects)
        return []

    def taken(self, broken: Sequence[Condition]) -> None:
        """The module took sizes that broke these: it asks none of them."""
        self.harmless.update(c.text() for c in broken)


def _met(condition: Condition, sizes: Mapping[str, Integers | int]) -> Truths:
    """At which of many sizes a condition is met; it is not where a division is inexact."""
    points = Points(sizes)
    left, right = points.of(condition.left), points.of(condition.right)
    holds: Truths = COMPARISONS[condition.op](left.numbers, right.numbers)  # type: ignore[arg-type, assignment]
    return ~(left.fails | right.fails) & holds
