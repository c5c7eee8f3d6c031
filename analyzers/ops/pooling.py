"""Pooling: one operation for every position of the window at every output element."""

from __future__ import annotations

from forwardbook.analyzers.ops.operation import Operation, Size, Work, product
from forwardbook.analyzers.ops.registry import aten, rule


def window(op: Operation, dimensions: int) -> Size:
    """Positions of the window; one size given for all dimensions counts in each."""
    sizes = op.sizes("kernel_size")
    return product(*(sizes * dimensions if len(sizes) == 1 else sizes))


def spatial(name: str) -> int:
    """The number of spatial dimensions, which the name of a pooling operation states as 1d, 2d or 3d."""
    return next(
        int(mark) for mark, letter in zip(name, name[1:], strict=False) if mark in "123" and letter == "d"
    )


@rule(
    *aten(
        "avg_pool1d avg_pool2d avg_pool3d max_pool1d max_pool2d max_pool3d max_pool1d_with_indices "
        "max_pool2d_with_indices max_pool3d_with_indices mkldnn_max_pool2d mkldnn_max_pool3d "
        "quantized_max_pool1d quantized_max_pool2d quantized_max_pool3d fractional_max_pool2d "
        "fractional_max_pool3d"
    ),
    reason="window * outputs: each output element adds or compares every position of its window "
    "(padding counts; the one division of an average is left out)",
)
def pool(op: Operation) -> Work:
    return Work(pointwise_ops=window(op, spatial(op.name)) * op.output.numel)


@rule(
    *aten(
        "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d _adaptive_avg_pool2d "
        "_adaptive_avg_pool3d mkldnn_adaptive_avg_pool2d adaptive_max_pool1d adaptive_max_pool2d "
        "adaptive_max_pool3d"
    ),
    reason="1 per input element: the windows tile the input; where sizes do not divide, the shared "
    "borders count once",
)
def adaptive_pool(op: Operation) -> Work:
    return Work(pointwise_ops=op.inputs[0].numel)


@rule(
    *aten("max_unpool2d max_unpool3d"),
    reason="movement, 0 pointwise: input and indices are read once, the output, mostly zeros, is "
    "written once",
)
def unpool(op: Operation) -> Work:
    return Work()
