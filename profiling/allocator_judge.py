"""The CPU allocator's events in one unwatched call against our account of live storage."""

from __future__ import annotations

from typing import Final

from forwardbook.analyzers.symbolic.summary import forward_code, short_file
from forwardbook.profiling.allocations import Allocations
from forwardbook.profiling.case import Case, opinion
from forwardbook.profiling.cpu_kernels import OTHER_RESULTS, with_our_results, without_workspaces
from forwardbook.profiling.live_storage import alive_by_line, first_apart, line_of_peak, storages_of
from forwardbook.schema import Judge

ALLOCATOR: Final = "torch.profiler memory, CPU"


def of_peak(case: Case, theirs: Allocations, names: frozenset[str]) -> Judge:
    """What a call in which the CPU allocated this, and operations of these names ran, says of our peak.

    What kernels of the CPU have for themselves is in neither number. Where the two differ, the judge says at
    which line they part; where that cannot be known, at which our peak stands.
    """
    said = case.measured["peak"]
    plain, left_out = without_workspaces(theirs, names)
    if plain.peak() == said and not names & OTHER_RESULTS.keys():
        return opinion(ALLOCATOR, "peak", said, said, left_out)
    recorded = storages_of(*case.recorded)
    ours, other, more = with_our_results(recorded, plain)
    mine = said - recorded.peak() + ours.peak()  # what is said may not be what was recorded
    judge = opinion(ALLOCATOR, "peak", mine, other.peak(), [*left_out, *more])
    return judge.model_copy(update=_place(case, recorded, names)) if judge.disagrees else judge


def _place(case: Case, recorded: Allocations, names: frozenset[str]) -> dict[str, object]:
    """Where the two accounts part, by a second run that notes its lines; else where our peak stands."""
    forward = forward_code(case.recorded[1].kind)
    try:
        plain, _ = without_workspaces(case.allocations(with_frames=True), names)
        ours, theirs, _ = with_our_results(recorded, plain)
        line = first_apart(alive_by_line(ours, forward), alive_by_line(theirs, forward))
    except Exception:  # noqa: BLE001 - it ran once; a profiler that fails at its frames takes no number away
        line = None
    if line is not None:
        return {"file": short_file(forward[0]), "line": line, "line_is": "difference"}
    file, line = line_of_peak(recorded)
    return {"file": short_file(file), "line": line, "line_is": "peak"} if line else {}
