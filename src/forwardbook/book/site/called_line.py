"""A line that calls modules in; the layers of those modules, and what the line does itself, out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Final

from forwardbook.book.site.callee import ROWS, CalledRegime, Seen, in_names_of_caller
from forwardbook.book.site.work import NOTHING, Work, total
from forwardbook.formula import Expr
from forwardbook.formula.quotient import polynomial_quotient
from forwardbook.schema import SubmoduleCall

MOST_CHOICES: Final = 64
"""Ways of choosing a regime for each call of a line that are tried."""


@dataclass(frozen=True, slots=True)
class CalledLine:
    """A line that calls modules: its work, what it issues, and each call with the regimes of its class."""

    work: Work
    issued: Counter[str]
    calls: Sequence[tuple[SubmoduleCall, Sequence[CalledRegime]]]


@dataclass(frozen=True, slots=True)
class Told:
    """Layers beneath a line, each with how many there are; `own` is of the line's module itself.

    `together` lines beneath are in one layer with others. Where `is_unsure`, some bytes of `own` may be those
    of calls that only move bytes.
    """

    layers: Mapping[Work, int] = field(default_factory=dict)
    own: Work = NOTHING
    together: int = 0
    is_unsure: bool = False


def told_apart(line: CalledLine, conditions: frozenset[str], names: frozenset[str]) -> Told | None:
    """What the line is made of, None where that cannot be told.

    It is told where it adds up: flops and bytes of the layers are those of the line as polynomials, so they
    hold wherever those of the line do, whatever the conditions of the called regimes are. What the line does
    beside its calls may move bytes alone, and only where it issues operations that they do not.
    """
    regimes = [
        sorted(
            (one for one in regimes if one.issued.keys() <= line.issued.keys()),
            key=lambda one: len(one.conditions - conditions),
        )
        for _, regimes in line.calls
    ]
    if len(line.calls) == 1:
        [(call, _)] = line.calls
        for one in regimes[0]:
            if (found := _repeated(line, one, call, names)) is not None:
                return found
        if call.times == "1" and any(_is_alone(line, one) for one in regimes[0]):
            return Told({line.work: 1})
    return next(_sums(line, regimes, names), None)


def _repeated(
    line: CalledLine, regime: CalledRegime, call: SubmoduleCall, names: frozenset[str]
) -> Told | None:
    """The line as a whole number of calls of the regime; a size of the caller may be that number."""
    if not regime.whole or bool(regime.whole.flops) != bool(line.work.flops):
        return None
    for seen in in_names_of_caller(regime, call, names):
        if seen.whole.flops:
            times = polynomial_quotient(line.work.flops, seen.whole.flops)
        else:
            times = polynomial_quotient(line.work.moved, seen.whole.moved)
        if times and times.is_whole and seen.whole * times == line.work:
            return Told(_times(seen.layers(NOTHING.flops), times), together=regime.together)
    return None


def _times(layers: Mapping[Work, int], times: Expr) -> dict[Work, int]:
    if times.is_const:
        return {work: count * times.const_value() for work, count in layers.items()}
    return {work * times: count for work, count in layers.items()}


def _is_alone(line: CalledLine, regime: CalledRegime) -> bool:
    """Whether the line is one layer, whatever its sizes: that of the regime, which issues all there is."""
    is_one = len(regime.layers) <= 1 and not regime.together
    return is_one and regime.issued == line.issued and bool(regime.whole.flops) == bool(line.work.flops)


def _sums(
    line: CalledLine, regimes: Sequence[Sequence[CalledRegime]], names: frozenset[str]
) -> Iterator[Told]:
    """The line as the sum of its calls, each as often as the recorded run had it, and bytes of its own."""
    if not all(call.times.isdigit() and known for call, known in line.calls):
        return
    options: list[list[Seen | CalledRegime]] = []
    for (call, known), ones in zip(line.calls, regimes, strict=True):
        fitting = [one for one in ones if _issued(one, call) <= line.issued]
        if any(one.whole.flops for one in known):
            options.append([seen for one in fitting for seen in in_names_of_caller(one, call, names)])
        else:
            options.append(list({frozenset(one.issued.items()): one for one in fitting}.values()))
    for chosen in islice(product(*options), MOST_CHOICES):
        found = _sum(line, [(call, one) for (call, _), one in zip(line.calls, chosen, strict=True)])
        if found is not None:
            yield found


def _issued(regime: CalledRegime, call: SubmoduleCall) -> Counter[str]:
    return Counter({name: count * int(call.times) for name, count in regime.issued.items()})


def _sum(line: CalledLine, chosen: Sequence[tuple[SubmoduleCall, Seen | CalledRegime]]) -> Told | None:
    """The line as this sum: what is left of the regimes seen in its names is of the others and its own."""
    regimes = [(call, one.regime if isinstance(one, Seen) else one) for call, one in chosen]
    issued = sum((_issued(regime, call) for call, regime in regimes), Counter[str]())
    if not issued <= line.issued:
        return None
    seen = [(one, int(call.times)) for call, one in chosen if isinstance(one, Seen)]
    rows = _rows(line, total(one.whole * times for one, times in seen).flops)
    if rows is None:
        return None
    found = total(one.whole * times for one, times in seen).subs({ROWS: rows})
    left = Work(NOTHING.flops, line.work.moved - found.moved)
    if found.flops != line.work.flops or any(number < 0 for number in left.moved.terms.values()):
        return None
    layers: Counter[Work] = Counter()
    for one, times in seen:
        layers.update({work: count * times for work, count in one.layers(rows).items()})
    together = sum(one.regime.together for one, _ in seen)
    others = any(one.issued for _, one in chosen if isinstance(one, CalledRegime))
    if not left:
        return Told(layers, together=together)
    if issued != line.issued:
        return Told(layers, left, together, others)
    return Told(layers + Counter({left: 1}), together=together) if others else None


def _rows(line: CalledLine, flops: Expr) -> Expr | None:
    """How many rows the calls have, if so many flops are those of the line; all calls have as many."""
    without = flops.subs({ROWS: NOTHING.flops})
    if flops == without:
        return NOTHING.flops
    rows = polynomial_quotient(line.work.flops - without, (flops - without).subs({ROWS: Expr.const(1)}))
    return rows if rows is not None and rows.is_whole else None
