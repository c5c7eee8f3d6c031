"""A case at one of its points in; what a run of the class on the CPU really did, out.

Nothing of forwardbook counts here: flops come from torch's own counter or profiler, weights and pointwise
operations from the operations that torch dispatches.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final

import torch
from benchmarks.hand.case import PRODUCTS, UNFUSED, Case, Sizes
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

if TYPE_CHECKING:
    from torch import nn

EACH_OUTPUT: Final = frozenset(
    [
        *("add", "add_", "sub", "mul", "mul_", "pow", "rsqrt"),
        *("tanh", "tanh_", "sigmoid", "sigmoid_", "relu", "gelu", "silu"),
        *("addmm", "convolution"),  # the addition of the bias
    ]
)
"""Operations of one an element of the result."""
EACH_INPUT: Final = {"mean": 1, "native_layer_norm": 8, "native_batch_norm": 4}
"""Operations an element of what goes in, by the conventions of docs/rules.md."""
NONE: Final = frozenset(
    [
        *("mm", "_trilinear"),  # their operations are flops
        *("embedding", "cat", "stack", "constant_pad_nd", "zeros", "empty"),
        *("unsafe_split", "_unsafe_view"),
    ]
)
"""Products, and what only moves."""


def compare(case: Case, place: int) -> dict[str, tuple[int, int]]:
    """For each quantity that was written down: what the formula gives at a point, and what the run did."""
    sizes = case.sizes(place)
    return {
        quantity: (case.value(quantity, sizes), WAYS[quantity](case, sizes)) for quantity in case.formulas
    }


def flops(case: Case, sizes: Sizes) -> int:
    """Flops of one call."""
    if case.judge == PRODUCTS:
        return _products(case, sizes)
    counter = FlopCounterMode(display=False)
    _run(case, sizes, counter)
    return int(counter.get_total_flops())


def weights(case: Case, sizes: Sizes) -> int:
    """Bytes of the parameters and buffers that some operation of the call took."""
    return _watch(case, sizes).bytes_of_weights()


def pointwise_ops(case: Case, sizes: Sizes) -> int:
    """Pointwise operations of the call; an operation that is not in the tables above is an error."""
    return _watch(case, sizes).pointwise_ops()


WAYS: Final[Mapping[str, Callable[[Case, Sizes], int]]] = {
    "flops": flops,
    "weights": weights,
    "pointwise_ops": pointwise_ops,
}


class Watch(TorchDispatchMode):
    """Every operation that torch dispatches, with its arguments and results."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.kept: dict[int, torch.Tensor] = {}
        self.touched: set[int] = set()
        self.operations: list[tuple[Any, tuple[Any, ...], Any]] = []

    def look_out_for(self, module: nn.Module) -> None:
        """Parameters and buffers of this module are its weights."""
        tensors = [*module.parameters(), *module.buffers()]
        self.kept = {one.untyped_storage().data_ptr(): one for one in tensors}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Runs the operation and keeps what went in and came out."""
        result = func(*args, **(kwargs or {}))
        tensors = [one for one in tree_leaves((args, kwargs)) if isinstance(one, torch.Tensor)]
        self.touched |= self.kept.keys() & {one.untyped_storage().data_ptr() for one in tensors}
        self.operations.append((func, args, result))
        return result

    def bytes_of_weights(self) -> int:
        """Of parameters and buffers."""
        return sum(self.kept[place].nbytes for place in self.touched)

    def pointwise_ops(self) -> int:
        """Of all operations."""
        return sum(_pointwise(*one) for one in self.operations)


def _pointwise(func: Any, args: tuple[Any, ...], result: Any) -> int:
    name = func._schema.name.removeprefix("aten::")
    if func.is_view or name in NONE or (name == "convolution" and args[2] is None):
        return 0
    if name in EACH_INPUT:
        return EACH_INPUT[name] * int(args[0].numel())
    if name in EACH_OUTPUT:
        return int(result.numel())
    raise LookupError(f"no count of pointwise operations for {name}")


def _run(case: Case, sizes: Sizes, mode: AbstractContextManager[object] | None = None) -> None:
    """One call of the class, with a mode that watches it."""
    torch.manual_seed(0)
    module = case.instance(sizes)
    positional, named = case.inputs(sizes)
    if isinstance(mode, Watch):
        mode.look_out_for(module)
    kernels = _without_fused_kernels() if case.judge == UNFUSED else contextlib.nullcontext()
    with kernels, torch.no_grad(), mode or contextlib.nullcontext():
        module(*positional, **named)


def _watch(case: Case, sizes: Sizes) -> Watch:
    watch = Watch()
    _run(case, sizes, watch)
    return watch


def _products(case: Case, sizes: Sizes) -> int:
    """Of matrix products, by the shapes of their factors: also of those inside of other operations."""
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
        _run(case, sizes)
    products = [one for one in profiler.events() if one.name in ("aten::mm", "aten::bmm")]
    return sum(2 * math.prod(one.input_shapes[0]) * one.input_shapes[1][-1] for one in products)


@contextlib.contextmanager
def _without_fused_kernels() -> Iterator[None]:
    """Recurrent layers and attention as the products that they are made of."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with torch.backends.mkldnn.flags(enabled=False), sdpa_kernel(SDPBackend.MATH):
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)
