"""Many calls at once: sizes with arrays among them in, each element's cost in its own regime out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, TypeAlias, cast

from forwardbook.calculator.arrays import INT64_MAX, IntegerArray, exactly, flattened
from forwardbook.calculator.choice import CalculatorError
from forwardbook.calculator.formulas import LineCost, RegimeFormulas

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

Sizes: TypeAlias = Mapping[str, "int | IntegerArray"]
Outside = Callable[[Mapping[str, int]], CalculatorError]
Formulas = Callable[[type[RegimeFormulas]], Callable[..., int]]


def evaluate_arrays(
    candidates: Sequence[type[RegimeFormulas]], formulas: Formulas, sizes: Sizes, outside: Outside
) -> IntegerArray:
    """The formula of the first candidate that holds, per element; an element without one is an error."""
    import numpy

    flat, shape = flattened(sizes)
    results = numpy.zeros(prod(shape), dtype=numpy.int64)
    is_open = numpy.ones(prod(shape), dtype=numpy.bool_)
    for regime in candidates:
        here = numpy.flatnonzero(is_open & _mask(regime, flat))
        if len(here):
            chosen = flat if len(here) == len(is_open) else _at(flat, here)
            values = numpy.asarray(exactly(formulas(regime), regime.arguments(chosen)))
            if not _fits(values):
                results = results.astype(numpy.object_)
            results[here] = values
            is_open[here] = False
    if is_open.any():
        raise outside(_first(flat, is_open))
    return cast("IntegerArray", results.reshape(shape))


def line_arrays(
    regime: type[RegimeFormulas], sizes: Sizes, outside: Outside
) -> tuple[LineCost[IntegerArray], ...]:
    """The cost of each line over arrays, all of whose elements must fall into the regime."""
    import numpy

    flat, shape = flattened(sizes)
    mask = _mask(regime, flat)
    if not mask.all():
        raise outside(_first(flat, ~mask))

    def shaped(value: int) -> IntegerArray:
        values = numpy.asarray(value)
        values = values.astype(numpy.int64 if _fits(values) else numpy.object_)
        return cast("IntegerArray", numpy.broadcast_to(values, (prod(shape),)).reshape(shape))

    return tuple(
        LineCost(
            line.line,
            line.end_line,
            line.code,
            shaped(line.flops),
            shaped(line.pointwise_ops),
            shaped(line.reads),
            shaped(line.writes),
        )
        for line in exactly(regime.lines, regime.arguments(flat))
    )


def _mask(regime: type[RegimeFormulas], flat: Sizes) -> NDArray[numpy.bool_]:
    """Where every size is large enough and every condition holds."""
    import numpy

    count = max((len(value) for value in flat.values() if not isinstance(value, int)), default=1)
    mask = numpy.ones(count, dtype=numpy.bool_)
    for name, least in regime.least_sizes.items():
        mask &= numpy.asarray(flat[name] >= least).astype(numpy.bool_)
    if not regime.conditions or not mask.any():
        return mask
    inside = numpy.flatnonzero(mask)
    chosen = flat if len(inside) == count else _at(flat, inside)
    for held in exactly(regime.holds, regime.arguments(chosen)):
        mask[inside] &= numpy.asarray(held).astype(numpy.bool_)
    return mask


def _at(flat: Sizes, places: NDArray[numpy.intp]) -> dict[str, int | IntegerArray]:
    return {name: value if isinstance(value, int) else value[places] for name, value in flat.items()}


def _first(flat: Sizes, mask: NDArray[numpy.bool_]) -> dict[str, int]:
    place = int(mask.argmax())
    return {name: value if isinstance(value, int) else int(value[place]) for name, value in flat.items()}


def _fits(values: NDArray[numpy.int64] | NDArray[numpy.object_]) -> bool:
    """Whether the values are or can become integers of 64 bits."""
    if values.dtype != object:
        return True
    return values.size == 0 or bool(max(abs(values.max()), abs(values.min())) <= INT64_MAX)
