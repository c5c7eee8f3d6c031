"""torch's own count of floating-point operations against ours, without what it does not know."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Final, cast

from torch.utils.flop_counter import flop_registry

from forwardbook.analyzers.ops import Size, rules
from forwardbook.analyzers.symbolic.summary import executed, forward_code, frames_below, short_file
from forwardbook.analyzers.symbolic.trace import OperationRecord
from forwardbook.formula import Expr
from forwardbook.profiling.case import Case, opinion, silence
from forwardbook.profiling.counted import Counted
from forwardbook.profiling.live_storage import first_apart, statement_at
from forwardbook.schema import Judge

COUNTER: Final = "torch.utils.flop_counter"

# The files of rules whose operations may have flops; of these torch's counter knows what its own table names.
CONTRACTING = ("attention.py", "convolution.py", "grouped.py", "linalg.py", "matmul.py", "recurrent.py")
ELSEWHERE = ("aten.affine_grid_generator", "torch_nn._linear_cross_entropy_batch_chunked")
# One operation with us, which torch takes apart into products that it counts.
DECOMPOSED = ("forwardbook.sdpa", "forwardbook.recurrent")
# The same on meta, where torch has no fast path.
DECOMPOSED_ON_META = {"aten._native_multi_head_attention", "aten._transformer_encoder_layer_fwd"}


@cache
def uncounted() -> frozenset[str]:
    """Operations that may have flops and that torch's counter does not know."""
    ours = {name for record in rules() if record.source in CONTRACTING for name in record.names}
    known = {str(packet) for packet in flop_registry} | set(DECOMPOSED)
    return frozenset((ours | set(ELSEWHERE)) - known)


def of_flops(case: Case, counted: Counted, names: frozenset[str]) -> Judge:
    """What the counter says of a call in which operations of these names ran.

    Those that it does not know are in neither number; where nothing else has any flops, it has no opinion.
    """
    holes, ours = sorted(names & uncounted() - DECOMPOSED_ON_META), case.measured["flops"]
    if not holes and ours == counted.flops:
        return opinion(COUNTER, "flops", ours, ours)
    unknown = sum(map(_flops, _operations(case, holes, known=False)))
    said = f"it does not count {', '.join(holes)}"
    if holes and ours - unknown == counted.flops == 0:
        return silence(COUNTER, "flops", said)
    left_out = [f"{said}: {unknown:,} flops"] if holes else []
    judge = opinion(COUNTER, "flops", ours - unknown, counted.flops, left_out)
    if not judge.disagrees or (line := _line(case, counted, holes)) is None:
        return judge
    file = short_file(forward_code(case.recorded[1].kind)[0])
    return judge.model_copy(update={"file": file, "line": line, "line_is": "difference"})


def _line(case: Case, counted: Counted, holes: list[str]) -> int | None:
    """The first line of forward() of which the two say different amounts, if any is known."""
    trace, call = case.recorded
    file, function = forward_code(call.kind)
    ours, theirs = Counter[int](), Counter[int]()
    for one in _operations(case, holes, known=True):
        place = executed(frames_below(trace, call, one)[0], (file, function))[0]
        ours[statement_at(file, place.line)] += _flops(one)
    for number, flops in counted.lines.items():
        theirs[statement_at(file, number)] += flops
    return first_apart(ours, theirs) or None


def _operations(case: Case, holes: list[str], *, known: bool) -> list[OperationRecord]:
    trace, call = case.recorded
    return [one for one in trace.of(call) if (one.name in holes) != known]


def _flops(operation: OperationRecord) -> int:
    return Expr.of(cast("Size", operation.cost.flops)).const_value()
