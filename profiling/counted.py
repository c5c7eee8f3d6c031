"""One call of a module on meta: what torch's own counter says of it, and the weights it was seen to touch."""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import CodeType

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.ops.registry import COMPLEX
from forwardbook.analyzers.symbolic.bridges import no_initialisation
from forwardbook.analyzers.symbolic.fused import grouped_mm
from forwardbook.analyzers.symbolic.run import MetaMaker, NumberSizes
from forwardbook.analyzers.symbolic.values import Values
from forwardbook.profiling.hooks import watched


@dataclass(frozen=True, slots=True)
class Counted:
    """torch's count of the call and of the whole run; bytes of weights touched, parameters that were not."""

    flops: int
    run_flops: int
    weights: int
    untouched: tuple[str, ...]
    lines: Mapping[int, int]
    """Of the flops of the call those of each line of its class's forward()."""


class _Carrying(TorchDispatchMode):
    """Lets meta tensors carry values, so that branches go as in eager; notes the storages it sees."""

    def __init__(self, chosen: NumberSizes) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.values = Values(symbolic=False, data=chosen.of_data())
        self.watching = False
        self.seen: set[int] = set()

    def __torch_dispatch__(
        self, func: torch._ops.OpOverload, types: object, args: tuple[object, ...] = (), kwargs: object = None
    ) -> object:
        given: dict[str, object] = dict(kwargs or {})  # type: ignore[call-overload]
        if self.watching:
            self.seen |= {_storage(leaf) for leaf in tree_leaves((args, given)) if isinstance(leaf, Tensor)}
        return self.values.run(func, args, given)


class _AnyDtype(TorchFunctionMode):
    """Grouped products in every dtype: torch's own takes bf16 alone on meta; its counter knows neither."""

    def __torch_function__(
        self,
        func: object,
        types: object,
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        given = kwargs or {}
        if func in (F.grouped_mm, torch._grouped_mm):
            return grouped_mm(*args[:2], given.get("offs"), given.get("bias"))
        assert callable(func)
        return func(*args, **given)


class _LineCounter(FlopCounterMode):
    """torch's counter, which also says at which lines of a function it counted.

    torch counts a multiply-accumulate of complex numbers as 2; it is four real ones, so each counts 8 here.
    """

    def __init__(self, code: CodeType | None) -> None:
        super().__init__(display=False)
        self.code, self.lines = code, Counter[int]()
        self.watching = False

    def _count_flops(self, func_packet: object, out: object, args: object, kwargs: object) -> object:
        before = self.get_total_flops()
        found: object = super()._count_flops(func_packet, out, args, kwargs)  # type: ignore[no-untyped-call]
        more = self.get_total_flops() - before
        if more and any(t.is_complex() for t in tree_leaves((args, kwargs)) if isinstance(t, Tensor)):
            for parent in set(self.mod_tracker.parents):
                self.flop_counts[parent][func_packet] += (COMPLEX - 1) * more
            more *= COMPLEX
        if more and self.watching:
            self.lines[self._line()] += more
        return found

    def _line(self) -> int:
        """The line of the outermost frame of the function; 0 outside it."""
        line, frame = 0, sys._getframe(1)
        while frame is not None:
            line = frame.f_lineno if frame.f_code is self.code else line
            frame = frame.f_back  # type: ignore[assignment]
        return line


@dataclass
class _Tally:
    counter: _LineCounter
    carrying: _Carrying
    start: int = 0
    flops: int = field(default=0)

    def before(self) -> None:
        self.start = self.counter.get_total_flops()
        self.carrying.watching = self.counter.watching = True

    def after(self) -> None:
        self.flops = self.counter.get_total_flops() - self.start
        self.carrying.watching = self.counter.watching = False


def _storage(tensor: Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)


def count(
    recipe: Recipe, sizes: Mapping[str, int], dtype: torch.dtype, path: str, occurrence: int
) -> Counted:
    """What torch counts in one call; of our fused operations only grouped products are on.

    Raises:
        Exception: whatever the module raises when it is built or called.
    """
    chosen = NumberSizes(sizes)
    carrying = _Carrying(chosen)
    default = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.no_grad():
            with torch.device("meta"), no_initialisation(), carrying:
                root = recipe.build(chosen).eval()
                args, kwargs = recipe.inputs(chosen, root, MetaMaker())
            code = getattr(inspect.unwrap(type(root.get_submodule(path)).forward), "__code__", None)
            counter = _LineCounter(code)
            tally = _Tally(counter, carrying)
            with (
                watched(root, path, occurrence, tally.before, tally.after),
                carrying,
                counter,
                _AnyDtype(),
            ):
                root(*args, **kwargs)
    finally:
        torch.set_default_dtype(default)
    weights, untouched = _weights(root.get_submodule(path), carrying.seen)
    return Counted(tally.flops, counter.get_total_flops(), weights, untouched, dict(counter.lines))


def _weights(module: nn.Module, seen: set[int]) -> tuple[int, tuple[str, ...]]:
    """Bytes of the parameters and buffers among the storages seen, and the parameters that are not."""
    named = {**dict(module.named_buffers()), **dict(module.named_parameters())}
    touched = {_storage(t): t.numel() * t.element_size() for t in named.values() if _storage(t) in seen}
    rest = tuple(name for name, t in module.named_parameters() if _storage(t) not in seen)
    return sum(touched.values()), rest
