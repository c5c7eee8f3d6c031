"""Convolutions of torch.nn: a window slides over its input, and each output sums what the window shows."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Final

from benchmarks.hand.build import tensor
from benchmarks.hand.case import Build, Case, Sizes

if TYPE_CHECKING:
    from torch import nn

LINE: Final = (
    {"batch_size": 2, "length": 29, "in_channels": 6, "out_channels": 9, "groups": 3}
    | {"kernel_size": 4, "stride": 4, "padding": 2, "dilation": 3, "output_padding": 1},
    {"batch_size": 3, "length": 17, "in_channels": 4, "out_channels": 10, "groups": 2}
    | {"kernel_size": 5, "stride": 3, "padding": 1, "dilation": 1, "output_padding": 0},
)
AREA: Final = (
    {"batch_size": 2, "height": 36, "width": 19, "in_channels": 6, "out_channels": 9, "groups": 3}
    | {"kernel_size_0": 4, "kernel_size_1": 3, "stride_0": 5, "stride_1": 2, "padding_0": 2, "padding_1": 1}
    | {"dilation_0": 1, "dilation_1": 2, "output_padding_0": 1, "output_padding_1": 0},
    {"batch_size": 3, "height": 12, "width": 23, "in_channels": 4, "out_channels": 10, "groups": 2}
    | {"kernel_size_0": 3, "kernel_size_1": 5, "stride_0": 2, "stride_1": 4, "padding_0": 0, "padding_1": 3}
    | {"dilation_0": 2, "dilation_1": 1, "output_padding_0": 0, "output_padding_1": 2},
)
VOLUME: Final = tuple(
    one | {"depth": depth, "kernel_size_2": 5, "stride_2": 3, "padding_2": 1, "dilation_2": 2}
    for one, depth in zip(AREA, (28, 14), strict=True)
)


def axes_of(kind: str) -> list[str]:
    """What a class has for each dimension."""
    plain = ["kernel_size", "stride", "padding", "dilation"]
    return [*plain, "output_padding"] if "Transpose" in kind else plain


def windows(extent: str, axis: str = "") -> str:
    """How many windows fit: the first begins at -padding, the last ends within the extent and its padding."""
    reach = f"2 * {{padding{axis}}} - {{dilation{axis}}} * ({{kernel_size{axis}}} - 1) - 1"
    return f"floor(({{{extent}}} + {reach}) / {{stride{axis}}}) + 1"


def reach_of_kernels(extent: str, axis: str = "") -> str:
    """How far a transposed convolution reaches."""
    reach = f"2 * {{padding{axis}}} + {{dilation{axis}}} * ({{kernel_size{axis}}} - 1)"
    return f"({{{extent}}} - 1) * {{stride{axis}}} - {reach} + {{output_padding{axis}}} + 1"


def with_axes(dimensions: int) -> Build:
    """A convolution of several dimensions, each with a kernel, stride, padding and dilation of its own."""

    def build(home: ModuleType, kind: str, sizes: Sizes) -> nn.Module:
        axes = {
            name: tuple(sizes[f"{name}_{place}"] for place in range(dimensions)) for name in axes_of(kind)
        }
        plain = {name: sizes[name] for name in ("in_channels", "out_channels", "groups")}
        module: nn.Module = getattr(home, kind)(**plain, **axes)
        return module

    return build


def with_one_axis(home: ModuleType, kind: str, sizes: Sizes) -> nn.Module:
    """A convolution of one dimension."""
    names = ("in_channels", "out_channels", "groups", *axes_of(kind))
    module: nn.Module = getattr(home, kind)(**{name: sizes[name] for name in names})
    return module


PAIR: Final = "{in_channels} * {out_channels} // {groups}"
SQUARE: Final = "{kernel_size_0} * {kernel_size_1}"

CASES: Final = (
    Case(
        "torch.nn.Conv1d",
        f"2 * {{batch_size}} * {{out_length}} * {{kernel_size}} * {PAIR}",
        "each output sums kernel_size positions of the channels of its group; the bias is an addition each",
        with_one_axis,
        tensor("batch_size", "in_channels", "length"),
        LINE,
        where={"out_length": windows("length")},
        weights=f"({{kernel_size}} * {PAIR} + {{out_channels}}) * {{w_dtype_bytes}}",
        pointwise_ops="{batch_size} * {out_length} * {out_channels}",
    ),
    Case(
        "torch.nn.Conv2d",
        f"2 * {{batch_size}} * {{out_height}} * {{out_width}} * {SQUARE} * {PAIR}",
        "windows along both dimensions; products with zeros of the padding count",
        with_axes(2),
        tensor("batch_size", "in_channels", "height", "width"),
        AREA,
        where={"out_height": windows("height", "_0"), "out_width": windows("width", "_1")},
        weights=f"({SQUARE} * {PAIR} + {{out_channels}}) * {{w_dtype_bytes}}",
        pointwise_ops="{batch_size} * {out_height} * {out_width} * {out_channels}",
    ),
    Case(
        "torch.nn.Conv3d",
        f"2 * {{batch_size}} * {{out_depth}} * {{out_height}} * {{out_width}} * {SQUARE} * {{kernel_size_2}} "
        f"* {PAIR}",
        "windows along three dimensions",
        with_axes(3),
        tensor("batch_size", "in_channels", "depth", "height", "width"),
        (VOLUME[0], VOLUME[1]),
        where={
            "out_depth": windows("depth", "_0"),
            "out_height": windows("height", "_1"),
            "out_width": windows("width", "_2"),
        },
        weights=f"({SQUARE} * {{kernel_size_2}} * {PAIR} + {{out_channels}}) * {{w_dtype_bytes}}",
        pointwise_ops="{batch_size} * {out_depth} * {out_height} * {out_width} * {out_channels}",
    ),
    Case(
        "torch.nn.ConvTranspose1d",
        f"2 * {{batch_size}} * {{length}} * {{kernel_size}} * {PAIR}",
        "the adjoint: each element of the input reaches every position of the kernel",
        with_one_axis,
        tensor("batch_size", "in_channels", "length"),
        LINE,
        where={"out_length": reach_of_kernels("length")},
        weights=f"({{kernel_size}} * {PAIR} + {{out_channels}}) * {{w_dtype_bytes}}",
        pointwise_ops="{batch_size} * {out_length} * {out_channels}",
    ),
    Case(
        "torch.nn.ConvTranspose2d",
        f"2 * {{batch_size}} * {{height}} * {{width}} * {SQUARE} * {PAIR}",
        "the adjoint in two dimensions",
        with_axes(2),
        tensor("batch_size", "in_channels", "height", "width"),
        AREA,
        where={"out_height": reach_of_kernels("height", "_0"), "out_width": reach_of_kernels("width", "_1")},
        weights=f"({SQUARE} * {PAIR} + {{out_channels}}) * {{w_dtype_bytes}}",
        pointwise_ops="{batch_size} * {out_height} * {out_width} * {out_channels}",
    ),
)
