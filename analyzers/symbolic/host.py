"""Tensors that Python keeps on the CPU beside a module on meta: whose they are, and when they leave.

Positions and tables that `forward()` makes without naming a device are no work of the device that runs the
module, and cost nothing there. With numbers they are real tensors on the CPU. With symbolic sizes no real one
can be made, and many elements are too dear: such lie on meta, too, marked, and behave as if they did not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, cast

import torch
from torch import Tensor

from forwardbook.analyzers.symbolic.schemas import schema_of
from forwardbook.analyzers.symbolic.shadows import (
    LIMIT,
    carry,
    elements,
    mapped,
    shadow,
    tensors_in,
    to_meta,
)

META: Final = torch.device("meta")
CPU: Final = torch.device("cpu")


_writing: ContextVar[bool] = ContextVar("writing", default=False)
"""Whether a tensor of the host is being written: the number that goes there is made beside it, on meta."""


def is_kept(tensor: Tensor) -> bool:
    """Whether a tensor is the host's: on the CPU, or marked as if it were."""
    return tensor.is_cpu or getattr(tensor, "_forwardbook_host", False)


def kept(out: object) -> object:
    """The result of an operation of the host: its tensors on meta are marked."""
    for tensor in tensors_in(out):
        if tensor.device.type == "meta":
            tensor._forwardbook_host = True  # type: ignore[attr-defined]
    return out


def device_named(kwargs: dict[str, object]) -> str:
    """The kind of device that a call names, the CPU if none."""
    wanted = kwargs.get("device")
    if wanted is None:
        return "cpu"
    assert isinstance(wanted, str | torch.device)
    return torch.device(wanted or "cpu").type


def is_of_host(inputs: Sequence[Tensor], kwargs: dict[str, object]) -> bool:
    """Whether an operation runs on the host: nothing that it takes is elsewhere, nor does it say so."""
    return _writing.get() or (device_named(kwargs) == "cpu" and all(map(is_kept, inputs)))


def apart(tensor: Tensor) -> Tensor:
    """A tensor of the host as an operation of the device meets it: a copy of its own, with its value."""
    if tensor.device.type == "cpu":
        return to_meta(tensor.detach())
    twin = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=META)
    return carry(twin, shadow(tensor))


