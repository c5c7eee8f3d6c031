"""Numbers that may be symbolic in, numbers that still are out: int(), round(), isinstance(), math."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import torch

_SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)


def is_symbolic(value: object) -> bool:
    """True for torch's symbolic numbers."""
    return isinstance(value, _SYMBOLIC)


def to_int(value: Any = 0, *rest: Any, **kwargs: Any) -> Any:
    """`int(x)`; an integer that is a symbol stays one."""
    if isinstance(value, torch.SymInt):
        return value
    if isinstance(value, torch.SymFloat):
        return torch.sym_int(value)
    return builtins.int(value, *rest, **kwargs)


def to_float(value: Any = 0.0) -> Any:
    """`float(x)`; a symbol stays one."""
    if isinstance(value, torch.SymInt | torch.SymFloat):
        return torch.sym_float(value)
    return builtins.float(value)


def to_round(value: Any, digits: int | None = None) -> Any:
    """`round(x)`; an integer symbol is already round."""
    if isinstance(value, torch.SymInt) and digits is None:
        return value
    return builtins.round(value, digits)


def instance_of(value: object, kinds: Any) -> bool:
    """`isinstance`, with a symbolic integer an int and a symbolic float a float."""
    if isinstance(value, torch.SymInt):
        value = 0
    elif isinstance(value, torch.SymFloat):
        value = 0.0
    elif isinstance(value, torch.SymBool):
        value = True
    return isinstance(value, kinds)


def _math(name: str) -> Callable[..., Any]:
    plain = getattr(math, name)
    symbolic = getattr(torch, f"sym_{name}", None) or getattr(torch, f"_sym_{name}", None)

    def apply(*args: Any) -> Any:
        if any(is_symbolic(item) for item in args):
            if name in ("floor", "ceil", "trunc") and isinstance(args[0], torch.SymInt):
                return args[0]
            if symbolic is not None:
                return symbolic(*args)
        return plain(*args)

    return apply


SYMBOLIC_CALLS: dict[Any, Callable[..., Any]] = {
    int: to_int,
    float: to_float,
    round: to_round,
    isinstance: instance_of,
    math.sqrt: _math("sqrt"),
    math.floor: _math("floor"),
    math.ceil: _math("ceil"),
    math.trunc: _math("trunc"),
    math.log2: _math("log2"),
    math.cos: _math("cos"),
    math.sin: _math("sin"),
}
