"""Quantized numbers: rounding to a grid and back, counted per element."""

from __future__ import annotations

from forwardbook.analyzers.ops.operation import Operation, Work
from forwardbook.analyzers.ops.registry import aten, rule


@rule(
    *aten("quantize_per_tensor quantize_per_channel quantize_per_tensor_dynamic"),
    "quantized_decomposed.quantize_per_tensor",
    "quantized_decomposed.quantize_per_channel",
    reason="4 per element: divide by the scale, round, add the zero point, clamp",
)
def quantize(op: Operation) -> Work:
    return Work(pointwise_ops=4 * op.output.numel)


@rule(
    "aten.dequantize",
    "quantized_decomposed.dequantize_per_tensor",
    "quantized_decomposed.dequantize_per_channel",
    reason="2 per element: subtract the zero point, multiply by the scale",
)
def dequantize(op: Operation) -> Work:
    return Work(pointwise_ops=2 * op.output.numel)


@rule(
    *aten("fake_quantize_per_tensor_affine_cachemask fake_quantize_per_channel_affine_cachemask"),
    *aten("_fake_quantize_per_tensor_affine_cachemask_tensor_qparams"),
    *aten("_fake_quantize_learnable_per_tensor_affine _fake_quantize_learnable_per_channel_affine"),
    reason="6 per element: to the grid (divide, round, add, clamp) and back (subtract, multiply)",
)
def fake_quantize(op: Operation) -> Work:
    return Work(pointwise_ops=6 * op.output.numel)


@rule(
    "aten._choose_qparams_per_tensor",
    reason="2 per element: a comparison for the minimum and the maximum",
)
def choose_grid(op: Operation) -> Work:
    return Work(pointwise_ops=2 * op.inputs[0].numel, writes=0)
