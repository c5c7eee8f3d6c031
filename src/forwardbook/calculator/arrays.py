"""Formulas over arrays: a formula written for integers in, the same formula exact over NumPy arrays out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar, cast

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


def exactly(formula: Callable[..., Result], sizes: Mapping[str, IntegerArray]) -> Result:
    """The formula over arrays: in int64 where a bound on each step fits, else in Python's integers."""
    import numpy

    reach = Reach()
    formula(**{name: Bound(_magnitude(values), reach) for name, values in sizes.items()})
    dtype = numpy.int64 if reach.largest <= INT64_MAX else numpy.object_
    with numpy.errstate(divide="raise"):
        return formula(**{name: values.astype(dtype) for name, values in sizes.items()})


def is_array(value: object) -> bool:
    """Whether a size is an array and not a single number."""
    return not isinstance(value, int) and getattr(value, "shape", ()) != ()


def flattened(sizes: Mapping[str, object]) -> tuple[dict[str, IntegerArray], tuple[int, ...]]:
    """The sizes as arrays of one length, and the shape to which they broadcast together."""
    import numpy

    arrays = {
        name: numpy.asarray(value, dtype=None if is_array(value) else object) for name, value in sizes.items()
    }
    for name, array in arrays.items():
        if array.dtype.kind not in "iu" and not all(isinstance(value, int) for value in array.flat):
            raise CalculatorError(
                f"evaluating at {name}: an array of {array.dtype} was given; sizes are whole numbers"
            )
    shape = numpy.broadcast_shapes(*(array.shape for array in arrays.values()))
    flat = {name: numpy.broadcast_to(array, shape).reshape(-1) for name, array in arrays.items()}
    return cast("dict[str, IntegerArray]", flat), shape


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


def _magnitude(values: IntegerArray) -> int:
    return max(abs(int(values.max())), abs(int(values.min()))) if values.size else 0


def _elementwise(operation: str, values: tuple[int, ...]) -> int:
    reach = next(
        (value.reach for value in cast("tuple[int | Bound, ...]", values) if isinstance(value, Bound)), None
    )
    if reach is not None:
        return cast(int, Bound(max(magnitude_of(value) for value in values), reach))
    import numpy

    combine: Callable[[int, int], int] = getattr(numpy, operation)
    return reduce(combine, values)
