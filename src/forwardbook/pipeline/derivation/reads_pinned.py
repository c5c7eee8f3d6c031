"""Patterns that fail in; out the same at the numbers that Python took out of floats, where that is why.

Code that no analysis follows (a format, an array of numbers) may round a size and hand on what is left. The
formulas of the run hold where it hands on the same: that is said of the size, on both sides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from forwardbook.formula import Condition
from forwardbook.pipeline.derivation.counts_bounded import bounded
from forwardbook.pipeline.derivation.derived import Derived, with_counts_said
from forwardbook.profiling.proof import prove


def with_reads_pinned(
    derived: Sequence[Derived],
    first: Sequence[Derived],
    numbers: Mapping[str, int],
    seed: int,
    points: int,
    held: Sequence[Condition],
) -> list[Derived]:
    """What is `derived`; where that fails and numbers were read, what the run gave `first` for these."""
    found = list(derived)
    failed = [i for i, one in enumerate(derived) if not one.exact and one.pattern.reads]
    if not failed:
        return found
    patterns = [bounded(first[i].pattern, first[i].pattern.reads) for i in failed]
    one = first[0]
    proofs = prove(one.recipe, patterns, numbers, one.dtype, seed, points, held)
    for i, pattern, proof in zip(failed, patterns, proofs, strict=True):
        again = with_counts_said(replace(first[i], pattern=pattern, proof=proof))
        found[i] = again if again.exact else found[i]
    return found
