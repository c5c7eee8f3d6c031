"""Sizes with arrays among them in; arrays of the costs at each point out, exact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, cast

import numpy
from pydantic import JsonValue

from forwardbook.calculator.arrays import INT64_MAX, IntegerArray, flattened
from forwardbook.entries.cost_model import CostModel
from forwardbook.schema import QUANTITIES

Sizes: TypeAlias = Mapping[str, "int | IntegerArray"]


def sweep(
    model: CostModel,
    name: str,
    sizes: Sizes,
    signature: str | None = None,
    choices: Mapping[str, JsonValue] | None = None,
) -> dict[str, IntegerArray]:
    """Each quantity at every point of the arrays, which broadcast together; int64 where all values fit.

    Points are evaluated one by one: equal calls within them are evaluated once, whatever point they are of.

    Raises:
        OutsideRegimes: no regime holds at one of the points.
    """
    flat, shape = flattened(sizes)
    arrays = {name: size.tolist() for name, size in flat.items() if not isinstance(size, int)}
    numbers = {name: size for name, size in flat.items() if isinstance(size, int)}
    rows = zip(*arrays.values(), strict=True) if arrays else [()]
    points = [{**numbers, **dict(zip(arrays, row, strict=True))} for row in rows]
    found = [model.evaluate(name, one, signature, choices).costs for one in points]
    return {one: _array([getattr(costs, one) for costs in found], shape) for one in QUANTITIES}


def _array(values: list[int], shape: tuple[int, ...]) -> IntegerArray:
    fits = all(abs(value) <= INT64_MAX for value in values)
    array = numpy.array(values, dtype=numpy.int64 if fits else object).reshape(shape)
    return cast("IntegerArray", array)
