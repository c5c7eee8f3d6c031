"""Entries in; out how many of them are exact, and how long their formulas and conditions are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import Final

from forwardbook.entries.record import Entry, Own


@dataclass(frozen=True, slots=True)
class Spread:
    """Of many numbers the one in the middle, the one that 95 of 100 do not pass, and the largest."""

    median: float
    p95: int
    largest: int

    @staticmethod
    def of(values: Iterable[int]) -> Spread:
        """That of some numbers; of none all are 0."""
        found = sorted(values)
        if not found:
            return Spread(0, 0, 0)
        return Spread(median(found), found[int(0.95 * (len(found) - 1))], found[-1])


@dataclass(frozen=True, slots=True)
class Figures:
    """What is asked of the entries of a store; lengths are characters as people read them, without braces."""

    classes: int
    exact: int
    bounded: int
    assumed: int
    pinned: int
    unproved: int
    judged: int
    """Entries with a judge in the proof of a regime."""
    exact_share: float
    """Of all classes, from 0 to 1; 0 of none."""
    regimes: int
    flops: Spread
    """Lengths of own `flops`, one for each regime."""
    peak: Spread
    """Lengths of own `peak`: the states of which it is the largest."""
    conditions: Spread
    """Conditions of a regime."""
    longest_condition: int
    regimes_of_class: Spread
    signatures_of_class: Spread


@dataclass(frozen=True, slots=True)
class Wanted:
    """The most that a figure may be; `exact_share` is the least."""

    exact_share: float = 0.95
    flops: tuple[int, int, int] = (80, 300, 1000)
    """Median, 95 of 100, longest."""
    peak: tuple[int, int] = (500, 2000)
    """95 of 100, longest."""
    conditions: int = 8
    longest_condition: int = 120
    regimes_of_class: int = 4


WANTED: Final = Wanted()


def figures(entries: Iterable[Entry]) -> Figures:
    """The figures of entries; a class that is the same as another has its verdict and no regimes."""
    every = list(entries)
    states = Counter(one.verdict for one in every)
    own = [one for one in every if one.same_as is None]
    regimes = [each for one in own for each in one.regimes]
    return Figures(
        classes=len(every),
        exact=states["exact"],
        bounded=states["bounded"],
        assumed=states["assumed"],
        pinned=states["pinned"],
        unproved=len(every) - sum(states[name] for name in ("exact", "bounded", "assumed", "pinned")),
        judged=sum(any(each.proof.judges for each in one.regimes) for one in every),
        exact_share=states["exact"] / len(every) if every else 0.0,
        regimes=len(regimes),
        flops=Spread.of(len(bare(one.own.flops)) for one in regimes),
        peak=Spread.of(len(bare(peak_text(one.own))) for one in regimes),
        conditions=Spread.of(len(one.conditions) for one in regimes),
        longest_condition=max((len(bare(text)) for one in regimes for text in one.conditions), default=0),
        regimes_of_class=Spread.of(len(one.regimes) for one in own),
        signatures_of_class=Spread.of(len({each.signature for each in one.regimes}) for one in own),
    )


def bare(text: str) -> str:
    """A formula as people write it, without braces."""
    return text.replace("{", "").replace("}", "")


def peak_text(own: Own) -> str:
    """The own peak of a regime as one formula: `max(...)` of its states where it has several."""
    return f"max({', '.join(own.states)})" if len(own.states) > 1 else "".join(own.states) or "0"
