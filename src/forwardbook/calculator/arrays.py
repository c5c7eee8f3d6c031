"""Formulas over arrays: a formula written for integers in, the same formula exact over NumPy arrays out."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Final, SupportsIndex, TypeAlias, TypeVar, cast

from forwardbook.calculator.choice import CalculatorError

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

IntegerArray: TypeAlias = "NDArray[numpy.int64] | NDArray[numpy.object_]"
Result = TypeVar("Result")

INT64_MAX: Final = 2**63 - 1


def least(*values: int) -> int:
    """The smallest of the values; elementwise where one is an array."""
    return min(values) if all(type(value) is int for value in values) else _elementwise("minimum", values)


def greatest(*values: int) -> int:
    """The largest of the values; elementwise where one is an array."""
    return max(values) if all(type(value) is int for value in values) else _elementwise("maximum", values)


def exactly(formula: Callable[..., Result], sizes: Mapping[str, int | IntegerArray]) -> Result:
    """The formula over arrays: in int64 where a bound on each step fits, else in Python's integers."""
    import numpy

    reach = Reach()
    formula(**{name: Bound(_magnitude(size), reach) for name, size in sizes.items()})
    dtype = numpy.int64 if reach.largest <= INT64_MAX else numpy.object_
    with numpy.errstate(divide="raise"):
        return formula(**{name: _as(size, dtype) for name, size in sizes.items()})


def is_array(value: object) -> bool:
    """Whether a size is an array and not a single number."""
    return not isinstance(value, int) and getattr(value, "shape", ()) != ()


def flattened(
    sizes: Mapping[str, int | IntegerArray],
) -> tuple[dict[str, int | IntegerArray], tuple[int, ...]]:
    """The arrays among the sizes as arrays of one length, and the shape to which they broadcast together."""
    import numpy

    for name, size in sizes.items():
        if is_array(size) and not _is_integral(cast("IntegerArray", size)):
            raise CalculatorError(f"evaluating at {name}={size!r}: sizes are whole numbers or arrays of them")
    arrays = {name: numpy.asarray(size) for name, size in sizes.items() if is_array(size)}
    shape = numpy.broadcast_shapes(*(array.shape for array in arrays.values()))
    flat = {name: numpy.broadcast_to(array, shape).reshape(-1) for name, array in arrays.items()}
    numbers = {name: whole(name, size) for name, size in sizes.items() if name not in arrays}
    return cast("dict[str, int | IntegerArray]", {**numbers, **flat}), shape


def whole(name: str, size: object) -> int:
    """A size that is a single number, as Python's integer."""
    try:
        return operator.index(cast(SupportsIndex, size))
    except TypeError:
        problem = f"evaluating at {name}={size!r}: sizes are whole numbers or arrays of them"
        raise CalculatorError(problem) from None


class Reach:
    """The largest magnitude that any step of a formula can reach."""

    largest: int = 0


class Bound:
    """Any number up to a magnitude: a formula run on bounds tells how large its steps can become."""

    __slots__ = ("magnitude", "reach")

    def __init__(self, magnitude: int, reach: Reach) -> None:
        self.magnitude = magnitude
        self.reach = reach
        reach.largest = max(reach.largest, magnitude)

    def _sum(self, other: Bound | int) -> Bound:
        return Bound(self.magnitude + magnitude_of(other), self.reach)

    def __mul__(self, other: Bound | int) -> Bound:
        return Bound(self.magnitude * magnitude_of(other), self.reach)

    def __floordiv__(self, other: Bound | int) -> Bound:
        return Bound(self.magnitude, self.reach)  # |a // b| <= |a| for every whole b but 0

    def __rfloordiv__(self, other: int) -> Bound:
        return Bound(abs(other), self.reach)

    def __mod__(self, other: Bound | int) -> Bound:
        return Bound(magnitude_of(other), self.reach)

    def __rmod__(self, other: int) -> Bound:
        return Bound(self.magnitude, self.reach)

    def __neg__(self) -> Bound:
        return self

    def _compare(self, other: object) -> bool:
        return True

    __add__ = __radd__ = __sub__ = __rsub__ = _sum
    __rmul__ = __mul__
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _compare


def magnitude_of(value: Bound | int) -> int:
    """The largest magnitude a value can have."""
    return value.magnitude if isinstance(value, Bound) else abs(value)


def _magnitude(size: int | IntegerArray) -> int:
    if isinstance(size, int):
        return abs(size)
    return max(abs(int(size.max())), abs(int(size.min()))) if size.size else 0


def _as(size: int | IntegerArray, dtype: type[numpy.generic]) -> object:
    return size if isinstance(size, int) else size.astype(dtype, copy=False)


def _is_integral(array: IntegerArray) -> bool:
    return array.dtype.kind in "iu" or all(isinstance(value, int) for value in array.flat)


def _elementwise(operation: str, values: tuple[int, ...]) -> int:
    reach = next(
        (value.reach for value in cast("tuple[int | Bound, ...]", values) if isinstance(value, Bound)), None
    )
    if reach is not None:
        return cast(int, Bound(max(magnitude_of(value) for value in values), reach))
    import numpy

    combine: Callable[[int, int], int] = getattr(numpy, operation)
    return reduce(combine, values)
