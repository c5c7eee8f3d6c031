"""Remembers how results of operations are laid out: the next of equal layers need not work it out again.

Within one run an operation on tensors of the same sizes and strides (the same nodes, `node`) gives tensors
of the same; all that it compares was compared and written down the first time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.parameter import is_lazy

from forwardbook.analyzers.symbolic.node import Node
from forwardbook.analyzers.symbolic.shadows import tensors_in

_PLAIN = (bool, int, float, str, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format)
Run = Callable[[torch._ops.OpOverload, tuple[object, ...], dict[str, object]], object]


class _Unlike(Exception):
    """An argument or a result that is not compared, and so not remembered."""


@dataclass(frozen=True, slots=True)
class _Laid:
    """A result: fresh, or a view of the argument `of`; its sizes, strides and offset as torch gave them."""

    of: int
    sizes: tuple[int | torch.SymInt, ...]
    strides: tuple[int | torch.SymInt, ...]
    offset: int | torch.SymInt
    dtype: torch.dtype

    def made(self, inputs: list[Tensor]) -> Tensor:
        """Another tensor laid out so."""
        if self.of < 0:
            out = torch.ops.aten.empty_strided.default(
                self.sizes, self.strides, dtype=self.dtype, device=torch.device("meta")
            )
        else:
            out = torch.ops.aten.as_strided.default(inputs[self.of], self.sizes, self.strides, self.offset)
        assert isinstance(out, Tensor)
        return out


class Memory:
    """Layouts of results by operation and arguments, for one symbolic run."""

    def __init__(self) -> None:
        self._known: dict[object, tuple[type | None, list[_Laid]]] = {}

    def run(
        self,
        run: Run,
        func: torch._ops.OpOverload,
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> object:
        """What `run` gives of an operation, made anew where an equal one ran before."""
        if func._schema.is_mutable:
            return run(func, args, kwargs)
        try:
            key = (func, _key(args), _key(tuple(kwargs.items())))
        except _Unlike:
            return run(func, args, kwargs)
        known = self._known.get(key)
        inputs = tensors_in((args, kwargs))
        if known is None:
            out = run(func, args, kwargs)
            with contextlib.suppress(_Unlike):
                self._known[key] = (None if isinstance(out, Tensor) else type(out), _laid(out, inputs))
            return out
        kind, laid = known
        made = [one.made(inputs) for one in laid]
        return made[0] if kind is None else kind(made)


def _key(value: object) -> object:
    if isinstance(value, Tensor):
        if (
            is_lazy(value)
            or value.device.type != "meta"
            or value.layout != torch.strided
            or value.is_complex()
        ):
            raise _Unlike
        sizes, strides = map(_number, value.shape), map(_number, value.stride())
        return (*sizes, None, *strides, _number(value.storage_offset()), value.dtype)
    if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
        return _number(value)
    if isinstance(value, list | tuple):
        return tuple(map(_key, value))
    if not isinstance(value, _PLAIN):
        raise _Unlike
    return type(value), value


def _number(value: object) -> object:
    """What tells a size from others: the number, or the node."""
    if isinstance(value, int):
        return value
    node = getattr(value, "node", None)
    if not isinstance(node, Node):
        raise _Unlike
    return (node.index,)


def _laid(out: object, inputs: list[Tensor]) -> list[_Laid]:
    if not isinstance(out, Tensor) and type(out) not in (list, tuple):
        raise _Unlike
    outputs = [out] if isinstance(out, Tensor) else list(out)  # type: ignore[call-overload]
    places = {one.untyped_storage()._cdata: i for i, one in reversed(list(enumerate(inputs)))}
    found: list[_Laid] = []
    fresh: set[int] = set()
    for one in outputs:
        if not isinstance(one, Tensor) or any(one is given for given in inputs) or is_lazy(one):
            raise _Unlike
        if one.device.type != "meta" or one.layout != torch.strided or one.is_complex():
            raise _Unlike
        place = one.untyped_storage()._cdata
        of = places.get(place, -1)
        if of >= 0 and one.dtype != inputs[of].dtype:
            raise _Unlike
        if of < 0 and (place in fresh or type(one.storage_offset()) is not int or one.storage_offset() != 0):
            raise _Unlike
        fresh.add(place)
        found.append(_Laid(of, tuple(one.shape), tuple(one.stride()), one.storage_offset(), one.dtype))
    return found
