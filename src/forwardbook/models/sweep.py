"""Formulas of a phase and ranges of sizes in; a table with one row for each point out, evaluated at once.

batch_size=1:64:x2, seq_len=128:131072:x2   from, to, and what multiplies (x2) or is added (+512)
batch_size=1|8|32, seq_len=2048             some values, one value
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias, cast

import numpy
from numpy.typing import NDArray

from forwardbook.formula import Expr
from forwardbook.formula.rational_vector import ceilings
from forwardbook.models.record import LayerCosts, PhaseCosts
from forwardbook.models.roofline import Device
from forwardbook.models.totals import (
    NAMES,
    Attention,
    NoFormulas,
    SizesRefused,
    Widths,
    condition,
    holds,
    parsed,
)

MOST_POINTS = 1_000_000
MOST_AXIS = 100_000

Array: TypeAlias = NDArray[numpy.int64] | NDArray[numpy.object_]
Sizes = Mapping[str, Array]
Columns: TypeAlias = Mapping[str, "Array | NDArray[numpy.float64]"]


def axes(text: str) -> dict[str, list[int]]:
    """The values of each size in a sweep.

    Raises:
        SizesRefused: for what cannot be read, everything wrong at once.
    """
    found: dict[str, list[int]] = {}
    problems: list[str] = []
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, equals, values = part.partition("=")
        try:
            if not equals or not name.strip().isidentifier() or name.strip() in found:
                raise ValueError("give each size once, as NAME=FROM:TO:STEP")
            found[name.strip()] = _values(values.strip())
        except ValueError as error:
            problems.append(f"{part}: {error}")
    if not found and not problems:
        problems.append("no sizes")
    count = prod(len(values) for values in found.values())
    if count > MOST_POINTS:
        problems.append(f"{count:,} points; at most {MOST_POINTS:,}")
    if problems:
        raise SizesRefused(f"reading the sweep: {'; '.join(problems)} (such as batch_size=1:64:x2)")
    return found


def _values(text: str) -> list[int]:
    if ":" not in text:
        return [_whole(one) for one in text.split("|")]
    start, stop, *more = text.split(":")
    first, last, step = _whole(start), _whole(stop), more[0] if more else "+1"
    if len(more) > 1 or first > last:
        raise ValueError("a range is FROM:TO:STEP with FROM no larger than TO")
    factor = step.startswith("x")
    by = _whole(step.removeprefix("x").removeprefix("+"))
    if factor and by < 2:
        raise ValueError("a factor is at least 2")
    found = [first]
    while (following := found[-1] * by if factor else found[-1] + by) <= last:
        found.append(following)
        if len(found) > MOST_AXIS:
            raise ValueError(f"more than {MOST_AXIS:,} values")
    return found


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise ValueError(f"{text[:80]!r} is no whole number below 10**18")
    value = int(text)
    if value < 1:
        raise ValueError(f"{value} is below 1")
    return value


def grid(values: Mapping[str, Sequence[int]]) -> dict[str, Array]:
    """Every combination, the last size running fastest, one flat array for each size."""
    arrays = numpy.meshgrid(*(numpy.asarray(v, dtype=numpy.int64) for v in values.values()), indexing="ij")
    return {name: array.reshape(-1) for name, array in zip(values, arrays, strict=True)}


class Uncovered(NoFormulas):
    """A point at which none of the formulas hold that are known so far."""

    def __init__(self, phase: str, sizes: dict[str, int]) -> None:
        self.phase, self.sizes = phase, sizes
        super().__init__(f"no formulas of {phase} hold at {sizes}")


@dataclass(frozen=True)
class Sweep:
    """What to evaluate: a phase's regimes and points; `decodes` tell what the cache of a prefill holds."""

    phases: Sequence[PhaseCosts]
    decodes: Sequence[PhaseCosts]
    sizes: Sizes
    widths: Widths
    attention: Attention = "dense"
    weight_bytes: int = 0
    devices: Sequence[Device] = ()

    def columns(self) -> dict[str, Array | NDArray[numpy.float64]]:
        """The table, column by column.

        Raises:
            Uncovered: for a point outside all regimes.
        """
        found: dict[str, Array | NDArray[numpy.float64]] = dict(self.sizes)
        for name in NAMES:
            found[name] = self._total(name)
        cache, beside = self._memory(cast("Array", found["peak"]))
        found |= {"cache": cache, "memory": cache + beside + self.weight_bytes}
        for device in self.devices:
            found |= self._seconds(device, found)
        return found

    def _total(self, name: str) -> Array:
        """One quantity of the whole model."""
        return self._each(self.phases, self.sizes, lambda phase: _total(phase, name, self.attention))

    def _memory(self, peak: Array) -> tuple[Array, Array]:
        """Bytes of the cache when the call has ended, and of activations beside it."""
        decode = self.phases[0].phase == "decode"
        if decode:
            after = {n: a + 1 if n == "kv_len" else a for n, a in self.sizes.items()}
            cache = self._each(self.phases, self.sizes, lambda phase: parsed(phase.cache), after)
            return cache, self._each(self.phases, self.sizes, _without_cache)
        if not self.decodes:
            return numpy.zeros_like(peak), peak
        kept = self.sizes.get("decoder_seq_len", self.sizes.get("seq_len"))
        after = {**self.sizes, "kv_len": numpy.ones_like(peak) if kept is None else kept}
        cache = self._each(self.decodes, after, lambda phase: parsed(phase.cache))
        return cache, numpy.maximum(peak - cache, 0)

    def _seconds(
        self, device: Device, found: Mapping[str, Array | NDArray[numpy.float64]]
    ) -> dict[str, NDArray[numpy.float64]]:
        """The least time on a device: eager, layer after layer, and fused."""
        peak, bandwidth = device.peak(self.widths), device.bandwidth

        def eager(phase: PhaseCosts, sizes: Sizes) -> NDArray[numpy.float64]:
            total = numpy.zeros(_length(sizes))
            for times, flops, moved in own_work(phase.model, self.attention):
                compute = self._bytes(flops, sizes) / peak
                total += times * numpy.maximum(compute, self._bytes(moved, sizes) / bandwidth)
            return total

        compute = _floats(cast("Array", found["flops"])) / peak
        edge = _floats(cast("Array", found["boundary"])) / bandwidth
        return {
            f"seconds_eager_{device.id}": _floats(self._picked(self.phases, self.sizes, eager)),
            f"seconds_fused_{device.id}": numpy.maximum(compute, edge),
        }

    def _bytes(self, value: Expr, sizes: Sizes) -> NDArray[numpy.float64]:
        """Bytes before rounding: eighths of one where elements are narrower."""
        return _floats(self._values(value * 8, sizes)) / 8

    def _each(
        self,
        phases: Sequence[PhaseCosts],
        sizes: Sizes,
        formula: Callable[[PhaseCosts], Expr],
        at: Sizes | None = None,
    ) -> Array:
        """At every point the formula of the first regime that holds there; `at` evaluates elsewhere."""

        def values(phase: PhaseCosts, here: Sizes) -> Array:
            return self._values(formula(phase), here)

        return cast("Array", self._picked(phases, sizes, values, at))

    def _picked(
        self,
        phases: Sequence[PhaseCosts],
        sizes: Sizes,
        values: Callable[[PhaseCosts, Sizes], Array | NDArray[numpy.float64]],
        at: Sizes | None = None,
    ) -> Array | NDArray[numpy.float64]:
        is_open = numpy.ones(_length(sizes), dtype=numpy.bool_)
        places: list[NDArray[numpy.intp]] = []
        parts: list[Array | NDArray[numpy.float64]] = []
        for phase in phases:
            here = numpy.flatnonzero(is_open & self._mask(phase, sizes))
            if len(here):
                chosen = {name: array[here] for name, array in (at or sizes).items()}
                places.append(here)
                parts.append(values(phase, chosen))
                is_open[here] = False
        if is_open.any():
            place = int(is_open.argmax())
            raise Uncovered(phases[0].phase, {name: int(array[place]) for name, array in sizes.items()})
        order = numpy.argsort(numpy.concatenate(places))
        return cast("Array | NDArray[numpy.float64]", numpy.concatenate(parts)[order])

    def _mask(self, phase: PhaseCosts, sizes: Sizes) -> NDArray[numpy.bool_]:
        mask = numpy.ones(_length(sizes), dtype=numpy.bool_)
        for text in phase.conditions:
            one = condition(text)
            if one.symbols() <= self.widths.in_bytes().keys():
                mask &= holds(text, {}, self.widths)
                continue
            if not one.symbols() <= {*sizes, *self.widths.in_bytes()}:
                return numpy.zeros_like(mask)
            left, right = self._values(one.left, sizes), self._values(one.right, sizes)
            compare = {
                "==": numpy.equal,
                "!=": numpy.not_equal,
                "<": numpy.less,
                "<=": numpy.less_equal,
                ">": numpy.greater,
                ">=": numpy.greater_equal,
            }[one.op]
            mask &= numpy.asarray(compare(left, right)).astype(numpy.bool_)
        return mask

    def _values(self, value: Expr, sizes: Sizes) -> Array:
        widths = self.widths.in_bytes()
        if all(width.denominator == 1 for width in widths.values()):
            whole = {name: int(width) for name, width in widths.items()}
            return value.evaluate_many({**cast("Mapping[str, NDArray[numpy.int64]]", sizes), **whole})
        return ceilings(value, {**sizes, **widths})


