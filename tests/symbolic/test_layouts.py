"""Every stand-in and every fused operation lays its results out as torch's kernel does unwatched on the CPU.

Held over contiguous, transposed, expanded, sliced, channels-last and batch-first inputs, at sizes with and
without 1, of plain and of symbolic sizes. A stride of a side of 1 reaches nothing and is not compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from copy import deepcopy
from itertools import product

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from forwardbook.analyzers.symbolic.fast_path import fast_path
from forwardbook.analyzers.symbolic.followed import numbers_followed
from forwardbook.analyzers.symbolic.fused import FusedOperations
from forwardbook.analyzers.symbolic.ledger import Ledger
from forwardbook.analyzers.symbolic.memory import Memory
from forwardbook.analyzers.symbolic.recorder import Recorder, Widths
from forwardbook.analyzers.symbolic.shadows import numbers
from forwardbook.analyzers.symbolic.summary import summarise
from forwardbook.analyzers.symbolic.unwatched import unwatched
from forwardbook.analyzers.symbolic.values import Values
from forwardbook.profiling.allocations import allocations_in
from forwardbook.profiling.cpu_kernels import WORKSPACES

Make = Callable[[Sequence[int]], Tensor]
Lay = Callable[[Sequence[int], Make], Tensor]
Kernel = Callable[..., object]


def in_order(*order: int) -> Lay:
    """Dimensions that lie in memory in another order."""
    back = [order.index(place) for place in range(len(order))]
    return lambda shape, make: make([shape[place] for place in order]).permute(back)


def layouts(dims: int) -> dict[str, Lay]:
    """Ways in which a tensor of so many dimensions lies in memory, by name."""
    found: dict[str, Lay] = {
        "contiguous": lambda shape, make: make(shape),
        "sliced": lambda shape, make: make([*shape[:-1], 2 * shape[-1]])[..., ::2],
        "cut": lambda shape, make: make([*shape[:-1], shape[-1] + 1])[..., 1:],
        "expanded": lambda shape, make: make([1, *shape[1:]]).expand(shape),
        "transposed": in_order(*range(dims - 2), dims - 1, dims - 2),
        "batch first": in_order(1, 0, *range(2, dims)),
        "reversed": in_order(*range(dims)[::-1]),
    }
    if dims > 2:
        found["channels last"] = in_order(0, *range(2, dims), 1)
        found["expanded inside"] = lambda shape, make: make([shape[0], 1, *shape[2:]]).expand(shape)
    if dims == 4:
        found["heads last"] = in_order(0, 2, 1, 3)
    return found


def weights(*shape: int) -> Callable[[Tensor], Tensor]:
    """A tensor of ones where another one is."""
    return lambda x: torch.ones(shape, device=x.device)


def on(module: nn.Module, inputs: int = 1) -> Kernel:
    """A module that is there twice, with its input given so many times."""
    there = {"cpu": module.eval(), "meta": deepcopy(module).to("meta").eval()}
    return lambda x: there[x.device.type](*([x] * inputs))


IMAGES = [(2, 3, 6, 8), (1, 3, 6, 8), (2, 1, 6, 8)]
SEQUENCES = [(2, 3, 8), (1, 3, 8)]
VOLUMES = [(2, 3, 4, 6, 8)]
HEADS = [(2, 4, 5, 6), (1, 4, 5, 6), (2, 4, 1, 6)]
ROWS = [(2, 5, 6), (1, 1, 6)]


def channels(shapes: list[tuple[int, ...]], count: int = 3) -> list[tuple[int, ...]]:
    return [shape for shape in shapes if shape[1] == count]


def normed(x: Tensor) -> Tensor:
    ones = torch.ones(x.shape[1], device=x.device)
    return F.batch_norm(x, ones, ones, ones, ones)


def convolved(function: Kernel, *shape: int, last: bool = False, **options: object) -> Kernel:
    def run(x: Tensor) -> object:
        weight = torch.ones(shape, device=x.device)
        return function(x, weight.to(memory_format=torch.channels_last) if last else weight, **options)

    return run


sdpa = F.scaled_dot_product_attention
CASES: dict[str, tuple[Kernel, list[tuple[int, ...]]]] = {
    "attention": (lambda x: sdpa(x, x, x), [*HEADS, *(shape[1:] for shape in HEADS)]),
    "attention, causal": (lambda x: sdpa(x, x, x, is_causal=True), HEADS),
    "attention, masked": (
        lambda x: sdpa(x, x, x, torch.zeros(x.shape[-2], x.shape[-2], device=x.device)),
        HEADS,
    ),
    "attention, grouped": (lambda x: sdpa(x, x[:, :1], x[:, :1], enable_gqa=True), HEADS),
    "attention, narrow values": (lambda x: sdpa(x, x, x[..., :4]), HEADS),
    "MultiheadAttention": (on(nn.MultiheadAttention(6, 2, batch_first=True), 3), ROWS),
    "TransformerEncoderLayer": (on(nn.TransformerEncoderLayer(6, 2, 8, batch_first=True)), ROWS),
    **{
        f"LSTM, {first}, {both}": (on(nn.LSTM(6, 5, 2, batch_first=first, bidirectional=both)), ROWS)
        for first, both in product((False, True), (False, True))
    },
    "GRU": (on(nn.GRU(6, 5, batch_first=True)), ROWS),
    "linear": (lambda x: F.linear(x, weights(5, 8)(x), weights(5)(x)), [*SEQUENCES, *IMAGES, (4, 8)]),
    "convolution": (convolved(F.conv2d, 4, 3, 3, 3, padding=1), channels(IMAGES)),
    "convolution of points": (convolved(F.conv2d, 4, 3, 1, 1), channels(IMAGES)),
    "convolution, weights last": (convolved(F.conv2d, 4, 3, 3, 3, last=True, padding=1), channels(IMAGES)),
    "convolution, depthwise": (convolved(F.conv2d, 3, 1, 3, 3, padding=1, groups=3), channels(IMAGES)),
    "convolution, transposed": (convolved(F.conv_transpose2d, 3, 4, 3, 3, stride=2), channels(IMAGES)),
    "convolution of a row": (convolved(F.conv1d, 4, 3, 3, padding=1), channels(SEQUENCES)),
    "convolution of a volume": (convolved(F.conv3d, 4, 3, 3, 3, 3, padding=1), channels(VOLUMES)),
    "batch_norm": (normed, [*IMAGES, *SEQUENCES, *VOLUMES, (4, 3)]),
    "group_norm": (lambda x: F.group_norm(x, 1), [*IMAGES, *SEQUENCES]),
    "layer_norm": (lambda x: F.layer_norm(x, (8,)), [*IMAGES, *SEQUENCES]),
    "max_pool1d": (lambda x: F.max_pool1d(x, 2), SEQUENCES),
    "max_pool2d": (lambda x: F.max_pool2d(x, 2, 2, 1, return_indices=True), IMAGES),
    "max_pool3d": (lambda x: F.max_pool3d(x, 2), VOLUMES),
    "avg_pool1d": (lambda x: F.avg_pool1d(x, 2), SEQUENCES),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 2, 2, 1), IMAGES),
    "avg_pool3d": (lambda x: F.avg_pool3d(x, 2), VOLUMES),
    "adaptive_max_pool1d": (lambda x: F.adaptive_max_pool1d(x, 3, return_indices=True), SEQUENCES),
    "adaptive_max_pool2d": (lambda x: F.adaptive_max_pool2d(x, (2, 3), return_indices=True), IMAGES),
    "adaptive_max_pool3d": (lambda x: F.adaptive_max_pool3d(x, (2, 3, 2)), VOLUMES),
    "adaptive_avg_pool1d": (lambda x: F.adaptive_avg_pool1d(x, 3), SEQUENCES),
    "adaptive_avg_pool2d": (lambda x: F.adaptive_avg_pool2d(x, (2, 3)), IMAGES),
    "adaptive_avg_pool3d": (lambda x: F.adaptive_avg_pool3d(x, (2, 3, 2)), VOLUMES),
    "fractional_max_pool2d": (
        lambda x: F.fractional_max_pool2d(
            x, 2, output_size=(3, 2), _random_samples=torch.zeros(*x.shape[:2], 2, device=x.device)
        ),
        [shape for shape in IMAGES if shape[2] > 1],
    ),
    **{
        f"interpolate, {mode}": (lambda x, m=mode: F.interpolate(x, size=(5, 7), mode=m), IMAGES)  # type: ignore[misc]
        for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "area")
    },
    **{
        f"interpolate a row, {mode}": (lambda x, m=mode: F.interpolate(x, size=5, mode=m), SEQUENCES)  # type: ignore[misc]
        for mode in ("nearest", "linear", "area")
    },
    **{
        f"interpolate a volume, {mode}": (
            lambda x, m=mode: F.interpolate(x, size=(3, 5, 7), mode=m),  # type: ignore[misc]
            VOLUMES,
        )
        for mode in ("nearest", "trilinear", "area")
    },
    "pixel_shuffle": (lambda x: F.pixel_shuffle(x, 2), [(2, 4, 6, 6), (1, 4, 3, 3)]),
    "pixel_unshuffle": (lambda x: F.pixel_unshuffle(x, 2), [shape for shape in IMAGES if shape[2] > 1]),
    "unfold": (lambda x: F.unfold(x, 2, stride=3), [shape for shape in IMAGES if shape[2] > 1]),
    "fold": (lambda x: F.fold(x, (3, 3), 2), [(2, 8, 4), (1, 8, 4), (2, 4, 4)]),
    "pad": (lambda x: F.pad(x, (1, 1)), [*IMAGES, *SEQUENCES]),
    "pad, reflected": (lambda x: F.pad(x, (1, 1), mode="reflect"), SEQUENCES),
    "histc": (lambda x: torch.histc(x, 4, 0, 1), [(3, 4)]),
}
NAMED = {
    "attention, narrow values": "CUDA's kernels write the heads of a position together, the CPU's in order",
    "group_norm": "CUDA's kernel takes its input in order, the CPU's writes channels last",
    "max_pool1d": "without gradients the CPU has a kernel that keeps no indices",
    "pixel_unshuffle": "CUDA copies a view of its input, the CPU has a kernel that keeps channels last",
}
"""Kernels of CUDA that are known to lay out otherwise than the CPU's, whose formulas are of CUDA."""
OTHERWISE = {"channels last", "transposed"}
"""How inputs lie of which the CPU keeps channels last where CUDA does not, or the other way round."""


