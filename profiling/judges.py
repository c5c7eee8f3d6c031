"""Second opinions that share no rule with us: torch's flop counter, its CPU allocator, the parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from forwardbook.profiling.allocator_judge import ALLOCATOR, of_peak
from forwardbook.profiling.case import Case, opinion, silence
from forwardbook.profiling.counted import Counted
from forwardbook.profiling.counter_judge import COUNTER, of_flops
from forwardbook.profiling.raised import first_line_kept
from forwardbook.schema import Judge

PARAMETERS: Final = "parameters of the module"
LONGEST: Final = 20_000_000_000
"""flops of a whole run above which the CPU takes more than a second or two."""


def ask(
    case: Case, operations: Iterable[str], of_data: Sequence[str] = (), decided: Sequence[str] = ()
) -> list[Judge]:
    """What each judge says of one call, in which `operations` ran.

    A run with weights has sizes `of_data` of its own, so that nobody can hold it against ours. What was
    `decided` of data for us it decides by its own: it may go the other way, and says nothing of ours then.
    A judge without an opinion was asked 0 times, and its remark says why. What it cannot see of a call is in
    its remark, by operation, and in neither of the two numbers.
    """
    names = frozenset(operations)
    try:
        counted = case.counted()
    except Exception as error:  # noqa: BLE001 - analysed code may raise anything without our fused operations
        reason = _reason(error)
        flops, weights = silence(COUNTER, "flops", reason), silence(PARAMETERS, "weights", reason)
        refused = ""
    else:
        flops, weights = of_flops(case, counted, names), _of_weights(case, counted)
        refused = f"the run takes {counted.run_flops:,} flops" if counted.run_flops > LONGEST else ""
    refused = refused or (f"data decides {', '.join(of_data)} there" if of_data else "")
    if refused:
        return [flops, weights, silence(ALLOCATOR, "peak", refused)]
    try:
        theirs = case.allocations()
    except Exception as error:  # noqa: BLE001 - analysed code may raise anything on the CPU
        return [flops, weights, silence(ALLOCATOR, "peak", _reason(error))]
    peak = of_peak(case, theirs, names)
    if decided and peak.disagrees:
        peak = silence(ALLOCATOR, "peak", f"its data may decide otherwise: {'; '.join(decided)}")
    return [flops, weights, peak]


def _of_weights(case: Case, counted: Counted) -> Judge:
    left_out = [f"{', '.join(counted.untouched)}: the call does not touch them"] if counted.untouched else []
    return opinion(PARAMETERS, "weights", case.measured["weights"], counted.weights, left_out)


def _reason(error: Exception) -> str:
    return f"it could not run the call: {first_line_kept(error)}"
