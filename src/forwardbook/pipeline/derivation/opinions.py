"""Asks independent judges of a proved regime: torch's counter, the CPU allocator's events, the parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from forwardbook.analyzers.reader import Facts
from forwardbook.errors import own_type
from forwardbook.pipeline.derivation.explore import FULL
from forwardbook.pipeline.derivation.found import Found
from forwardbook.profiling.case import Case
from forwardbook.profiling.judges import ask
from forwardbook.profiling.proof import Point, widths_of
from forwardbook.saying import DATA, is_decided
from forwardbook.schema import Judge


def judges_of(facts: Facts) -> Callable[[Found], Sequence[Judge]]:
    """Who is asked of a regime: nobody where a `while` over data might never end on the data of a judge."""
    loops = facts.forward is not None and any(not loop.target for loop in facts.forward.loops)

    def judged(found: Found) -> Sequence[Judge]:
        assumed = (text for one in (found.derived, *found.also) for text in one.pattern.assumptions)
        return () if loops and any(text.startswith(DATA) for text in assumed) else opinions(found)

    return judged


def opinions(found: Found) -> list[Judge]:
    """What the judges say at the smallest float32 point; none where the regime was not proved in float32."""
    derived = next((d for d in (*found.also, found.derived) if d.dtype == FULL), None)
    if derived is None:
        return []
    points = [p for p in derived.proof.points if _true_widths(p) and not p.differences]
    if not points:
        return []
    point = min(points, key=_volume)
    names = {n: v for n, v in point.sizes.items() if n in derived.notes}
    of_data = [name for name in names if derived.notes[name].is_of_data]
    operations = [name for line in derived.pattern.summary.lines for name, _ in line.operations]
    pattern = derived.pattern
    try:
        call = Case(derived.recipe, names, FULL, pattern.path, pattern.occurrence, point.measured)
        return ask(call, operations, of_data, [text for text in pattern.assumptions if is_decided(text)])
    except Exception as error:  # noqa: BLE001 - the module may refuse the CPU; then nobody has an opinion
        remark = f"could not be asked: {own_type(error)}"
        return [Judge(name="judges", quantity="all", agreed=0, asked=0, remark=remark)]


def _true_widths(point: Point) -> bool:
    return all(point.sizes.get(name) == width for name, width in widths_of(FULL).items())


def _volume(point: Point) -> int:
    """How much a run at these sizes moves; the judges really run it."""
    return point.measured["reads"] + point.measured["weights"]
