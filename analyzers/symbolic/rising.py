"""Finds which states of live storage are one and the same at several counts, as polynomials in the counts.

A run at one number of layers tells states that may be its peak, in no order that another run would keep: how
many layers there are decides which is larger, and what can be the peak of many may lose everywhere with two.
So states are paired by what they are sums of, a line through two runs is held against all states of the
others, and what was found must account for every peak of every run: one left out would be a number too small.
Where few layers have a peak that no more of them have, the others are taken without these few. What would
become smaller with more layers is left out (`growth`), if the others account for all runs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from forwardbook.analyzers.ops import Size
from forwardbook.analyzers.symbolic.growth import growing
from forwardbook.analyzers.symbolic.peaks import contenders
from forwardbook.analyzers.symbolic.summary import Summary
from forwardbook.formula import Expr
from forwardbook.formula.atoms import Monomial
from forwardbook.formula.bounds import at_least
from forwardbook.formula.limits import MAX_ARGUMENTS

MAX_DEGREE: Final = 2
Numbers = Mapping[str, int]
Table = Mapping[int, "Run"]


@dataclass(frozen=True, slots=True)
class Run:
    """One run: its counts, the states that may be its peak, and all that it had."""

    counts: Numbers
    peaks: Sequence[Expr]
    states: frozenset[Expr]

    @classmethod
    def of(cls, counts: Numbers, summary: Summary) -> Run:
        """What a summary tells; a size that is a count is that number."""

        def at(size: Size) -> Expr:
            one = Expr.of(size)
            return one if counts.keys().isdisjoint(one.symbols()) else one.subs(counts)

        peaks = [at(one) for one in summary.peaks]
        return cls(counts, peaks, frozenset([*peaks, *map(at, summary.states)]))

    def bears(self, state: Expr) -> bool:
        """Whether a state over all counts is one of this run, or never larger than a peak of it."""
        here = state.subs(self.counts)
        return here in self.states or _is_met(here, self.peaks)

    def is_met_by(self, states: Sequence[Expr]) -> bool:
        """Whether states over all counts account for every peak of this run."""
        values = [one.subs(self.counts) for one in states]
        return all(_is_met(peak, values) for peak in self.peaks)


def rising_peaks(
    tables: Mapping[str, Mapping[int, Summary]],
    held_out: int,
    together: tuple[Numbers, Summary] | None = None,
    hints: Numbers | None = None,
) -> list[Expr] | None:
    """The states over all counts that may be the peak; None where a run has another, or there are too many.

    `tables` has for each count what was summarised at some values of it, the others at their lowest; of so
    many values each is `held_out`, to confirm what the others say. In `together` every count is larger. Of
    more states than a formula can name those are taken that are the largest somewhere, `hints` included.
    """
    lowest = {name: min(table) for name, table in tables.items()}
    known = {
        name: {x: Run.of({**lowest, name: x}, one) for x, one in table.items()}
        for name, table in tables.items()
    }
    chains = {name: _chains(name, table, held_out) for name, table in known.items()}
    found = chains[next(iter(chains))] if len(chains) == 1 else list(_sums(known, chains))
    runs = [run for table in known.values() for run in table.values()]
    if together is not None:
        last = Run.of(*together)
        runs.append(last)
        if not held_out:  # through two runs there is always a line
            found = [one for one in found if one.subs(last.counts) in last.states]
    found = [one for one in dict.fromkeys(found) if all(run.bears(one) for run in runs)]
    grown = growing(found, tables)
    if all(run.is_met_by(grown) for run in runs):
        found = grown
    if len(found) > MAX_ARGUMENTS:
        found = _fewer(found, runs, hints or {})
    named = 0 < len(found) <= MAX_ARGUMENTS
    return found if named and all(run.is_met_by(found) for run in runs) else None


def _fewer(states: Sequence[Expr], runs: Iterable[Run], hints: Numbers) -> list[Expr]:
    """The states that are the largest somewhere, and one for each peak of a run that these leave out."""
    kept = contenders(states, hints)
    for run in runs:
        values = [one.subs(run.counts) for one in kept]
        for peak in run.peaks:
            if not _is_met(peak, values):
                kept += [one for one in states if one.subs(run.counts) == peak][:1]
                values.append(peak)
    return kept


def are_peaks_of(
    states: Sequence[Size], counts: Numbers, summary: Summary, said: Mapping[str, int | Expr]
) -> bool:
    """Whether states over all counts are the peaks of a run with so many of each, no more and no fewer.

    Sizes are what is `said` of them: a width that is a multiple of 8 is never so small that some state wins.
    """

    def at(one: Expr) -> Expr:
        return one.subs(said)

    run = Run.of(counts, summary)
    run = Run(counts, [at(one) for one in run.peaks], frozenset(map(at, run.states)))
    found = [at(Expr.of(one)) for one in states]
    return all(run.bears(one) for one in found) and run.is_met_by(found)


def _is_met(state: Expr, others: Sequence[Expr]) -> bool:
    """Whether another is the same, or at least as large everywhere."""
    return state in others or any(at_least(other, state) for other in others)


def _chains(name: str, table: Table, held_out: int) -> list[Expr]:
    """Polynomials in the count that are a state at its values."""
    places = sorted(table)
    found = list[Expr]()
    for low, high in itertools.pairwise(places):
        found += _lines(name, table, (low, table[low].peaks), (high, table[high].peaks), held_out)
    for rank in range(min(len(table[x].peaks) for x in places)):
        one = Expr.interpolate(name, {x: table[x].peaks[rank] for x in places}, MAX_DEGREE, held_out)
        if one is not None:
            found.append(one)
    *_, low, high = places
    values = [one.subs({name: high}) for one in found]
    if new := [peak for peak in table[high].peaks if not _is_met(peak, values)]:
        # none of these was a peak of the run with fewer: with so few, others are larger
        found += _lines(name, table, (low, table[low].states), (high, new), held_out)
    return list(dict.fromkeys(found))


def _lines(
    name: str, table: Table, low: tuple[int, Iterable[Expr]], high: tuple[int, Iterable[Expr]], held_out: int
) -> Iterator[Expr]:
    """Straight lines through two states, of one count each, that are states at all larger ones.

    So many counts beside these two confirm each as are `held_out`.
    """
    others = [x for x in table if x not in (low[0], high[0])]
    alike: dict[frozenset[Monomial], list[Expr]] = {}
    for before in low[1]:
        alike.setdefault(frozenset(before.terms), []).append(before)
    for after in high[1]:
        for before in alike.get(frozenset(after.terms), ()):
            line = Expr.interpolate(name, {low[0]: before, high[0]: after}, 1, 0)
            if line is None:
                continue
            seen = [x for x in others if line.subs({name: x}) in table[x].states]
            if len(seen) >= held_out and all(x in seen for x in others if x > high[0]):
                yield line


def _sums(known: Mapping[str, Table], chains: Mapping[str, Sequence[Expr]]) -> Iterator[Expr]:
    """For each peak with every count at its lowest, what the chains through it add up to."""
    table = next(iter(known.values()))
    for base in dict.fromkeys(table[min(table)].peaks):
        through = [
            [one for one in chain if one.subs({name: min(known[name])}) == base]
            for name, chain in chains.items()
        ]
        for parts in itertools.product(*through):
            yield Expr.sum([base, *(one - base for one in parts)])
