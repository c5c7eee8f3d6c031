"""A regime in; what runs one after another in its call out: each layer with its own operations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from forwardbook.book.site.called_line import CalledLine, told_apart
from forwardbook.book.site.callee import CalledRegime
from forwardbook.book.site.data import Part
from forwardbook.book.site.work import NOTHING, Work, grouped, issued, polynomial, total
from forwardbook.errors import FormulaError
from forwardbook.schema import Entry, FlopLine, MemoryLine, Regime, SubmoduleCall

MOST_TEXT: Final = 20_000
"""Characters of the formulas of a regime's lines up to which its layers are told apart."""


@dataclass(frozen=True)
class Parts:
    """The parts of a call; `together` lines that call modules are in one part with what is beside them."""

    parts: tuple[Part, ...]
    together: int = 0


@dataclass
class Callees:
    """What called classes do; `holder` finds the entry that has the formulas of a class, if any."""

    holder: Callable[[str], Entry | None] = lambda _: None
    _known: dict[str, tuple[CalledRegime, ...]] = field(default_factory=dict)
    _apart: dict[tuple[str, str], CalledRegime | None] = field(default_factory=dict)

    def regimes(self, class_name: str) -> tuple[CalledRegime, ...]:
        """The regimes of a class, nothing where it has no formulas."""
        if class_name not in self._known:
            self._known[class_name] = ()  # what a class that calls itself finds
            entry = self.holder(class_name)
            found = (self.apart(class_name, one) for one in entry.regimes) if entry is not None else ()
            self._known[class_name] = tuple(one for one in found if one is not None)
        return self._known[class_name]

    def apart(self, class_name: str, regime: Regime) -> CalledRegime | None:
        """A regime of a class taken apart, once for its own page and for those of all that call it."""
        key = class_name, regime.name
        if key not in self._apart:
            self._apart[key] = called(regime, self)
        return self._apart[key]


def parts_of(regime: Regime, callees: Callees, class_name: str = "") -> Parts:
    """The layers of a call of the regime one after another, as a model's analysis has them."""
    found = callees.apart(class_name, regime) if class_name else called(regime, callees)
    if found is not None:
        parts = [
            Part(times=n, flops=str(work.flops), moved=str(work.moved)) for work, n in found.layers.items()
        ]
        return Parts(tuple(parts), found.together)
    costs = regime.flop_analysis, regime.memory_analysis
    whole = Part(flops=costs[0].flops, moved=f"{costs[1].reads} + {costs[1].writes}")
    return Parts((whole,), len({call.line for call in costs[0].submodule_calls}))


def called(regime: Regime, callees: Callees) -> CalledRegime | None:
    """A regime taken apart, None where its formulas are too long for that."""
    lines: tuple[FlopLine | MemoryLine, ...] = (*regime.flop_analysis.lines, *regime.memory_analysis.lines)
    if sum(map(_length, lines)) > MOST_TEXT:
        return None
    try:
        return _called(regime, callees)
    except FormulaError:
        return None


def _called(regime: Regime, callees: Callees) -> CalledRegime:
    calls: dict[int, list[SubmoduleCall]] = {}
    for call in regime.flop_analysis.submodule_calls:
        calls.setdefault(call.line, []).append(call)
    works: dict[int, Work] = {}
    operations: dict[int, Counter[str]] = {}
    for line in regime.flop_analysis.lines:
        place = line.line if line.line in calls else 0
        works[place] = works.get(place, NOTHING) + _work(line)
        operations[place] = operations.get(place, Counter()) + issued(line.operations)
    for moved in regime.memory_analysis.lines:
        place = moved.line if moved.line in calls else 0
        works[place] = works.get(place, NOTHING) + _work(moved)
    whole = total(works.values())
    own = works.pop(0, NOTHING)
    lines = [
        CalledLine(
            work,
            operations.get(place, Counter()),
            [(call, callees.regimes(call.class_name)) for call in calls[place]],
        )
        for place, work in works.items()
        if work
    ]
    conditions = frozenset(regime.conditions)
    layers, together = _apart(own, lines, conditions, whole.symbols() | set(regime.parameters))
    return CalledRegime(conditions, whole, layers, sum(operations.values(), Counter()), together)


def _apart(
    own: Work, lines: Sequence[CalledLine], conditions: frozenset[str], names: frozenset[str]
) -> tuple[Mapping[Work, int], int]:
    """The layers of a module with those beneath it, and how many lines could not be told apart.

    Such lines are one layer with the module's own operations, which takes at most as long as they do apart.
    """
    told = [(line, told_apart(line, conditions, names)) for line in lines]
    one_layer = total([own, *(line.work for line, found in told if found is None)])
    layers: Counter[Work] = Counter()
    together = 0
    for _, found in told:
        if found is None:
            together += bool(one_layer.flops)
        else:
            layers.update(found.layers)
            one_layer += found.own
            together += found.together + (found.is_unsure and bool(one_layer.flops))
    layers[one_layer] += 1
    return grouped(layers), together


def _work(line: FlopLine | MemoryLine) -> Work:
    if isinstance(line, FlopLine):
        return Work(polynomial(line.flops), NOTHING.moved)
    return Work(NOTHING.flops, polynomial(line.reads) + polynomial(line.writes))


def _length(line: FlopLine | MemoryLine) -> int:
    return len(line.flops) if isinstance(line, FlopLine) else len(line.reads) + len(line.writes)
