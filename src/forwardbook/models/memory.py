"""Formulas of a phase and of the cache in; the bytes that a call needs beside the weights out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from forwardbook.formula.rational import Rational, rational_value
from forwardbook.models.record import PhaseCosts
from forwardbook.models.totals import Widths, parsed


@dataclass(frozen=True)
class Memory:
    """Bytes of the cache when the call has ended, and of activations at the fullest moment beside it."""

    cache: Fraction
    activations: Fraction

    @property
    def total(self) -> Fraction:
        """Both."""
        return self.cache + self.activations


def memory(
    phase: PhaseCosts, sizes: Mapping[str, int], widths: Widths, decode: PhaseCosts | None = None
) -> Memory:
    """What a call needs; `decode` tells what the cache of a prefill holds.

    The live bytes of a prefill count the cache that it makes. Eager decode copies the cache to make it
    longer; what is counted here is one cache, grown in place as engines for serving do it, and activations
    beside it.
    """
    values: dict[str, Rational] = {**sizes, **widths.in_bytes()}
    peak = parsed(phase.model.costs.peak)
    if phase.phase == "decode":
        grown = {**values, "kv_len": values["kv_len"] + 1} if "kv_len" in values else values
        beside = rational_value(peak, {**values, "kv_dtype_bytes": 0})
        return Memory(rational_value(parsed(phase.cache), grown), beside)
    live = rational_value(peak, values)
    if decode is None:
        return Memory(Fraction(0), live)
    cache = rational_value(parsed(decode.cache), {**values, "kv_len": cached(sizes)})
    return Memory(cache, max(live - cache, Fraction(0)))


def cached(sizes: Mapping[str, int]) -> int:
    """The positions that a prefill of these sizes leaves in the cache."""
    return sizes.get("decoder_seq_len", sizes.get("seq_len", 1))
