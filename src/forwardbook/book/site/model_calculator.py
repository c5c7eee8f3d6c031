"""A model's formulas in; its live calculator out: phases are regimes, sizes of a call the inputs."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from forwardbook.book.site.data import EAGER, Calculator, CalculatorRegime, Input, Part
from forwardbook.book.site.model_subject import WIDTHS, ModelSubject
from forwardbook.book.site.quantities import QUANTITY_LIST
from forwardbook.models.record import PhaseCosts
from forwardbook.models.sweep import own_work
from forwardbook.models.totals import whole
from forwardbook.schema import QUANTITIES, WIDTH_NAMES, Parameter


def model_calculator(
    subject: ModelSubject, points: Mapping[str, tuple[PhaseCosts, dict[str, int]]]
) -> Calculator:
    """The calculator, beginning at the first of the given points."""
    phases = subject.costs.phases
    parameters = {each.name: each for phase in phases for each in phase.parameters}
    widths = {
        name: Parameter(name=name, meaning="bytes of one element", source="number format")
        for name in WIDTH_NAMES
    }
    start, sizes = next(iter(points.values()), (None, {}))
    given = {**sizes, **{name: int(size) for name, size in WIDTHS.in_bytes().items()}}
    found = whole(start, sizes, WIDTHS) if start else None
    return Calculator(
        key=subject.costs.model_id,
        class_name=subject.costs.model_class.rpartition(".")[2],
        quantities=QUANTITY_LIST,
        inputs=tuple(
            Input(
                name=each.name,
                meaning=each.meaning,
                source=each.source,
                default=str(given.get(each.name, "")),
            )
            for each in (parameters | widths).values()
        ),
        bits=WIDTH_NAMES,
        regimes=tuple(_regime(phase, number, phases) for number, phase in enumerate(phases)),
        regime=_name(start, phases.index(start), phases) if start else "",
        expected={name: str(ceil(getattr(found, name))) for name in QUANTITIES} if found else {},
        by_part=EAGER,
    )


def _regime(phase: PhaseCosts, number: int, phases: list[PhaseCosts]) -> CalculatorRegime:
    costs = phase.model.costs
    return CalculatorRegime(
        name=_name(phase, number, phases),
        conditions=tuple(phase.conditions),
        parameters=(*(each.name for each in phase.parameters), *WIDTH_NAMES),
        formulas={name: str(getattr(costs, name)) for name in QUANTITIES},
        parts=_parts(phase),
    )


def _parts(phase: PhaseCosts) -> tuple[Part, ...]:
    """What the layers do themselves; those that do the same are one part."""
    found: dict[tuple[str, str], int] = {}
    for times, flops, moved in own_work(phase.model, "dense"):
        if flops or moved:
            key = str(flops), str(moved)
            found[key] = found.get(key, 0) + times
    return tuple(Part(times=n, flops=flops, moved=moved) for (flops, moved), n in found.items())


def _name(phase: PhaseCosts, number: int, phases: list[PhaseCosts]) -> str:
    """The phase, numbered where there are several of its kind."""
    before = sum(each.phase == phase.phase for each in phases[:number])
    return phase.phase if not before else f"{phase.phase} {before + 1}"