class Running(TorchDispatchMode):
    """Runs operations as a recorded run on meta does."""

    def __init__(self, values: Values) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.values = values

    def __torch_dispatch__(
        self, func: torch._ops.OpOverload, types: object, args: tuple[object, ...] = (), kwargs: object = None
    ) -> object:
        return self.values.run(unwatched(func), args, dict(kwargs or {}))  # type: ignore[call-overload]


def laid(out: object) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Shapes and strides of results; those of sides of 1 are 0."""
    found = []
    for leaf in tree_leaves(out):
        if isinstance(leaf, Tensor):
            sizes = numbers(leaf.shape)
            strides = zip(sizes, numbers(leaf.stride()), strict=True)
            found.append((sizes, tuple(0 if size == 1 else stride for size, stride in strides)))
    return found


def on_meta(shape: Sequence[int]) -> Tensor:
    return torch.empty(tuple(shape), device="meta")


def ways(kernel: Kernel, shape: tuple[int, ...], lay: Lay) -> Iterator[tuple[str, object]]:
    """How results lie of a kernel under watch: on the CPU, on meta, of symbolic sizes (twice: remembered)."""
    with FusedOperations(symbolic=False), fast_path(Counter()):
        yield "cpu", laid(kernel(lay(shape, torch.ones)))
        with Running(Values(symbolic=False)):
            yield "meta", laid(kernel(lay(shape, on_meta)))
    ledger, values = Ledger(), Values(symbolic=True)
    with ExitStack() as stack:
        stack.enter_context(FusedOperations(symbolic=True))
        stack.enter_context(fast_path(Counter()))
        stack.enter_context(numbers_followed())
        stack.enter_context(Running(values))
        sizes = [ledger.symbol(f"size_{place}", size) for place, size in enumerate(shape)]
        given = lay(sizes, on_meta)  # type: ignore[arg-type]
        ledger.running, values.memory = True, Memory(ledger)
        yield "symbolic", laid(kernel(given))
        yield "remembered", laid(kernel(given))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_results_lie_as_the_kernel_lays_them_out(name: str) -> None:
    """Shape and strides are those of an unwatched run, or the kernel is named as one of the CPU's own."""
    kernel, shapes = CASES[name]
    differ = set()
    with torch.no_grad():
        for shape in shapes:
            for way, lay in layouts(len(shape)).items():
                wanted = laid(kernel(lay(shape, torch.ones)))
                differ |= {(way, how) for how, found in ways(kernel, shape, lay) if found != wanted}

    if name in NAMED:
        assert name == "attention, narrow values" or {way for way, _ in differ} <= OTHERWISE
    else:
        assert not differ


