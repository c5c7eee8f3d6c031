"""What the formulas say and what ran in; both side by side for each call and module out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from forwardbook.models.totals import Row, Totals
from forwardbook.pipeline.model.source import ModelRefused
from forwardbook.pipeline.profile.predict import Predictor
from forwardbook.profiling.passes.flops import CountedCall
from forwardbook.profiling.passes.memory import PeakCall
from forwardbook.profiling.passes.traffic import Moved, TrafficCall
from forwardbook.profiling.passes.workload import CallSeen

# Classes whose own forward() is one matrix product and views of its operands: their bytes are its bytes.
PRODUCTS: Final = ("Linear", "Conv1D", "NonDynamicallyQuantizableLinear", "Conv2d", "Conv1d")


@dataclass(frozen=True)
class Pair:
    """One quantity of one call: what was said, and what was measured in which way."""

    quantity: str
    predicted: int
    measured: int
    method: str

    @property
    def equal(self) -> bool:
        """Whether it is the same number."""
        return self.difference == 0

    @property
    def difference(self) -> int:
        """Measured less predicted."""
        return self.measured - self.predicted


@dataclass(frozen=True)
class ModulePairs:
    """A module (and its siblings of equal cost): what was said of it and what was counted in it."""

    name: str
    class_name: str
    times: int
    pairs: tuple[Pair, ...]


@dataclass(frozen=True)
class CallComparison:
    """One call, as a whole and by module; `refused` says why there is no prediction."""

    call: CallSeen
    pairs: tuple[Pair, ...] = ()
    modules: tuple[ModulePairs, ...] = ()
    totals: Totals | None = None
    refused: str = ""

    @property
    def exact(self) -> bool:
        """Whether every number that was measured is the number that was said."""
        told = [*self.pairs, *(pair for module in self.modules for pair in module.pairs)]
        return bool(told) and all(pair.equal for pair in told)


def compare_calls(
    predictor: Predictor,
    counted: Sequence[CountedCall],
    peaks: Sequence[PeakCall],
    moved: Sequence[TrafficCall],
) -> Iterator[CallComparison]:
    """Every call of a run beside its formulas, in what the passes that ran measured of it."""
    calls = {one.call.index: one.call for one in counted} | {one.call.index: one.call for one in peaks}
    counted_of = {one.call.index: one for one in counted}
    peak_of = {one.call.index: one for one in peaks}
    moved_of = {one.call.index: one for one in moved}
    for index, call in calls.items():
        try:
            totals = predictor.predict(call)
        except ModelRefused as error:
            yield CallComparison(call, refused=str(error))
            continue
        one = counted_of.get(index)
        modules = () if one is None else tuple(_modules(totals, one, moved_of.get(index)))
        yield CallComparison(call, tuple(_whole(totals, one, peak_of.get(index), modules)), modules, totals)


def _whole(
    totals: Totals, counted: CountedCall | None, peak: PeakCall | None, modules: Sequence[ModulePairs]
) -> Iterator[Pair]:
    if counted is not None:
        yield Pair("flops", int(totals.total.flops), counted.flops, "torch.utils.flop_counter")
    if peak is not None:
        yield Pair("peak bytes", ceil(totals.total.peak), peak.peak, peak.method)
    for name in ("bytes read by products", "bytes written by products"):
        pairs = [pair for module in modules for pair in module.pairs if pair.quantity == name]
        if pairs:
            said, found = sum(p.predicted for p in pairs), sum(p.measured for p in pairs)
            yield Pair(name, said, found, pairs[0].method)


def _modules(totals: Totals, counted: CountedCall, moved: TrafficCall | None) -> Iterator[ModulePairs]:
    root = counted.call
    flops = {_below_root(name): count for name, count in counted.modules.items()}
    for row in totals.rows[1:]:
        pairs = list(_of_module(row, flops, moved.modules if moved is not None else {}, root))
        if pairs:
            yield ModulePairs(row.name, row.class_name, row.times, tuple(pairs))


def _of_module(
    row: Row, flops: Mapping[str, int], moved: Mapping[str, Moved], call: CallSeen
) -> Iterator[Pair]:
    """flops of the module as a whole; bytes where its own forward() is one product."""
    matches = matcher(row.name)
    counts = [count for name, count in flops.items() if matches(name)]
    if counts or row.one.flops:
        yield Pair("flops", int(row.one.flops) * row.times, sum(counts), "torch.utils.flop_counter")
    if row.class_name.rpartition(".")[2] not in PRODUCTS:
        return
    parts = [one for name, one in moved.items() if matches(name)]
    if parts:
        method = "operators dispatched, distinct bytes"
        reads, writes = ceil(row.one.reads * row.times), ceil(row.one.writes * row.times)
        yield Pair("bytes read by products", reads, sum(one.reads for one in parts), method)
        yield Pair("bytes written by products", writes, sum(one.writes for one in parts), method)


def _below_root(name: str) -> str:
    """torch's counter puts the class of the model before the paths of its modules."""
    return name.partition(".")[2]


def matcher(name: str) -> _Matcher:
    """Tells whether a path is among those that a row stands for: `layers.0-2,5.mlp` has four."""
    return _Matcher(name)


class _Matcher:
    def __init__(self, name: str) -> None:
        self.parts = [tuple(_numbers(part)) or part for part in name.split(".")]

    def __call__(self, path: str) -> bool:
        parts = path.split(".")
        return len(parts) == len(self.parts) and all(
            part == mine
            if isinstance(mine, str)
            else part.isdigit() and any(a <= int(part) <= b for a, b in mine)
            for part, mine in zip(parts, self.parts, strict=True)
        )


def _numbers(part: str) -> Iterable[tuple[int, int]]:
    """The ranges in `0-2,5`; nothing for a name."""
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", part):
        return
    for one in part.split(","):
        first, _, last = one.partition("-")
        yield int(first), int(last or first)
