"""Lets ordinary Python accept symbolic integers: `int()`, `isinstance`, `hash`, `math`, initialisers."""

from __future__ import annotations

import json
import linecache
import numbers
import sys
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager
from types import FrameType

import torch
import torch.nn.init

from forwardbook.analyzers.symbolic.followed import Symbolic, applied
from forwardbook.analyzers.symbolic.lookups import MANY, is_only_told, looked_up
from forwardbook.analyzers.symbolic.node import FUNCTIONS
from forwardbook.saying import SPELLED


def _number(value: Symbolic) -> float:
    """What `float()` gives, which must be a plain number: that it was needed is written down."""
    value.node.ledger.record(value.node, real=True)
    return float(value.node.hint)


def _written(value: Symbolic, how: str) -> str:
    """A text with the number of this run; one that may be read back as a number is written down as needed."""
    if not how:
        return _text(value, sys._getframe(1))
    _spelled(value, sys._getframe(1))
    return format(value.node.hint, how)


def _said(value: Symbolic) -> str:
    return _text(value, sys._getframe(1))


def _text(value: Symbolic, frame: FrameType) -> str:
    """The name of a size where people read it; elsewhere its number, which is written down as needed."""
    if is_only_told(frame):
        return str(value.node)
    _spelled(value, frame)
    text = _Text(value.node.hint)
    text.size = value
    return text


def _spelled(value: Symbolic, frame: FrameType) -> None:
    """Writes down that a text holds the number: nothing follows what is read out of that."""
    value.node.ledger.record(value.node, real=True)
    if not is_only_told(frame):
        line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
        value.node.ledger.spell(f"{SPELLED}`{line}`", frame)


class _Text(str):
    """The number of a size as a text by itself; what it is compared with is written down."""

    size: Symbolic

    def __hash__(self) -> int:
        _compared(self.size, looked_up(sys._getframe(1), str))
        return super().__hash__()

    def __len__(self) -> int:
        digits = super().__len__()
        bool(self.size >= 10 ** (digits - 1)), bool(self.size < 10**digits)
        return digits

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) and other.isdecimal():
            _compared(self.size, {int(other)})
        return super().__eq__(other)


def _hashed(value: Symbolic) -> int:
    """The hash of the number; that it is or is not among the numbers of a table is written down."""
    _compared(value, looked_up(sys._getframe(1), int))
    return hash(value.node.hint)


def _compared(value: Symbolic, keys: Set[int]) -> None:
    """Writes down which of the keys the size is, or that it is none; of many, between which it is."""
    hint = value.node.hint
    if hint in keys or len(keys) <= MANY:
        any(bool(value == key) for key in ([hint] if hint in keys else sorted(keys)))
        return
    below, above = [key for key in keys if key < hint], [key for key in keys if key > hint]
    bool(value > max(below)) if below else None
    bool(value < min(above)) if above else None


def _itself(value: Symbolic, *rest: object) -> Symbolic:
    return value


def _bits(value: torch.SymInt) -> torch.SymInt:
    node = value.node
    return torch.SymInt(node.ledger.apply("bit_length", (node,), int(node.hint).bit_length(), int))


def _nearest(value: Symbolic, digits: int | None = None) -> Symbolic:
    """What `round()` gives: an integer is round already, but for digits before the point."""
    node, kind = value.node, type(value)
    if digits is None:
        return value if kind is torch.SymInt else torch.SymInt(node.round())
    if kind is torch.SymInt and digits >= 0:
        return value
    given = node.ledger.constant(digits, int)
    return kind(node.ledger.apply("round_to", (node, given), round(node.hint, digits), node.pytype))


def _is_float(value: object) -> bool:
    return isinstance(value, float | torch.SymFloat)


def _floor_divided(left: object, right: object) -> Symbolic:
    """`left // right` with a float among them, which Python divides exactly before it rounds down."""
    one, other = torch.sym_float(left), torch.sym_float(right)
    known = next(value for value in (one, other) if isinstance(value, torch.SymFloat)).node
    top, bottom = (
        value.node if isinstance(value, torch.SymFloat) else known.wrap_float(value) for value in (one, other)
    )
    found = top.number // bottom.number
    return torch.SymFloat(known.ledger.apply("float_floordiv", (top, bottom), found, float))


def _divided(kind: type[Symbolic], name: str, turned: bool) -> Callable[[Symbolic, object], object]:
    """`//` of torch's numbers; with a float among them Python's own."""
    whole = getattr(kind, name)

    def divide(value: Symbolic, other: object) -> object:
        if not isinstance(other, int | float | Symbolic):
            return NotImplemented
        if _is_float(value) or _is_float(other):
            return _floor_divided(other, value) if turned else _floor_divided(value, other)
        return whole(value, other)

    return divide


_BOTH: dict[str, Callable[..., object]] = {
    "__deepcopy__": _itself,
    "__copy__": _itself,
    "__hash__": _hashed,
    "__str__": _said,
    "__float__": _number,
    "__format__": _written,
    "__round__": _nearest,
    "__divmod__": lambda value, other: (value // other, value % other),
    "__rdivmod__": lambda value, other: (other // value, other % value),
    **{name: applied(name) for name in FUNCTIONS},
}
_INTEGERS: dict[str, object] = {
    **dict.fromkeys(("__ceil__", "__floor__", "__trunc__"), _itself),
    "bit_length": _bits,
    "numerator": property(_itself),
    "denominator": property(lambda value: 1),
}
_DIVISIONS = {
    (kind, name): _divided(kind, name, turned)
    for kind in (torch.SymInt, torch.SymFloat)
    for name, turned in (("__floordiv__", False), ("__rfloordiv__", True))
}


def teach_torch() -> None:
    """Gives torch's symbolic numbers what numbers have: hash, float, copy, floor, NumPy's methods."""
    numbers.Integral.register(torch.SymInt)
    for name, method in _BOTH.items():
        setattr(torch.SymInt, name, method)
        setattr(torch.SymFloat, name, method)
    for name, member in _INTEGERS.items():
        setattr(torch.SymInt, name, member)
    for (kind, name), method in _DIVISIONS.items():
        setattr(kind, name, method)


@contextmanager
def symbols_written() -> Iterator[None]:
    """Inside, JSON writes a symbolic number as the number it is in this run: configs are logged so."""
    before = json.JSONEncoder.default

    def default(self: json.JSONEncoder, value: object) -> object:
        return value.node.hint if isinstance(value, Symbolic) else before(self, value)

    json.JSONEncoder.default = default  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        json.JSONEncoder.default = before  # type: ignore[method-assign]


@contextmanager
def no_initialisation() -> Iterator[None]:
    """Inside, `torch.nn.init` leaves weights as they are: values do not matter, and symbols stay symbols."""
    names = [n for n in dir(torch.nn.init) if n.endswith("_") and not n.startswith("_")]
    saved = {name: getattr(torch.nn.init, name) for name in names}

    def keep(tensor: torch.Tensor, *args: object, **kwargs: object) -> torch.Tensor:
        return tensor

    for name in names:
        setattr(torch.nn.init, name, keep)
    try:
        yield
    finally:
        for name, function in saved.items():
            setattr(torch.nn.init, name, function)


@contextmanager
def distributions_unchecked() -> Iterator[None]:
    """Inside, `torch.distributions` take parameters whose values nobody has, without looking at them."""
    kind = torch.distributions.Distribution
    before = kind._validate_args
    kind.set_default_validate_args(False)
    try:
        yield
    finally:
        kind.set_default_validate_args(before)