class Of(nn.Module):
    """One kernel as a module."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__()
        self.kernel = kernel

    def forward(self, x: Tensor) -> object:
        return self.kernel(x)


def recorded(kernel: Kernel, x: Tensor) -> tuple[int, set[str]]:
    """The peak of a call under watch, and the names of its operations."""
    module, recorder = Of(kernel), Recorder(Widths(4, 4, 4), torch.float32)
    with torch.no_grad(), FusedOperations(symbolic=False), recorder.watching(module):
        module(x)
    peak = summarise(recorder.trace, recorder.trace.calls[0], {}).quantities()["peak"]
    return int(str(peak)), {one.name for one in recorder.trace.operations}


def allocated(kernel: Kernel, given: Sequence[tuple[Tensor, set[str]]]) -> list[int]:
    """The peaks of unwatched calls by torch's profiler, without what an operation allocates and releases."""
    with torch.no_grad(), profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        for number, (x, _) in enumerate(given):
            with record_function(f"call {number}"):
                out = kernel(x)
            del out
    assert profiled.profiler is not None and profiled.profiler.kineto_results is not None
    events = profiled.profiler.kineto_results.experimental_event_tree()
    peaks = []
    for found, (_, operations) in zip(
        allocations_in(events, [f"call {number}" for number in range(len(given))]), given, strict=True
    ):
        names = [event for name in operations & WORKSPACES.keys() for event in WORKSPACES[name][0]]
        names += [name.replace(".", "::") for name in operations]
        peaks.append(found.without(found.workspaces(found.spans(tuple(names)))).peak())
    return peaks


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in CASES if name not in NAMED])
def test_peaks_are_what_the_allocator_sees(name: str) -> None:
    """On the CPU, byte for byte, whatever the layout."""
    kernel, shapes = CASES[name]
    lain = [
        (shape, way, lay(shape, torch.ones)) for shape in shapes for way, lay in layouts(len(shape)).items()
    ]
    ours = [recorded(kernel, x) for _, _, x in lain]
    theirs = allocated(kernel, [(x, names) for (_, _, x), (_, names) in zip(lain, ours, strict=True)])

    differ = {
        (shape, way): (mine, other)
        for (shape, way, _), (mine, _), other in zip(lain, ours, theirs, strict=True)
        if mine != other
    }
    assert not differ
