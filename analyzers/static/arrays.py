"""NumPy as sources use it around torch: its functions of plain numbers, their results as Python's own values.

No array of NumPy's reaches the interpreted source: its type takes bytes for addresses of objects, and a type
can be called by whatever takes a function. A row of numbers is a list to which a number can be added; other
arithmetic is refused, rather than that of lists.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import Any, Final

import numpy as np

from forwardbook.analyzers.static.opaque import Plain
from forwardbook.analyzers.static.unresolved import Unresolved

_MOST_ITEMS: Final = 10_000_000  # of one row, as of one repeated list
_OF_A_NUMBER: Final = ("ceil", "cos", "exp", "floor", "log", "log10", "log2", "sign", "sin", "sqrt")
_ARITHMETIC: Final = (
    "radd", "iadd", "rsub", "mul", "rmul", "imul", "truediv", "rtruediv", "floordiv",
    "rfloordiv", "mod", "rmod", "pow", "rpow", "neg", "matmul", "eq", "ne", "lt", "le", "gt", "ge",
)  # fmt: skip


class Array:
    """`numpy.ndarray`: a type to ask for; it makes nothing."""

    def __new__(cls, *args: object, **kwargs: object) -> Array:
        raise Unresolved(f"numpy.{cls.__name__} is not followed: its work is done by compiled code")


class Scalar(Array):
    """`numpy.generic`, of which the source gets none: results are Python's numbers."""


class Row(list[float], Array):
    """What `linspace` and `arange` give: to be gone through, indexed, and made a tensor of."""

    __new__ = list.__new__  # type: ignore[assignment]

    def __add__(self, other: object) -> Row:  # type: ignore[override]
        row: Row = Row([one + _number(other, "ndarray.__add__") for one in self])
        return row

    def __sub__(self, other: object) -> Row:
        row: Row = Row([one - _number(other, "ndarray.__sub__") for one in self])
        return row

    def tolist(self) -> list[float]:
        """The numbers."""
        return list(self)


def _number(value: object, name: str) -> float:
    """The value, which is a plain number."""
    if type(value) is int or type(value) is float:
        return value
    raise Unresolved(f"numpy.{name} of {type(value).__name__} is not followed", operation=f"numpy.{name}")


def _refused(name: str) -> Callable[..., Any]:
    def refused(self: Row, *_: object) -> Any:
        raise Unresolved(f"numpy.ndarray.{name} is not followed: its work is done by compiled code")

    return refused


for _name in _ARITHMETIC:
    setattr(Row, f"__{_name}__", _refused(f"__{_name}__"))


def _of_a_number(name: str) -> Callable[[float], Any]:
    """NumPy's function of one number, its result Python's."""
    function = getattr(np, name)

    def result(value: float) -> Any:
        return function(_number(value, name)).item()

    return result


def prod(values: Iterable[Any]) -> Any:
    """`numpy.prod` of numbers, symbolic ones among them."""
    return math.prod(_flat(values, "prod"))


def cumsum(values: Iterable[Any]) -> Row:
    """`numpy.cumsum` of numbers, symbolic ones among them."""
    row: Row = Row(list(accumulate(_flat(values, "cumsum"))))
    return row


def _flat(values: Iterable[Any], name: str) -> list[Any]:
    flat = list(values) if isinstance(values, list | tuple) else [values]
    if any(isinstance(one, list | tuple) for one in flat):
        raise Unresolved(f"numpy.{name} of rows of rows is not followed", operation=f"numpy.{name}")
    return flat


def linspace(start: float, stop: float, num: int = 50) -> Row:
    """`numpy.linspace` of plain numbers."""
    return _row("linspace", num, lambda: np.linspace(start, stop, num))


def arange(start: float, stop: float | None = None, step: float = 1) -> Row:
    """`numpy.arange` of plain numbers."""
    first, last = (0, start) if stop is None else (start, stop)
    return _row("arange", (last - first) / step if step else 0, lambda: np.arange(first, last, step))


def _row(name: str, items: float, make: Callable[[], Any]) -> Row:
    if items > _MOST_ITEMS:
        raise Unresolved(f"numpy.{name} of more than {_MOST_ITEMS} numbers", operation=f"numpy.{name}")
    row: Row = Row(make().tolist())
    return row


NUMPY: Final = Plain(
    prod=prod,
    cumsum=cumsum,
    linspace=linspace,
    arange=arange,
    ndarray=Array,
    newaxis=None,
    **dict.fromkeys(("generic", "number", "integer", "floating"), Scalar),
    **{name: _of_a_number(name) for name in _OF_A_NUMBER},
    **{name: getattr(math, name) for name in ("pi", "e", "inf", "nan")},
)
"""What stands in for the package; any other name of it may be named, not used."""
