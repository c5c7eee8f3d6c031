"""Convolutions: a multiply-accumulate per output element, kernel position and input channel of its group."""

from __future__ import annotations

from forwardbook.analyzers.ops.matmul import MAC
from forwardbook.analyzers.ops.operation import Operand, Operation, Size, Work, product
from forwardbook.analyzers.ops.registry import aten, rule


def per_position(weight: Operand) -> Size:
    """The products at one position: a weight's sizes after the first, a group's channels and the kernel."""
    return product(*weight.shape[1:])


def bias_adds(op: Operation) -> Size:
    """One addition per output element where there is a bias."""
    return op.output.numel if op.optional("bias") is not None else 0


def gathered(op: Operation) -> Work:
    """Every output element sums over the kernel and the input channels of its group."""
    return Work(flops=MAC * op.output.numel * per_position(op.inputs[1]), pointwise_ops=bias_adds(op))


def scattered(op: Operation) -> Work:
    """Every input element is multiplied into each kernel position and output channel of its group."""
    return Work(flops=MAC * op.inputs[0].numel * per_position(op.inputs[1]), pointwise_ops=bias_adds(op))


@rule(
    *aten("convolution _convolution convolution_overrideable"),
    reason="2 * outputs * in_channels / groups * kernel: the weight's dimensions after the first are "
    "exactly in_channels / groups and the kernel, so stride, padding, dilation and depthwise "
    "need no case of their own (products with padding zeros count); transposed: 2 * inputs * "
    "out_channels / groups * kernel; 1 pointwise per output element adds the bias",
)
def convolution(op: Operation) -> Work:
    return scattered(op) if op.flag("transposed") else gathered(op)


@rule(
    *aten(
        "conv1d conv2d conv3d mkldnn_convolution cudnn_convolution miopen_convolution "
        "miopen_depthwise_convolution _mps_convolution _slow_conv2d_forward slow_conv3d_forward "
        "slow_conv3d thnn_conv2d slow_conv_dilated2d slow_conv_dilated3d _conv_depthwise2d "
        "conv_depthwise3d _nnpack_spatial_convolution"
    ),
    "mkldnn._convolution_pointwise",
    reason="2 * outputs * in_channels / groups * kernel, read off the weight's shape; 1 pointwise "
    "per output element adds the bias",
)
def forward_convolution(op: Operation) -> Work:
    return gathered(op)


@rule(
    *aten(
        "conv_transpose1d conv_transpose2d conv_transpose3d cudnn_convolution_transpose "
        "miopen_convolution_transpose _mps_convolution_transpose slow_conv_transpose2d "
        "slow_conv_transpose3d"
    ),
    reason="2 * inputs * out_channels / groups * kernel: each input element reaches every kernel "
    "position; positions cropped by the padding count; 1 pointwise per output element adds "
    "the bias",
)
def transposed_convolution(op: Operation) -> Work:
    return scattered(op)


@rule(
    *aten("cudnn_convolution_relu miopen_convolution_relu"),
    reason="as convolution, and 1 pointwise per output element for the relu",
)
def convolution_relu(op: Operation) -> Work:
    work = gathered(op)
    return Work(flops=work.flops, pointwise_ops=work.pointwise_ops + op.output.numel)


@rule(
    "aten.conv_tbc",
    reason="2 * outputs * in_channels * kernel: the weight is (kernel, in, out); 1 pointwise per "
    "output element adds the bias",
)
def convolution_time_first(op: Operation) -> Work:
    weight = op.inputs[1]
    return Work(
        flops=MAC * op.output.numel * product(*weight.shape[:2]),
        pointwise_ops=op.output.numel,
    )
