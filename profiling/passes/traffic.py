"""A workload in; the bytes that matrix products of each call read and write, by module, out.

Algorithmic bytes: each product reads the distinct bytes of its inputs once and writes its result once. What
DRAM counters say lies above where caches are flushed, and below where something was still in a cache.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from forwardbook.profiling.hooks import announced
from forwardbook.profiling.passes.workload import CallSeen, Workload, watching

PRODUCTS: Final = frozenset(
    {"mm", "addmm", "bmm", "baddbmm", "mv", "addmv", "dot", "convolution", "_grouped_mm", "_int_mm"}
)

_WHOLE: Final = frozenset(
    {torch.ops.aten.is_same_size.default, torch.ops.prim.device.default, torch.ops.aten.size.default}
)  # asked of tensors, never computed


@dataclass
class Moved:
    """Bytes of all products of one module in one call."""

    reads: int = 0
    writes: int = 0
    products: int = 0


@dataclass(frozen=True)
class TrafficCall:
    """One call: the products of each module, by the module's own path."""

    call: CallSeen
    modules: dict[str, Moved]

    @property
    def total(self) -> Moved:
        """All products of the call."""
        parts = list(self.modules.values())
        return Moved(
            sum(one.reads for one in parts),
            sum(one.writes for one in parts),
            sum(one.products for one in parts),
        )


@dataclass
class _Products(TorchDispatchMode):
    """Notes what products read and write while a call is open, under the innermost module."""

    stack: list[str] = field(default_factory=list)
    """The paths of the modules that run, the innermost last."""
    found: list[TrafficCall] = field(default_factory=list)
    open: TrafficCall | None = None
    encoder: str = ""

    def __post_init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    def before(self, call: CallSeen) -> None:
        self.open = TrafficCall(call, {})

    def after(self, call: CallSeen) -> None:
        if self.open is not None:
            self.found.append(self.open)
        self.open = None

    def _module(self, call: TrafficCall) -> str:
        """The innermost module, below the encoder where the encoder was called by itself."""
        path = str(self.stack[-1]) if self.stack else ""
        if call.call.phase == "encode":
            return str(path.removeprefix(self.encoder).removeprefix("."))
        return str(path)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = kwargs or {}
        if func not in _WHOLE:
            with self:  # linear and matmul come whole where nothing is recorded for gradients
                taken_apart = func.decompose(*args, **given)
            if taken_apart is not NotImplemented:
                return taken_apart
        out = func(*args, **given)
        if self.open is not None and func._schema.name.removeprefix("aten::") in PRODUCTS:
            one = self.open.modules.setdefault(self._module(self.open), Moved())
            one.reads += sum({_place(t): _bytes(t) for t in tree_leaves((args, kwargs)) if _is(t)}.values())
            one.writes += sum(_bytes(t) for t in tree_leaves(out) if _is(t))
            one.products += 1
        return out


def path_of_encoder(workload: Workload) -> str:
    """Where in the model its encoder is."""
    if workload.encoder is None:
        return ""
    return str(next(name for name, one in workload.model.named_modules() if one is workload.encoder))


def _is(value: object) -> bool:
    return isinstance(value, torch.Tensor)


def _place(tensor: torch.Tensor) -> tuple[int, int, tuple[int, ...]]:
    """Which bytes a tensor stands for: the same ones handed in twice are read once."""
    return tensor.untyped_storage().data_ptr(), int(tensor.storage_offset()), tuple(sorted(tensor.shape))


def _bytes(tensor: torch.Tensor) -> int:
    """Distinct bytes: a dimension that is expanded has one row."""
    count = 1
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        count *= size if stride or not size else 1
    return count * tensor.element_size()


def move_calls(workload: Workload) -> list[TrafficCall]:
    """The products of every call of one run."""
    products = _Products(encoder=path_of_encoder(workload))
    named = announced(workload.model.named_modules(), products.stack.append, products.stack.pop)
    with named, watching(workload, products), products:
        workload.run()
    return products.found