def _without_cache(phase: PhaseCosts) -> Expr:
    return parsed(phase.model.costs.peak).subs({"kv_dtype_bytes": 0})


def _total(phase: PhaseCosts, name: str, attention: Attention) -> Expr:
    value = parsed(getattr(phase.model.costs, name))
    if name != "flops" or attention == "dense":
        return value
    return value - Expr.sum(_spared(layer) * times for _, times, layer in phase.model.walk())


def _spared(layer: LayerCosts) -> Expr:
    """The flops that the masks of a layer's own attention leave out."""
    return Expr.sum(
        (parsed(one.dense) - parsed(one.executed)) * one.count
        for one in layer.attention
        if one.executed is not None
    )


def own_work(model: LayerCosts, attention: Attention) -> list[tuple[int, Expr, Expr]]:
    """For each layer how often it is called, and the flops and bytes of its own operations."""
    found: list[tuple[int, Expr, Expr]] = []
    for _, times, layer in model.walk():
        flops, moved = parsed(layer.costs.flops), _moved(layer)
        for child in layer.sub_layers:
            flops = flops - parsed(child.costs.flops) * child.repeat
            moved = moved - _moved(child) * child.repeat
        if attention == "executed":
            flops = flops - _spared(layer)
        found.append((times, flops, moved))
    return found


def _moved(layer: LayerCosts) -> Expr:
    return parsed(layer.costs.reads) + parsed(layer.costs.writes)


def _length(sizes: Sizes) -> int:
    return max((len(array) for array in sizes.values()), default=1)


def _floats(values: Array | NDArray[numpy.float64]) -> NDArray[numpy.float64]:
    return values.astype(numpy.float64)
