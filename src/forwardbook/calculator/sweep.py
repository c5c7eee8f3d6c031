"""Many calls at once: sizes with arrays among them in, each element's cost in its own regime out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, cast

from forwardbook.calculator.arrays import INT64_MAX, IntegerArray, exactly, flattened
from forwardbook.calculator.choice import CalculatorError, arguments, least_size
from forwardbook.calculator.formulas import LineCost, RegimeFormulas

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

Outside = Callable[[Mapping[str, int]], CalculatorError]
Formulas = Callable[[type[RegimeFormulas]], Callable[..., int]]


def evaluate_arrays(
    candidates: Sequence[type[RegimeFormulas]],
    formulas: Formulas,
    sizes: Mapping[str, int | IntegerArray],
    outside: Outside,
) -> IntegerArray:
    """The formula of the first candidate that holds, per element; an element without one is an error."""
    import numpy

    flat, shape = flattened(sizes)
    count = len(next(iter(flat.values())))
    open_elements = numpy.arange(count)
    results = numpy.zeros(count, dtype=numpy.int64).astype(numpy.object_)
    wide = False
    for regime in candidates:
        here = open_elements[_mask(regime, {name: values[open_elements] for name, values in flat.items()})]
        if len(here):
            taken = {name: values[here] for name, values in flat.items() if name in regime.parameters}
            values = numpy.asarray(_on(regime, formulas(regime), taken))
            wide = wide or values.dtype == numpy.object_
            results[here] = values
            open_elements = numpy.setdiff1d(open_elements, here, assume_unique=True)
    if len(open_elements):
        raise outside({name: int(values[open_elements[0]]) for name, values in flat.items()})
    shaped = results if wide else results.astype(numpy.int64)
    return cast("IntegerArray", shaped.reshape(shape))


def line_arrays(
    regime: type[RegimeFormulas], sizes: Mapping[str, int | IntegerArray], outside: Outside
) -> tuple[LineCost[IntegerArray], ...]:
    """The cost of each line over arrays, all of whose elements must fall into the regime."""
    import numpy

    flat, shape = flattened(sizes)
    failing = numpy.flatnonzero(~_mask(regime, flat))
    if len(failing):
        raise outside({name: int(values[failing[0]]) for name, values in flat.items()})
    named_sizes = cast(Mapping[str, IntegerArray], arguments(regime, cast(Mapping[str, int], flat)))

    def shaped(value: int) -> IntegerArray:
        dtype = numpy.int64 if -INT64_MAX <= numpy.max(value) <= INT64_MAX else object
        return cast(
            "IntegerArray", numpy.broadcast_to(numpy.asarray(value, dtype), (prod(shape),)).reshape(shape)
        )

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
        for line in exactly(regime.lines, named_sizes)
    )


def _on(regime: type[RegimeFormulas], formula: Callable[..., int], flat: Mapping[str, IntegerArray]) -> int:
    named_sizes = arguments(regime, cast(Mapping[str, int], flat))
    return exactly(formula, cast(Mapping[str, IntegerArray], named_sizes)) if named_sizes else formula()


def _mask(regime: type[RegimeFormulas], flat: Mapping[str, IntegerArray]) -> NDArray[numpy.bool_]:
    """Where every size is large enough and every condition holds."""
    import numpy

    own = {name: flat[name] for name in regime.parameters}
    count = len(next(iter(flat.values())))
    mask = numpy.ones(count, dtype=numpy.bool_)
    for name, values in own.items():
        mask &= (values >= least_size(regime, name)).astype(numpy.bool_)
    inside = {name: values[mask] for name, values in own.items()}
    if regime.conditions and mask.any() and inside:
        named_sizes = arguments(regime, cast(Mapping[str, int], inside))
        held = exactly(regime.holds, cast(Mapping[str, IntegerArray], named_sizes))
        kept = numpy.ones(int(mask.sum()), dtype=numpy.bool_)
        for condition in held:
            kept &= numpy.asarray(condition).astype(numpy.bool_)
        mask[mask] = kept
    return mask
