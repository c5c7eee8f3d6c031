"""Tensors that count up, as positions do: their largest element stays a formula, until Python asks for it.

A table of positions is cut to the rows that `position_ids.max()` needs. As a number it would forget the
length that it came from, and a cost that steps with it, a column for each 64 positions, would look constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import torch
from torch import Tensor

from forwardbook.analyzers.symbolic.schemas import schema_of
from forwardbook.analyzers.symbolic.sizes_written import hold

Whole = int | torch.SymInt

_KEEPING: Final = frozenset(
    ("alias", "clone", "detach", "expand", "lift_fresh", "permute", "repeat", "reshape", "squeeze", "t")
    + ("_to_copy", "transpose", "unsqueeze", "view", "_unsafe_view")
)
"""Operations on all elements of one tensor that change none of them."""


def follow_largest(
    func: torch._ops.OpOverload, args: tuple[object, ...], kwargs: Mapping[str, object], out: object
) -> None:
    """Keeps the largest element of what counts up to a symbolic size, and gives it where it is asked for."""
    name = schema_of(func).name
    if name not in _FOLLOWED or not isinstance(out, Tensor) or out.is_floating_point():
        return
    if name == "arange":
        found = _counted(args, kwargs)
    else:
        known = largest(args[0]) if args else None
        found = None if known is None else _changed(name, known, args, kwargs)
    if found is None:
        return
    if name == "max":
        hold(out, [found])
    else:
        out._forwardbook_largest = found  # type: ignore[attr-defined]


def largest(tensor: object) -> torch.SymInt | None:
    """The largest element of a tensor that counts up to a symbolic size."""
    found: torch.SymInt | None = getattr(tensor, "_forwardbook_largest", None)
    return found


def _counted(args: tuple[object, ...], kwargs: Mapping[str, object]) -> torch.SymInt | None:
    """Of `arange(end)`, `arange(start, end)` and `arange(start, end, 1)`."""
    step = args[2] if len(args) > 2 else kwargs.get("step", 1)
    end = args[1] if len(args) > 1 else args[0]
    return end - 1 if isinstance(end, torch.SymInt) and type(step) is int and step == 1 else None


def _changed(
    name: str, known: torch.SymInt, args: tuple[object, ...], kwargs: Mapping[str, object]
) -> torch.SymInt | None:
    if name in _KEEPING:
        return known
    if name == "max":
        return known if len(args) == 1 and not kwargs else None
    other = args[1] if len(args) == 2 and not kwargs else None
    if isinstance(other, bool) or not isinstance(other, Whole):
        return None
    return known + other if name == "add" else known - other


_FOLLOWED: Final = _KEEPING | {"arange", "add", "sub", "max"}
