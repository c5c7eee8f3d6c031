"""Formulas of a phase, sizes of a call, widths in bits in; exact numbers per layer, class and model out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Literal

from forwardbook.errors import ForwardbookError
from forwardbook.formula import Condition
from forwardbook.formula.condition import COMPARISONS
from forwardbook.formula.rational import Rational
from forwardbook.formula.together import Together
from forwardbook.models.program import parsed as parsed
from forwardbook.models.program import program_of
from forwardbook.models.record import PhaseCosts

Attention = Literal["dense", "executed"]
FEWEST_BITS, MOST_BITS = 2, 64
NO_STATE = "this model has no decode: it does not hand a state to a next call"


class SizesRefused(ForwardbookError):
    """Sizes or widths that mean nothing; the message lists all of them."""


class NoFormulas(ForwardbookError):
    """Sizes outside the conditions of all formulas derived so far; the message says which were not met."""


@dataclass(frozen=True)
class Widths:
    """Bits of one element of the weights, the activations and the cache."""

    w_bit: int = 16
    a_bit: int = 16
    kv_bit: int = 16

    def __post_init__(self) -> None:
        wrong = [
            f"{f.name} is {getattr(self, f.name)}"
            for f in fields(self)
            if not FEWEST_BITS <= getattr(self, f.name) <= MOST_BITS
        ]
        if wrong:
            raise SizesRefused(
                f"reading the widths: {', '.join(wrong)}; give {FEWEST_BITS} to {MOST_BITS} bits"
            )

    def in_bytes(self) -> dict[str, Fraction]:
        """The three symbols of the formulas."""
        return {
            "w_dtype_bytes": Fraction(self.w_bit, 8),
            "a_dtype_bytes": Fraction(self.a_bit, 8),
            "kv_dtype_bytes": Fraction(self.kv_bit, 8),
        }


@dataclass(frozen=True, slots=True)
class Numbers:
    """The quantities of one call, or of several added up (their `peak` is the largest)."""

    flops: Rational = 0
    pointwise_ops: Rational = 0
    reads: Rational = 0
    writes: Rational = 0
    weights: Rational = 0
    boundary: Rational = 0
    intermediates: Rational = 0
    peak: Rational = 0

    def __add__(self, other: Numbers) -> Numbers:
        added = {n: getattr(self, n) + getattr(other, n) for n in SUMMED}
        return Numbers(**added, peak=max(self.peak, other.peak))

    def __sub__(self, other: Numbers) -> Numbers:
        return Numbers(**{n: getattr(self, n) - getattr(other, n) for n in SUMMED}, peak=self.peak)

    def times(self, count: int) -> Numbers:
        """As often as said; the peak stays."""
        return Numbers(**{n: getattr(self, n) * count for n in SUMMED}, peak=self.peak)

    def whole(self) -> dict[str, int]:
        """Integers; bytes of elements narrower than a byte are rounded up at the end."""
        return {name: ceil(getattr(self, name)) for name in NAMES}

    @property
    def moved(self) -> Rational:
        """Bytes read and written."""
        return self.reads + self.writes


NAMES = tuple(f.name for f in fields(Numbers))
SUMMED = tuple(name for name in NAMES if name != "peak")


@dataclass(frozen=True, slots=True)
class Row:
    """One layer: how often it is called, one call of it, and what its own forward() adds to its parts.

    `name` is the full one, `label` the part below the layer that holds it.
    """

    name: str
    label: str
    class_name: str
    times: int
    depth: int
    one: Numbers
    own: Numbers


@dataclass(frozen=True)
class Totals:
    """One phase at one point: rows from the whole model inwards, the whole, and the bytes of the cache."""

    phase: str
    sizes: Mapping[str, int]
    widths: Widths
    attention: Attention
    rows: tuple[Row, ...]
    cache: Fraction
    unknown_masks: tuple[str, ...] = ()

    @property
    def total(self) -> Numbers:
        """The whole model."""
        return self.rows[0].one

    def by_class(self) -> dict[str, Numbers]:
        """What the forward() of each class adds itself, summed over its calls: the parts of the whole."""
        found: dict[str, Numbers] = {}
        for row in self.rows:
            found[row.class_name] = found.get(row.class_name, Numbers()) + row.own.times(row.times)
        return found


def holding(phases: Iterable[PhaseCosts], phase: str, sizes: Mapping[str, int], widths: Widths) -> PhaseCosts:
    """The formulas of a phase whose conditions hold.

    Raises:
        SizesRefused: for sizes that are missing or below 1, all of them listed.
        NoFormulas: where the conditions of none hold.
    """
    candidates = [p for p in phases if p.phase == phase]
    if not candidates:
        raise SizesRefused(NO_STATE)
    candidates = [p for p in candidates if is_same_call(p, candidates[0])]
    _checked(candidates, phase, sizes)
    broken: list[str] = []
    for candidate in candidates:
        failed = [text for text in candidate.conditions if not holds(text, sizes, widths)]
        if not failed:
            return candidate
        broken.append(" and ".join(failed))
    raise NoFormulas(f"evaluating {phase}: no formulas hold at these sizes: not met: {'; or '.join(broken)}")


def is_same_call(one: PhaseCosts, usual: PhaseCosts) -> bool:
    """Whether formulas have every size of the usual ones; those that lack one are of other inputs."""
    return {p.name for p in usual.parameters} <= {p.name for p in one.parameters}


def _checked(candidates: Sequence[PhaseCosts], phase: str, sizes: Mapping[str, int]) -> None:
    needed = [p.name for p in candidates[0].parameters]
    missing = [name for name in needed if name not in sizes]
    small = [f"{name} = {sizes[name]}" for name in needed if name in sizes and sizes[name] < 1]
    told = [f"missing: {', '.join(missing)}"] if missing else []
    told += [f"must be at least 1: {', '.join(small)}"] if small else []
    if told:
        raise SizesRefused(f"evaluating {phase}: {'; '.join(told)}")


@lru_cache(maxsize=4096)
def condition(text: str) -> Condition:
    """A condition read once."""
    return Condition.parse(text)


@lru_cache(maxsize=4096)
def _sides(text: str) -> tuple[frozenset[str], Callable[[Rational, Rational], bool], Together]:
    """The symbols of a condition, what compares its sides, and both sides made ready."""
    one = condition(text)
    return one.symbols(), COMPARISONS[one.op], Together([one.left, one.right])


def holds(text: str, sizes: Mapping[str, int], widths: Widths) -> bool:
    """Whether one condition is met; widths below a byte count as what they are."""
    symbols, compared, sides = _sides(text)
    values: dict[str, Rational] = {**sizes, **_in_bytes(widths)}
    return symbols <= values.keys() and compared(*sides.at(values))


def evaluate(
    phase: PhaseCosts, sizes: Mapping[str, int], widths: Widths, attention: Attention = "dense"
) -> Totals:
    """Every layer of a phase at one point.

    With `executed`, attention counts the pairs that causal masks and windows leave; where the shape of a mask
    is not known it stays dense, and the layers are named in `unknown_masks`.
    """
    program = program_of(phase, attention == "executed")
    found = program.at({**sizes, **_in_bytes(widths)})
    rows = []
    for layer, one, own in found.layers:
        whole_call = Numbers(*one)
        itself = whole_call if own is one else Numbers(*own)
        rows.append(
            Row(layer.name, layer.label, layer.class_name, layer.times, layer.depth, whole_call, itself)
        )
    return Totals(
        phase.phase, dict(sizes), widths, attention, tuple(rows), Fraction(found.cache), program.unknown_masks
    )


def whole(
    phase: PhaseCosts, sizes: Mapping[str, int], widths: Widths, attention: Attention = "dense"
) -> Numbers:
    """The whole model at one point: what `evaluate(...).total` is, without its layers."""
    return Numbers(*program_of(phase, attention == "executed").whole_at({**sizes, **_in_bytes(widths)}))


@lru_cache(maxsize=256)
def _in_bytes(widths: Widths) -> Mapping[str, Rational]:
    """The widths, as integers where they are whole bytes."""
    return {name: int(size) if size.denominator == 1 else size for name, size in widths.in_bytes().items()}


def leaves(rows: Iterable[Row]) -> Iterator[tuple[str, Numbers]]:
    """What adds up to the whole: each layer's own part over all its calls, under its name."""
    for row in rows:
        yield row.name, row.own.times(row.times)
