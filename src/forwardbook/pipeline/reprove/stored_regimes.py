"""The formulas of a stored regime in, parsed; a measured call in; out every number in which they differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from forwardbook.analyzers.symbolic.given import without_aliases
from forwardbook.analyzers.symbolic.summary import Summary
from forwardbook.analyzers.symbolic.told import kept
from forwardbook.analyzers.symbolic.trace import CallRecord
from forwardbook.cost import Cost
from forwardbook.formula import Condition, Expr, FormulaError, parse
from forwardbook.pipeline.derivation.entry_lines import statements
from forwardbook.profiling.proof import POINTS, predict
from forwardbook.saying import BUILT, CONFIGURED, DATA, KEPT, LEFT_OUT, MASKED, MODEL, TOLD, field_said
from forwardbook.schema import PER_LINE, QUANTITIES, WIDTH_NAMES, ProofPoint, Regime

GUESSED: Final = (DATA, MASKED)
"""How assumptions begin about what only a run with data knows."""
_IMAGES: Final = re.compile(r"images of (\d+) by (\d+) pixels")
"""How an assumption begins about the sides of images, of entries of before these were symbols."""
_SHOWN: Final = 6  # numbers that differ, of one call

Place = tuple[int, int]
Costs = tuple[int | None, ...]


def unplaced(assumption: str) -> str:
    """How entries of before the code was told that asks for a value say what was assumed of it."""
    said, taken, _ = assumption.partition(", taken as ")
    return f"{said} (_local_scalar_dense)" if taken else assumption


@dataclass(frozen=True)
class StoredRegime:
    """One regime, its formulas parsed when they are needed."""

    regime: Regime
    is_copy: bool = False
    """Whether its lines are those of another class with the same code."""

    def belongs_to(self, scenario: str) -> bool:
        """Whether it came of a scenario: its name begins with that one's, or is it with a number."""
        name = self.regime.name
        return (
            name.startswith(f"{scenario}, ")
            or re.fullmatch(rf"{re.escape(scenario)}( \d+)?", name) is not None
        )

    @property
    def part(self) -> str:
        """The class that was called by itself, perhaps around the one that this is of; empty of a model."""
        found = re.fullmatch(r"(\w+) alone", self.regime.scenario)
        return found[1] if found else ""

    @property
    def flips(self) -> dict[str, str]:
        """The booleans that were set the other way for it, as the constructor is given them."""
        said = (text.removeprefix(BUILT) for text in self.regime.assumptions if text.startswith(BUILT))
        pairs = (text.partition("=") for text in said)
        plain = {name: value for name, _, value in pairs if value in ("True", "False")}
        named = self.regime.name
        return {name: value.lower() for name, value in plain.items() if f", {name} {value}" in named}

    @cached_property
    def formulas(self) -> dict[str, Expr]:
        """Every quantity."""
        return {name: parse(self.regime.formula(name), exact=True) for name in QUANTITIES}

    @cached_property
    def conditions(self) -> list[Condition]:
        """Those on sizes; how wide numbers are is not one of them."""
        return [c for c in self._stated if not c.symbols().intersection(WIDTH_NAMES)]

    @cached_property
    def _stated(self) -> list[Condition]:
        return [Condition.parse(text) for text in self.regime.conditions]

    @cached_property
    def images(self) -> dict[str, int]:
        """The sides of images that it takes for granted, by the names that they have as symbols."""
        found = next(filter(None, map(_IMAGES.match, self.regime.assumptions)), None)
        return {"image_height": int(found[1]), "image_width": int(found[2])} if found else {}

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of sizes in its formulas and conditions."""
        formulas = frozenset(n for one in self.formulas.values() for n in one.symbols())
        return formulas.union(n for one in self.conditions for n in one.symbols()) - set(WIDTH_NAMES)

    def is_of_sizes(self, names: Collection[str]) -> bool:
        """Whether these may be the sizes that it names: a part that was called by itself has its own.

        What a constructor calls `num_channels` is another size in a model whose config has one of that name.
        A proof is over the sizes of its way; of before it left out some that nothing was built with.
        """
        points = self.regime.points if self.part else ()
        return all(2 * len(point.sizes.keys() & set(names)) >= len(names) for point in points[:1])

    def holds(self, values: Mapping[str, int]) -> bool:
        """Whether its conditions hold, on sizes and widths, and images are as it says; what is unknown fails.

        Nor does it where a total has no value, which divides by what is zero there: it gives no number then.
        """
        if any(values.get(name, side) != side for name, side in self.images.items()):
            return False
        try:
            holds = all(c.holds(values) for c in self._stated)
        except FormulaError:
            return False
        return holds and all(predict(one, values) is not None for one in self.formulas.values())

    def guessed(self, assumed: Iterable[str]) -> list[str]:
        """What a run guessed of data and this regime did not, whose values were followed; or the other way.

        A regime that takes a mask to be true everywhere says nothing of a run that knows its values.
        """
        ours = dict.fromkeys(t for t in self.regime.assumptions if t.startswith(GUESSED))
        theirs = dict.fromkeys(t for t in assumed if t.startswith(GUESSED))
        apart = [text for text in theirs if text not in ours and unplaced(text) not in ours]
        known = theirs.keys() | set(map(unplaced, theirs))
        return apart + [text for text in ours if text not in known]

    def of_another_config(self, told: Collection[str]) -> list[str]:
        """What it says of fields of its config and another, of which all is told, does not say."""
        said = self.regime.assumptions if told else ()
        about = (one for one in said if one.startswith(CONFIGURED) or one.endswith(LEFT_OUT))
        return [one for one in about if one not in told]

    def holds_for(self, widths: Mapping[str, int]) -> bool:
        """Whether what it says of widths of numbers, if anything, holds for these."""
        return all(c.holds(widths) for c in self._stated if c.symbols() <= widths.keys())

    def speaks_of(self, call: CallRecord) -> bool:
        """Whether a call is in its place and gives the inputs that it says; a copy's callers give others.

        Entries of before aliases were told say nothing of them: they speak of calls with and without.
        """
        if not self.is_copy and not self._is_of(call):
            return False
        known = self.regime.given and not self.is_copy
        ways = {call.given, without_aliases(call.given)}
        return self.regime.is_called_at(call.path) and (not known or not ways.isdisjoint(self.regime.given))

    def _is_of(self, call: CallRecord) -> bool:
        """Whether the module that was called is as it says: its model, what it was told, what it keeps."""
        if self.model and (call.root is None or call.root.__name__ != self.model):
            return False
        told, asked = self._module_said
        if not told.issubset(call.told):
            return False
        return not asked or asked <= {f"{name}={value}" for name, value in kept(call.module).items()}

    @cached_property
    def model(self) -> str:
        """The class of the model in which it is called, where others call it otherwise in the same place."""
        return next((t.removeprefix(MODEL) for t in self.regime.assumptions if t.startswith(MODEL)), "")

    @cached_property
    def _module_said(self) -> tuple[frozenset[str], frozenset[str]]:
        """What it says that a constructor was told, and what a module keeps."""
        pairs = [field_said(one) for one in self.regime.assumptions]
        told, asked = (frozenset(text for begin, text in pairs if begin == how) for how in (TOLD, KEPT))
        return told, asked

    def shares_runs(self, other: StoredRegime) -> bool:
        """Whether both are of the same scenario and booleans: one run may hold calls of each."""
        return (self.regime.scenario, self.flips) == (other.regime.scenario, other.flips)

    def differences(self, measured: Summary, values: Mapping[str, int]) -> list[str]:
        """What it says otherwise than a call, in words; empty where every number is equal."""
        return [text for _, text in zip(range(_SHOWN), self._differing(measured, values), strict=False)]

    def _differing(self, measured: Summary, values: Mapping[str, int]) -> Iterator[str]:
        ours, theirs = self._lines(values), _measured(measured)
        if self.is_copy:
            ours, theirs = _ranked(ours), _ranked(theirs)
        nothing: Costs = (0,) * len(PER_LINE)
        for place in sorted(ours.keys() | theirs.keys()):
            told, found = ours.get(place, nothing), theirs.get(place, nothing)
            for name, ourselves, other in zip(PER_LINE, told, found, strict=True):
                if ourselves != other:
                    yield f"line {place[0]}, {name}: stored {ourselves}, measured {other}"
        for name, size in measured.quantities().items():
            told_total = predict(self.formulas[name], values)
            if told_total != _integer(size):
                yield f"total, {name}: stored {told_total}, measured {_integer(size)}"

    def _lines(self, values: Mapping[str, int]) -> dict[Place, Costs]:
        flops, memory = self._parsed
        found: dict[Place, Costs] = {}
        for (place, first), (_, second) in zip(flops, memory, strict=True):
            costs = tuple(predict(one, values) for one in (*first, *second))
            found[place] = _added(found.get(place), costs)
        return found

    @cached_property
    def _parsed(self) -> tuple[list[tuple[Place, list[Expr]]], list[tuple[Place, list[Expr]]]]:
        flops, memory = self.regime.flop_analysis.lines, self.regime.memory_analysis.lines
        return (
            [((x.line, x.end_line), _exact(x.flops, x.pointwise_ops)) for x in flops],
            [((x.line, x.end_line), _exact(x.reads, x.writes)) for x in memory],
        )


def met_in_proof(condition: Condition, regime: Regime) -> bool:
    """Whether a condition held at every point at which a regime was proved, one at least."""
    return bool(regime.points) and all(condition.is_met(point.sizes) for point in regime.points)


def is_left_by_proof(condition: Condition, regime: Regime, more: Sequence[ProofPoint] = ()) -> bool:
    """Whether so many points of a proof, and more, meet a condition that it is one without the others.

    A formula may agree by chance where it does not hold: its peak is another there.
    """
    points = (*regime.proof.points, *more) if regime.proof is not None else ()
    met = Counter(_is_full(p.sizes) for p in points if condition.is_met(p.sizes))
    return bool(points) and all(met[full] >= POINTS for full in {_is_full(p.sizes) for p in points})


def _is_full(sizes: Mapping[str, int]) -> bool:
    return sizes.get("a_dtype_bytes", 4) == 4


def _exact(*texts: str) -> list[Expr]:
    return [parse(text, exact=True) for text in texts]


def _measured(summary: Summary) -> dict[Place, Costs]:
    found: dict[Place, Costs] = {}
    for _, start, end, _, cost, _, _ in statements(summary.lines):
        found[start, end] = _added(found.get((start, end)), _integers(cost))
    return found


def _integers(cost: Cost) -> Costs:
    return tuple(_integer(getattr(cost, name)) for name in PER_LINE)


def _integer(size: object) -> int:
    return Expr.of(size).const_value()  # type: ignore[arg-type]


def _added(before: Costs | None, costs: Costs) -> Costs:
    pairs = zip(before or (0,) * len(costs), costs, strict=True)
    return tuple(None if a is None or b is None else a + b for a, b in pairs)


def _ranked(lines: Mapping[Place, Costs]) -> dict[Place, Costs]:
    """Lines that cost something by their rank: a copy has them elsewhere, in the same order."""
    costs: Iterable[Costs] = (lines[place] for place in sorted(lines) if any(lines[place]))
    return {(rank, rank): one for rank, one in enumerate(costs, 1)}