def on_cpu(func: torch._ops.OpOverload, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
    """An operation with numbers on tensors of the CPU, or on none; on meta where it makes too many elements.

    What it makes lies where it was asked to: on meta it carries its value.
    """
    wanted, inputs = device_named(kwargs), tensors_in((args, kwargs))
    bound = math.prod(max(elements(tensor), 1) for tensor in inputs)
    if (bound > LIMIT or not inputs) and not schema_of(func).mutable:
        out = _on_meta(func, args, kwargs, inputs)
        if any(elements(tensor) > LIMIT for tensor in tensors_in(out)):
            return out if wanted == "meta" else kept(out)
    if wanted != "meta":
        return func(*args, **kwargs)
    value = func(*args, **{**kwargs, "device": CPU})
    return mapped(lambda t: to_meta(t) if isinstance(t, Tensor) else t, value)


def _on_meta(
    func: torch._ops.OpOverload,
    args: tuple[object, ...],
    kwargs: dict[str, object],
    inputs: Sequence[Tensor],
) -> object:
    """How large its results are; None where that takes values."""
    args, kwargs = mapped(lambda t: apart(t) if isinstance(t, Tensor) else t, (args, kwargs))
    if not inputs or kwargs.get("device") is not None:
        kwargs = {**kwargs, "device": META}
    try:
        return func(*args, **kwargs)
    except (RuntimeError, TypeError, NotImplementedError):
        return None


@contextmanager
def weights_of_host() -> Iterator[None]:
    """Inside, a weight that is made of a tensor of the host is one, too: `forward()` may build modules."""
    before = vars(torch.nn.Parameter)["__new__"]

    def make(kind: type, data: Tensor | None = None, requires_grad: bool = True) -> torch.nn.Parameter:
        made = cast("torch.nn.Parameter", before.__func__(kind, data, requires_grad))
        if getattr(data, "_forwardbook_host", False):
            made._forwardbook_host = True  # type: ignore[attr-defined]
        return made

    torch.nn.Parameter.__new__ = staticmethod(make)  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        torch.nn.Parameter.__new__ = before  # type: ignore[method-assign]


def device_of(tensor: Tensor) -> torch.device:
    """`Tensor.device`."""
    return CPU if is_kept(tensor) else tensor.device


def moved(tensor: Tensor, *args: object, **kwargs: object) -> Tensor:
    """`Tensor.to`: what leaves the host, or comes to it, is copied, though both lie on meta."""
    if tensor.device.type == "cpu":
        return tensor.to(*args, **kwargs)  # type: ignore[call-overload, no-any-return]
    like = next((one for one in (*args[:1], kwargs.get("other")) if isinstance(one, Tensor)), None)
    if like is None:
        device, dtype, *_ = torch._C._nn._parse_to(*args, **kwargs)  # type: ignore[call-overload]
    else:
        device, dtype = device_of(like), like.dtype
    if not is_kept(tensor):
        if device is None or device.type != "cpu" or tensor.device.type != "meta":
            return tensor.to(*args, **kwargs)  # type: ignore[call-overload, no-any-return]
        return _fetched(tensor, dtype)
    if device is None or device.type == "cpu":
        return tensor.to(dtype or tensor.dtype)
    return cast("Tensor", torch.ops.aten._to_copy.default(tensor, dtype=dtype, device=device))


def returned(tensor: Tensor, *args: object, **kwargs: object) -> Tensor:
    """`Tensor.cpu`: what is the host's already is itself, what lies on meta is copied."""
    if is_kept(tensor) and tensor.device.type != "cpu":
        return tensor
    if tensor.device.type != "meta":
        return tensor.cpu(*args, **kwargs)  # type: ignore[arg-type]
    return _fetched(tensor)


def _fetched(tensor: Tensor, dtype: torch.dtype | None = None) -> Tensor:
    """A copy for the host of what the device made: it lies on meta as well, marked."""
    made = cast("Tensor", torch.ops.aten._to_copy.default(tensor, dtype=dtype or tensor.dtype))
    return cast("Tensor", kept(made))


def typed_as(tensor: Tensor, other: Tensor) -> Tensor:
    """`Tensor.type_as`, which moves as well."""
    return moved(tensor, other)


def written(tensor: Tensor, place: object, value: object) -> None:
    """`Tensor.__setitem__`."""
    before = _writing.set(_writing.get() or is_kept(tensor))
    try:
        tensor[place] = value  # type: ignore[index,assignment]
    finally:
        _writing.reset(before)


HOST: Final[dict[object, Callable[..., object]]] = {
    torch.Tensor.to: moved,
    torch.Tensor.cpu: returned,
    torch.Tensor.type_as: typed_as,
    torch.Tensor.__setitem__: written,
    torch.Tensor.device.__get__: device_of,
}
"""What asks where a tensor is, or moves it; by torch's functions."""


def leaving(tensors: Sequence[Tensor], of_host: bool, symbolic: bool) -> set[int]:
    """Identities of those that go to meta: the host's, where they meet tensors there or symbolic sizes."""
    if not symbolic and all(tensor.is_cpu for tensor in tensors):
        return set()
    return {id(one) for one in tensors if one.is_cpu or (not of_host and is_kept(one))}


def lifted(
    args: tuple[object, ...], kwargs: dict[str, object], which: set[int]
) -> tuple[tuple[object, ...], dict[str, object]]:
    """Arguments with what leaves the host in copies on meta, with its value."""
    return mapped(
        lambda leaf: apart(leaf) if isinstance(leaf, Tensor) and id(leaf) in which else leaf, (args, kwargs)
    )
